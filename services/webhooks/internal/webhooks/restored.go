package webhooks

import (
	"context"
	"fmt"

	"frontdesk/libs/db"
)

// restored ends the deliveries that wait in a backup, because they may have been sent since. Somebody may send each again. Events
// from now on stand behind every cursor that was given before: no transaction is counted up each nanosecond.
func (s *service) restored(ctx context.Context) ([]string, error) {
	total := 0
	for n := tidyBatch; n == tidyBatch; {
		if err := s.DB.Do(ctx, func(tx *db.Tx) (err error) {
			n, err = endWaiting(ctx, tx)
			return err
		}); err != nil {
			return nil, fmt.Errorf("end the deliveries that wait: %w", err)
		}
		total += n
	}
	for _, q := range []string{`update feed set offset_by = greatest(offset_by, (extract(epoch from clock_timestamp()) * 1e9)::bigint)`, `delete from lease`, `delete from river_job where state in ('available', 'pending', 'retryable', 'running', 'scheduled')`} {
		if _, err := s.DB.Pool.Exec(ctx, q); err != nil {
			return nil, fmt.Errorf("prepare events and the timers of deliveries: %w", err)
		}
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
