package overview

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/task"
)

// news counts what others made and the caller may see.
type news struct {
	Requests     int64      `json:"requests" doc:"Requests that still wait."`
	Submissions  int64      `json:"submissions" doc:"Submissions received, without spam."`
	Appointments int64      `json:"appointments" doc:"Appointments that were booked without a request."`
	Tasks        int64      `json:"tasks" doc:"Open tasks that somebody else gave to the caller."`
	SeenAt       *time.Time `json:"seen_at" nullable:"true" doc:"When the caller last looked; null before the first time."`
}

// freshFor is how far news goes back at most.
const freshFor = 30 * 24 * time.Hour

// getNews counts since a time, else since the caller last looked. What is about an app that is off is 0.
func (r *Room) getNews(ctx context.Context, tx *db.Tx, in struct {
	Since time.Time `json:"since,omitzero" doc:"Count from then on, else from when the caller last looked; at most 30 days back."`
}) (news, error) {
	var n news
	err := tx.QueryRow(ctx, `select seen_at from news_seen where user_id = $1`, tx.Who.UserID).Scan(&n.SeenAt)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
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
	SeenAt time.Time `json:"seen_at" doc:"When the caller looked: now."`
}

// seeNews notes that the caller has looked at what is new. The caller saw nothing of a transaction that still writes appointments or submissions, and what
// that stores has arrived after it began: the look counts from the oldest of them.
func (r *Room) seeNews(ctx context.Context, tx *db.Tx, _ op.None) (seen, error) {
	var at time.Time
	err := tx.QueryRow(ctx, `insert into news_seen (user_id, seen_at)
		select $1, least(now(), min(a.xact_start)) from pg_locks l join pg_stat_activity a on a.pid = l.pid
			where l.mode = 'RowExclusiveLock' and l.relation in ('appointment'::regclass, 'submission'::regclass)
				and l.database = (select oid from pg_database where datname = current_database())
		on conflict (user_id) do update set seen_at = excluded.seen_at returning seen_at`, tx.Who.UserID).Scan(&at)
	return seen{at.UTC().Truncate(time.Second)}, err
}
