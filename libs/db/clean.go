package db

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	// tombstoneAgain is when a tombstone is sent for the second time: once brokers may compact the first.
	tombstoneAgain = 8 * 24 * time.Hour
	// cleanSlice is how many tombstones one transaction sends.
	cleanSlice = 500
)

// Clean removes rows of the mechanism that have no use any more: stored answers after a day, the ids of handled events and
// of erased people after thirty (longer than a topic can repeat a message), rate limits that are empty again. It sends
// the second tombstones that are due.
func (d *DB) Clean(ctx context.Context) error {
	if err := d.Do(ctx, func(tx *Tx) error {
		for _, q := range []string{
			`delete from idempotency where created_at < now() - interval '24 hours'`,
			`delete from inbox where handled_at < now() - interval '30 days'`,
			`delete from forgotten_person where at < now() - interval '30 days'`,
			`delete from rate where full_at < now()`,
		} {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for {
		n := 0
		if err := d.Do(ctx, func(tx *Tx) (err error) {
			n, err = tx.endAgain(ctx)
			return err
		}); err != nil {
			return fmt.Errorf("send tombstones again: %w", err)
		}
		if n < cleanSlice {
			return nil
		}
	}
}

// endAgain sends a slice of the second tombstones that are due, and answers how many.
func (tx *Tx) endAgain(ctx context.Context) (n int, err error) {
	rows, err := tx.Query(ctx, `delete from ended where (topic, key) in (select topic, key from ended where at < $1 limit $2) returning topic, key`,
		tx.Now.Add(-tombstoneAgain), cleanSlice)
	if err != nil {
		return 0, err
	}
	var topic string
	var key uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&topic, &key}, func() error {
		n++
		tx.waiting = append(tx.waiting, Message{Topic: topic, Key: key.String()})
		return nil
	})
	return n, err
}
