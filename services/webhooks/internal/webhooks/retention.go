package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

const (
	tidyEvery  = time.Minute
	tallyEvery = 5 * time.Second
	// tidyBatch is how many deliveries one transaction takes away.
	tidyBatch = 5000
)

// keepDays is how long the log is kept, as the privacy settings say.
func (s *service) keepDays() int {
	privacy := struct {
		Retention struct {
			WebhookLog int `json:"webhook_log"`
		} `json:"retention"`
	}{}
	s.Site.Read("privacy", &privacy)
	if privacy.Retention.WebhookLog < 1 {
		return 30
	}
	return privacy.Retention.WebhookLog
}

// expire takes away what is older than the log is kept, and what deleted webhooks left.
func (s *service) expire(ctx context.Context) error {
	old := s.DB.Now().UTC().AddDate(0, 0, -s.keepDays())
	if err := s.forgetAll(ctx, `created_at < $1`, old); err != nil {
		return err
	}
	if _, err := s.DB.Pool.Exec(ctx, `delete from message where created_at < $1`, old); err != nil {
		return err
	}
	// Of deliveries that are gone.
	if _, err := s.DB.Pool.Exec(ctx, `delete from lease where until < now() - interval '1 hour'`); err != nil {
		return err
	}
	rows, err := s.DB.Pool.Query(ctx, `select webhook from removed`)
	if err != nil {
		return err
	}
	removed, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(removed) == 0 {
		return err
	}
	for _, id := range removed {
		if err := s.forgetAll(ctx, `webhook = $1`, id); err != nil {
			return err
		}
	}
	// For a while, events that were taken in at the very moment may still add to its log.
	tag, err := s.DB.Pool.Exec(ctx, `delete from removed where removed_at < now() - interval '5 minutes'`)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	_, err = s.DB.Pool.Exec(ctx, `delete from message m where not exists (select from delivery d where d.message = m.id)`)
	return err
}

func (s *service) forgetAll(ctx context.Context, where string, arg any) error {
	for {
		var n int64
		err := s.DB.Do(ctx, func(tx *db.Tx) (err error) {
			n, err = forget(ctx, tx, where, arg)
			return err
		})
		if err != nil || n < tidyBatch {
			return err
		}
	}
}

// forget deletes up to tidyBatch deliveries with their attempts, and says how many.
func forget(ctx context.Context, tx *db.Tx, where string, arg any) (n int64, err error) {
	err = tx.QueryRow(ctx, `
		with old as (
			select id from delivery where `+where+` order by id limit $2 for update
		), gone as (
			delete from delivery d using old where d.id = old.id returning d.id, d.webhook, d.message, d.status
		), log as (
			delete from attempt a using gone where a.message = gone.message and a.delivery = gone.id
		), counted as (
			insert into tally select webhook, status, -count(*) from gone group by webhook, status
		)
		select count(*) from gone`, arg, tidyBatch).Scan(&n)
	return n, err
}

// addUp makes one line per webhook and status of the changes to the sizes of the logs.
func (s *service) addUp(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		var grown bool
		err := tx.QueryRow(ctx, `select count(*) > count(distinct (webhook, status)) from tally`).Scan(&grown)
		if err != nil || !grown {
			return err
		}
		_, err = tx.Exec(ctx, `
			with lines as (delete from tally returning *)
			insert into tally select webhook, status, sum(n) from lines
			where exists (select from webhook w where w.id = lines.webhook) group by webhook, status having sum(n) <> 0`)
		return err
	})
}
