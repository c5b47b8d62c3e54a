package overview

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/task"
)

// news counts what others made and the caller may see.
type news struct {
	Requests     int64      `json:"requests" doc:"Requests that still wait."`
	Submissions  int64      `json:"submissions" doc:"Submissions received, without spam."`
	Appointments int64      `json:"appointments" doc:"Appointments that were booked without a request."`
	Tasks        int64      `json:"tasks" doc:"Open tasks that somebody else gave to the caller."`
	SeenAt       *time.Time `json:"seen_at" nullable:"true" doc:"When the caller last looked; null before the first time."`
	Mark         int64      `json:"mark" doc:"How far these counts reach: see-news takes it, so that what arrives later stays new."`
}

// freshFor is how far news goes back at most.
const freshFor = 30 * 24 * time.Hour

// getNews counts since a time, else since the caller last looked. What is about an app that is off is 0.
func (r *Room) getNews(ctx context.Context, tx *db.Tx, in struct {
	Since time.Time `json:"since,omitzero" doc:"Count from then on, else from when the caller last looked; at most 30 days back."`
}) (news, error) {
	var n news
	// Before it is counted: what arrives in between is counted twice, not never.
	err := tx.QueryRow(ctx, `select (select seen_at from news_seen where user_id = $1), (extract(epoch from `+reached+`) * 1000000)::bigint`, tx.Who.UserID).Scan(&n.SeenAt, &n.Mark)
	if err != nil {
		return n, err
	}
	since := tx.Now.Add(-freshFor)
	last := n.SeenAt
	if from := in.Since; !from.IsZero() {
		since = latest(since, from)
	} else if last != nil {
		since = latest(since, *last)
	}
	if last != nil {
		shown := last.UTC().Truncate(time.Second)
		n.SeenAt = &shown
	}
	if r.Apps.On("booking") {
		err := tx.QueryRow(ctx, `select count(*) filter (where requested and status = 'pending'), count(*) filter (where not requested) from appointment
			where arrived_at > $1 and made_by is distinct from $2 and ($3::bigint = 0 or staff_id = $3)`, since, tx.Who.UserID, tx.Who.OwnUser()).Scan(&n.Requests, &n.Appointments)
		if err != nil {
			return n, err
		}
	}
	if r.Apps.On("forms") {
		err := tx.QueryRow(ctx, `select count(*) from submission s where s.status = 'received' and s.arrived_at > $1
			and ($2::bigint = 0 or s.contact_id in (select c.id from contact c where c.owner_user_id = $2 and c.deleted_at is null))`, since, tx.Who.OwnUser()).Scan(&n.Submissions)
		if err != nil {
			return n, err
		}
	}
	n.Tasks, err = task.Assigned(ctx, tx, since)
	return n, err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// seen is when the caller looked.
type seen struct {
	SeenAt time.Time `json:"seen_at" doc:"When the caller looked last."`
}

// reached is up to when a look sees all. It sees nothing of a transaction that still writes what is counted, and what that stores has arrived after it
// began: so it reaches to the begin of the oldest of them.
const reached = `least(now(), (select min(a.xact_start) from pg_locks l join pg_stat_activity a on a.pid = l.pid
	where l.mode = 'RowExclusiveLock' and l.relation in ('appointment'::regclass, 'submission'::regclass, 'task'::regclass)
		and l.database = (select oid from pg_database where datname = current_database())))`

// seeNews notes that the caller has looked at what is new: at what was counted up to a mark, else at all. It never takes back a later look.
func (r *Room) seeNews(ctx context.Context, tx *db.Tx, in struct {
	Mark int64 `json:"mark,omitempty" minimum:"0" maximum:"9007199254740991" doc:"mark of the counts that the caller has seen; all up to now when left out."`
}) (seen, error) {
	var at time.Time
	err := tx.QueryRow(ctx, `insert into news_seen as s (user_id, seen_at) values ($1, least(`+reached+`, 'epoch'::timestamptz + nullif($2::bigint, 0) * interval '1 microsecond'))
		on conflict (user_id) do update set seen_at = greatest(s.seen_at, excluded.seen_at) returning seen_at`, tx.Who.UserID, in.Mark).Scan(&at)
	return seen{at.UTC().Truncate(time.Second)}, err
}
