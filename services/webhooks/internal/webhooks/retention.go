package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

const (
	tidyEvery  = time.Minute
	tallyEvery = 5 * time.Second
	// tidyBatch is how many deliveries one transaction deletes.
	tidyBatch = 5000
)

// keepDays is how many days the log is kept: privacy setting retention.webhook_log, 30 if that is not set.
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

// expire deletes the log and the events that are older than they are kept, old secrets and test receivers that have ended, and the log of deleted webhooks.
func (s *service) expire(ctx context.Context) error {
	if err := s.closeOldReceivers(ctx); err != nil {
		return err
	}
	old := s.DB.Now().UTC().AddDate(0, 0, -s.keepDays())
	var aged db.Where
	aged.And("created_at < ?", old)
	if err := s.deleteAllDeliveries(ctx, aged); err != nil {
		return fmt.Errorf("delete old deliveries: %w", err)
	}
	if _, err := s.DB.Pool.Exec(ctx, `with old as (delete from message where created_at < $1 returning tx)
		update feed set gone = greatest(gone, (select max(tx) from old)) where exists (select from old)`, old); err != nil {
		return fmt.Errorf("delete old messages: %w", err)
	}
	// A lease this old belongs to a delivery that was deleted.
	if _, err := s.DB.Pool.Exec(ctx, `delete from lease where until < now() - interval '1 hour'`); err != nil {
		return fmt.Errorf("delete old leases: %w", err)
	}
	if _, err := s.DB.Pool.Exec(ctx, `update webhook set old_secret = null, old_secret_until = null where old_secret_until <= $1`, s.DB.Now().UTC()); err != nil {
		return fmt.Errorf("delete secrets that have ended: %w", err)
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
		var of db.Where
		of.And("webhook = ?", id)
		if err := s.deleteAllDeliveries(ctx, of); err != nil {
			return fmt.Errorf("delete the log of a deleted webhook: %w", err)
		}
	}
	// A transaction that consumed an event while the webhook was deleted may still add to its log: it is cleared for a while.
	_, err = s.DB.Pool.Exec(ctx, `delete from removed where removed_at < now() - interval '5 minutes'`)
	return err
}

func (s *service) deleteAllDeliveries(ctx context.Context, where db.Where) error {
	return s.DB.Slices(ctx, tidyBatch, func(tx *db.Tx) (int, error) { return deleteDeliveries(ctx, tx, where) })
}

// deleteDeliveries deletes up to tidyBatch deliveries with their attempts and returns how many.
func deleteDeliveries(ctx context.Context, tx *db.Tx, where db.Where) (n int, err error) {
	err = tx.QueryRow(ctx, `
		with old as (
			select id from delivery where `+where.String()+db.LimitTo(` order by id`, tidyBatch)+` for update
		), gone as (
			delete from delivery d using old where d.id = old.id returning d.id, d.webhook, d.message, d.status
		), log as (
			delete from attempt a using gone where a.message = gone.message and a.delivery = gone.id
		), counted as (
			insert into tally select webhook, status, -count(*) from gone group by webhook, status
		)
		select count(*) from gone`, where.Args...).Scan(&n)
	return n, err
}

// addUp replaces the changes in tally by one row per webhook and status.
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
