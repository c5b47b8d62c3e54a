package db

import "context"

// Clean removes what the mechanism no longer needs: idempotency keys after a day, handled events after
// thirty (longer than any topic can repeat one), buckets that are empty again.
func (d *DB) Clean(ctx context.Context) error {
	return d.Do(ctx, func(tx *Tx) error {
		for _, q := range []string{
			`delete from idempotency where created_at < now() - interval '24 hours'`,
			`delete from inbox where handled_at < now() - interval '30 days'`,
			`delete from rate where full_at < now()`,
		} {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
}
