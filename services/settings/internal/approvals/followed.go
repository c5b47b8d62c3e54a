package approvals

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// channel is where replicas tell each other that a call waits, or has ended.
const channel = "settings_approvals"

// tellReplicas has every replica call those that watch, once the transaction is there.
func tellReplicas(ctx context.Context, tx *db.Tx) error { return tx.Notify(ctx, channel, "") }

// Watch calls f after each approval that was asked for or has ended, at whichever replica. It is called before the room runs.
func (r *Room) Watch(f func()) { r.watching = append(r.watching, f) }

// hear calls those that watch, until ctx ends. What it misses while the connection is lost it makes up for with the next one.
func (r *Room) hear(ctx context.Context) {
	all := func() {
		for _, f := range r.watching {
			f()
		}
	}
	r.DB.Listen(ctx, channel, func(context.Context) error { all(); return nil }, func(context.Context, string) error { all(); return nil })
}

// mostSessions is how many sessions of assistants may follow an approval. The newest do.
const mostSessions = 8

// Follow notes that a session of an assistant wants to hear of the end of an approval, or no longer; an empty session notes nothing. 404 for an approval
// that the actor does not see.
func (r *Room) Follow(ctx context.Context, who db.Actor, session string, id uuid.UUID, follows bool) error {
	return r.awaited(ctx, id, func() error {
		return r.DB.Do(db.WithActor(ctx, who), func(tx *db.Tx) error {
			if _, err := byID(ctx, tx, id, ` for update`); err != nil || session == "" {
				return err
			}
			_, err := tx.Exec(ctx, `update approval set sessions = case when $3::boolean then (array_prepend($2::text, array_remove(sessions, $2)))[:$4] else array_remove(sessions, $2) end
				where id = $1`, id, session, follows, mostSessions)
			if err != nil {
				return fmt.Errorf("follow approval %s: %w", id, err)
			}
			return nil
		})
	})
}

// Ended takes the approvals that a session follows and that have ended: each is given once. Beside them it gives those of among that have ended. All are of
// the actor's credential.
func (r *Room) Ended(ctx context.Context, who db.Actor, session string, among []uuid.UUID) (ended []uuid.UUID, err error) {
	err = r.DB.Do(db.WithActor(ctx, who), func(tx *db.Tx) error {
		w := seen(who)
		w.And("a.state <> 'waiting'")
		w.And("(? = any(a.sessions) or a.id = any(?))", session, among)
		rows, err := tx.Query(ctx, `select a.id from approval a where `+w.String()+` order by a.id for update`, w.Args...)
		if err == nil {
			ended, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		}
		if err != nil {
			return fmt.Errorf("approvals that have ended: %w", err)
		}
		if session == "" || len(ended) == 0 {
			return nil
		}
		_, err = tx.Exec(ctx, `update approval set sessions = array_remove(sessions, $2) where id = any($1)`, ended, session)
		return err
	})
	return ended, err
}

// counts are what a person is shown beside the place of approvals, and in their news.
type counts struct {
	Waiting int `json:"waiting" doc:"Calls that wait for a person, on which the caller may decide."`
	Asked   int `json:"asked" doc:"Those of them that were asked for since."`
	Decided int `json:"decided" doc:"Calls in the caller's name that have ended since, without those on which the caller decided."`
}

// count counts what concerns a person.
func (r *Room) count(ctx context.Context, tx *db.Tx, in struct {
	Since time.Time `json:"since,omitzero" doc:"Count what is new from then on, at most 30 days back."`
}) (out counts, err error) {
	since := tx.Now.Add(-kept)
	if in.Since.After(since) {
		since = in.Since
	}
	type open struct {
		Permission string
		Kind       string
		PersonID   int64
		CreatedAt  time.Time
	}
	w := seen(tx.Who)
	w.And("a.state = 'waiting' and a.ends_at > ?", tx.Now)
	all, err := db.Rows[open](ctx, tx, `select a.permission, a.kind, a.person_id, a.created_at from approval a where `+w.String(), w.Args...)
	if err != nil {
		return out, fmt.Errorf("count approvals: %w", err)
	}
	for _, o := range all {
		if err := r.mayApprove(tx.Who, approval{Permission: o.Permission, Kind: o.Kind, PersonID: o.PersonID}); err != nil {
			continue
		}
		out.Waiting++
		if !o.CreatedAt.Before(since) {
			out.Asked++
		}
	}
	err = tx.QueryRow(ctx, `select count(*) from approval where person_id = $1 and state <> 'waiting' and decided_at >= $2 and decided_by is distinct from $1`, tx.Who.UserID, since).Scan(&out.Decided)
	return out, err
}
