package db

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"frontdesk/libs/fault"
)

// Assumption names a condition that a transaction expects to hold and does not read first: an address is new, a cached form
// is still the published one. It saves the round trip of reading.
type Assumption string

// wrongAssumption is the error of a transaction whose assumption does not hold. Do runs the work again on it, so
// callers see it only when the work assumes without asking Trusts.
type wrongAssumption struct{ Assumption Assumption }

func (w *wrongAssumption) Error() string {
	return "db: the assumption does not hold: " + string(w.Assumption)
}

// Unwrap makes the error svc_unavailable for callers, as other errors that may pass.
func (w *wrongAssumption) Unwrap() error {
	return &pgconn.PgError{Code: fault.WrongAssumption, Message: string(w.Assumption)}
}

type assumed struct {
	name      Assumption
	condition string
	args      []any
}

// queue adds the check to the batch of a commit, which fails with fault.WrongAssumption when the condition is false.
func (a assumed) queue(b *pgx.Batch) {
	name := "$" + strconv.Itoa(len(a.args)+1)
	b.Queue(`select assume(`+name+`, (`+a.condition+`))`, append(slices.Clone(a.args), string(a.name))...)
}

// verify gives the first of all that does not hold in tx, or nil.
func verify(ctx context.Context, tx pgx.Tx, all []assumed) error {
	b := &pgx.Batch{}
	for _, a := range all {
		b.Queue(`select (`+a.condition+`)`, a.args...).QueryRow(func(row pgx.Row) error {
			var holds *bool
			if err := row.Scan(&holds); err != nil || holds != nil && *holds {
				return err
			}
			return &wrongAssumption{a.name}
		})
	}
	return tx.SendBatch(ctx, b).Close()
}

// disproved is the assumption that err names, or empty.
func disproved(err error) Assumption {
	if w, ok := errors.AsType[*wrongAssumption](err); ok {
		return w.Assumption
	}
	return ""
}

// asWrongAssumption turns the commit's failed check into its typed error.
func asWrongAssumption(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == fault.WrongAssumption {
		return &wrongAssumption{Assumption(pg.Message)}
	}
	return err
}
