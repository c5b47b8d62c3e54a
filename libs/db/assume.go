package db

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"frontdesk/libs/fault"
)

// Assumption names a condition that a transaction expects to hold and does not read first: an address is new, a cached form
// is still the published one. It saves the round trip of reading.
type Assumption string

// WrongAssumption is the error of a transaction whose assumption does not hold. Do runs the work again on it, so
// callers see it only when the work assumes without asking Trusts.
type WrongAssumption struct{ Assumption Assumption }

func (w *WrongAssumption) Error() string {
	return "db: the assumption does not hold: " + string(w.Assumption)
}

// Unwrap makes the error svc_unavailable for callers, as other errors that may pass.
func (w *WrongAssumption) Unwrap() error {
	return &pgconn.PgError{Code: fault.WrongAssumption, Message: string(w.Assumption)}
}

// Assume lets the work go on as if condition, a boolean SQL expression over args ($1, $2, …), were true. The condition
// is checked in the round trip of the commit, behind all that was deferred. An error of the work is believed only when
// the condition holds, or when the error came from a statement, after which the transaction takes no other. If the
// condition does not hold, everything is rolled back and Do runs the work again, with Trusts(name) false.
func (tx *Tx) Assume(name Assumption, condition string, args ...any) {
	tx.assumed = append(tx.assumed, assumed{name, condition, args})
}

// Trusts reports whether the work may assume name: true until an earlier run of the same work found it wrong.
func (tx *Tx) Trusts(name Assumption) bool { return !slices.Contains(tx.disproved, name) }

type assumed struct {
	name      Assumption
	condition string
	args      []any
}

// queue adds the check to the batch of a commit, which fails with fault.WrongAssumption when the condition is false.
func (a assumed) queue(b *pgx.Batch) {
	name := "$" + itoa(len(a.args)+1)
	b.Queue(`select assume(`+name+`, (`+a.condition+`))`, append(slices.Clone(a.args), string(a.name))...)
}

// verify gives the first assumption that does not hold, or nil.
func (tx *Tx) verify(ctx context.Context) error {
	var wrong *WrongAssumption
	b := &pgx.Batch{}
	for _, a := range tx.assumed {
		b.Queue(`select (`+a.condition+`)`, a.args...).QueryRow(func(row pgx.Row) error {
			var holds *bool
			if err := row.Scan(&holds); err != nil {
				return err
			}
			if wrong == nil && (holds == nil || !*holds) {
				wrong = &WrongAssumption{a.name}
			}
			return nil
		})
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

// disproved is the assumption that err names, or empty.
func disproved(err error) Assumption {
	if w, ok := errors.AsType[*WrongAssumption](err); ok {
		return w.Assumption
	}
	return ""
}

// asWrongAssumption turns the commit's failed check into its typed error.
func asWrongAssumption(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == fault.WrongAssumption {
		return &WrongAssumption{Assumption(pg.Message)}
	}
	return err
}
