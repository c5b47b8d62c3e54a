package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

const (
	tallyEvery = 5 * time.Second
	// tidyBatch is how many deliveries one transaction deletes.
	tidyBatch = 5000
)

// Drop makes the log of a webhook that is deleted unreachable. The retention job deletes it.
func Drop(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error {
	_, err := tx.Exec(ctx, `insert into removed (webhook) values ($1)`, webhook)
	return err
}

// Expire deletes the log of before old, and that of deleted webhooks.
func (r *Room) Expire(ctx context.Context, old time.Time) error {
	var aged db.Where
	aged.And("created_at < ?", old)
	if err := r.deleteAll(ctx, aged); err != nil {
		return fmt.Errorf("delete old deliveries: %w", err)
	}
	// A lease this old belongs to a delivery that was deleted.
	if _, err := r.DB.Pool.Exec(ctx, `delete from lease where until < now() - interval '1 hour'`); err != nil {
		return fmt.Errorf("delete old leases: %w", err)
	}
	rows, err := r.DB.Pool.Query(ctx, `select webhook from removed`)
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
		if err := r.deleteAll(ctx, of); err != nil {
			return fmt.Errorf("delete the log of a deleted webhook: %w", err)
		}
	}
	// A transaction that consumed an event while the webhook was deleted may still add to its log: it is cleared for a while.
	_, err = r.DB.Pool.Exec(ctx, `delete from removed where removed_at < now() - interval '5 minutes'`)
	return err
}

func (r *Room) deleteAll(ctx context.Context, where db.Where) error {
	return r.DB.Slices(ctx, tidyBatch, func(tx *db.Tx) (int, error) { return deleteSome(ctx, tx, where) })
}

// deleteSome deletes up to tidyBatch deliveries with their attempts and returns how many.
func deleteSome(ctx context.Context, tx *db.Tx, where db.Where) (n int, err error) {
	// A plan for any time or webhook takes a part of the log to be old, or of the webhook, and reads all of it in the order of ids.
	if _, err := tx.Exec(ctx, `set local plan_cache_mode = force_custom_plan`); err != nil {
		return 0, err
	}
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
func (r *Room) addUp(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
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

// Blank removes the answers to events whose bodies were changed, because an answer may repeat what was sent.
func Blank(ctx context.Context, tx *db.Tx, messages []uuid.UUID) error {
	_, err := tx.Exec(ctx, `update attempt set response_body = '' where message = any($1) and response_body <> ''`, messages)
	return err
}

// restored ends the deliveries that wait in a backup, because they may have been sent since. Somebody may send each again.
func (r *Room) restored(ctx context.Context) ([]string, error) {
	total := 0
	for n := tidyBatch; n == tidyBatch; {
		if err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
			n, err = endWaiting(ctx, tx)
			return err
		}); err != nil {
			return nil, fmt.Errorf("end the deliveries that wait: %w", err)
		}
		total += n
	}
	if _, err := r.DB.Pool.Exec(ctx, `delete from lease`); err != nil {
		return nil, fmt.Errorf("end the leases: %w", err)
	}
	if total == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%d deliveries that waited are not sent, because they may have been sent since the backup", total)}, nil
}

// endWaiting lets up to tidyBatch waiting deliveries fail and returns how many.
func endWaiting(ctx context.Context, tx *db.Tx) (n int, err error) {
	err = tx.QueryRow(ctx, `
		with waiting as (
			select id, webhook, status from delivery where status in ('queued', 'retrying') `+db.LimitTo(`order by id`, tidyBatch)+` for update
		), ended as (
			update delivery d set status = 'failed', next_attempt_at = null, error = 'The delivery waited when the backup was made, and may have been sent since.'
			from waiting w where d.id = w.id
		), counted as (
			insert into tally select webhook, status, -count(*) from waiting group by webhook, status
				union all select webhook, 'failed', count(*) from waiting group by webhook
		)
		select count(*) from waiting`).Scan(&n)
	return n, err
}
