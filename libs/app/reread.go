package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// Reread makes the hashes of addresses anew in rows that were read by an earlier erasure.Reading, or not at all. A table of such rows has
// a column read_as. Until a row was read again, whoever forgets a person looks at its texts.
type Reread struct {
	// Rows selects id, texts and people of rows whose read_as is below $1 and whose id is not in $2, in the order of read_as and id. Each
	// of texts is JSON or plain.
	Rows string
	// Store sets people to $2 and read_as to $3 in the row $1.
	Store string
	// Changed is called with the rows that have other hashes now, in the same transaction. It may be nil.
	Changed func(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error
}

// rereadSlice is how many rows one transaction reads.
const rereadSlice = 500

// Job runs each hour under the name people. It logs how many rows are left, and goes past rows that fail.
func (r Reread) Job(d *db.DB) Job {
	aside := NewAside[uuid.UUID]("people")
	return Job{Name: "people", Every: time.Hour, Run: func(ctx context.Context) error {
		var left int
		if err := d.Pool.QueryRow(ctx, `select count(*) from (`+r.Rows+`) r`, erasure.Reading, []uuid.UUID{}).Scan(&left); err != nil {
			return fmt.Errorf("count rows to read anew: %w", err)
		}
		for worked := true; worked && ctx.Err() == nil; {
			if left > 0 {
				slog.InfoContext(ctx, "addresses are read anew", "left", left)
			}
			var ids []uuid.UUID
			err := d.Do(ctx, func(tx *db.Tx) (err error) {
				ids, err = r.slice(ctx, tx, aside.Size(rereadSlice), aside.Keys())
				return err
			})
			if worked, err = aside.Did(ctx, ids, err); err != nil {
				return err
			}
			left -= len(ids)
		}
		return ctx.Err()
	}}
}

// slice reads the next rows, and returns their ids.
func (r Reread) slice(ctx context.Context, tx *db.Tx, size int, aside []uuid.UUID) (ids []uuid.UUID, err error) {
	rows, err := tx.Query(ctx, db.LimitTo(r.Rows, size)+` for update skip locked`, erasure.Reading, aside)
	if err != nil {
		return nil, err
	}
	var changed []uuid.UUID
	var id uuid.UUID
	var texts []string
	var before [][]byte
	store := &pgx.Batch{}
	if _, err := pgx.ForEachRow(rows, []any{&id, &texts, &before}, func() error {
		raw := make([][]byte, len(texts))
		for i, text := range texts {
			raw[i] = []byte(text)
		}
		people := tx.PeopleNamed(raw...)
		store.Queue(r.Store, id, people, erasure.Reading)
		ids = append(ids, id)
		if before == nil || !slices.EqualFunc(before, people, bytes.Equal) {
			changed = append(changed, id)
		}
		return nil
	}); err != nil || len(ids) == 0 {
		return nil, err
	}
	if err := tx.SendBatch(ctx, store).Close(); err != nil {
		return ids, err
	}
	if r.Changed == nil || len(changed) == 0 {
		return ids, nil
	}
	return ids, r.Changed(ctx, tx, changed)
}
