package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Rehearse runs f as Do does, checks all that the commit would check, and rolls everything back: no row, message, notification or
// number stays, and nothing that was left to AfterCommit runs. Its error is the one that Do would have returned.
func (d *DB) Rehearse(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, unit{rehearsal: true}, func(tx *Tx) error {
		// next_number reads it: an id of a sequence would be gone after the rollback.
		if _, err := tx.Exec(ctx, `set local frontdesk.rehearsal = 0`); err != nil {
			return err
		}
		return f(tx)
	})
}

// Emitted are the messages that the transaction sends once it commits, in their order.
func (tx *Tx) Emitted() []Message { return slices.Clone(tx.waiting) }

// unit says how a unit of work runs.
type unit struct {
	pgx.TxOptions
	// rehearsal ends the transaction with a rollback in the place of the commit.
	rehearsal bool
}

// tryCommit does what a commit does before it writes: the deferred statements, the checks of assumptions and of deferred constraints.
func (tx *Tx) tryCommit(ctx context.Context) error {
	b := &tx.deferred
	for _, a := range tx.assumed {
		a.queue(b)
	}
	b.Queue(`set constraints all immediate`)
	return tx.SendBatch(ctx, b).Close()
}
