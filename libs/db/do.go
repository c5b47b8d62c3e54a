package db

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const attempts = 4

// waiting is the error of a unit of work that runs again after a wait.
type waiting struct{ wait func(context.Context) error }

func (*waiting) Error() string { return "db: the unit of work runs again after a wait" }

// RunAgainAfter is the error by which a unit of work waits for something else in this process, such as a copy that catches
// up. The transaction is rolled back and its connection given back. Then wait is called: when it returns nil the unit runs
// again from its beginning, and an error of wait is the unit's.
//
// The reason: those who wait with a connection in hand leave none for the work that they wait for.
func RunAgainAfter(wait func(context.Context) error) error { return &waiting{wait} }

// Do runs f in one transaction and commits when f returns nil. A deadlock, a serialization failure, a wrong assumption or
// RunAgainAfter runs f again, so f must have no effect beside the transaction.
func (d *DB) Do(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, unit{}, f)
}

// Slices runs f in transactions of their own until one of them does less than a full slice of the work. f returns how much it
// has done.
func (d *DB) Slices(ctx context.Context, full int, f func(*Tx) (int, error)) error {
	for {
		n := 0
		err := d.Do(ctx, func(tx *Tx) (err error) {
			n, err = f(tx)
			return err
		})
		if err != nil || n < full {
			return err
		}
	}
}

// ExecSlices runs a statement again and again, until it changes fewer rows than full, to which the statement itself limits its rows. Each run is a transaction of
// its own, so none lasts long, however many rows there are.
func (d *DB) ExecSlices(ctx context.Context, full int, sql string, args ...any) error {
	for {
		tag, err := d.Pool.Exec(ctx, sql, args...)
		if err != nil || tag.RowsAffected() < int64(full) {
			return err
		}
	}
}

// Read runs f in one read-only transaction that sees a single state of the data.
func (d *DB) Read(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, unit{TxOptions: pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}}, f)
}

func (d *DB) run(ctx context.Context, how unit, f func(*Tx) error) error {
	var wrong []Assumption
	began := time.Now()
	for collisions := 0; ; {
		err := d.attempt(ctx, how, began, wrong, f)
		if w, ok := errors.AsType[*waiting](err); ok {
			if err := w.wait(ctx); err != nil {
				return err
			}
			continue
		}
		if name := disproved(err); name != "" && !slices.Contains(wrong, name) {
			// The transaction asked for this retry itself, so no back-off is needed.
			wrong = append(wrong, name)
			continue
		}
		if collisions++; collisions == attempts || !collided(err) {
			return err
		}
		slog.DebugContext(ctx, "transaction runs again", "collisions", collisions, "cause", err)
		time.Sleep(time.Duration(rand.IntN(10*collisions)+1) * time.Millisecond)
	}
}

func (d *DB) attempt(ctx context.Context, how unit, began time.Time, wrong []Assumption, f func(*Tx) error) error {
	conn, release, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	l := &lazyTx{conn: conn.Conn(), opts: how.TxOptions}
	// After a commit there is nothing left to roll back.
	defer func() { _ = l.Rollback(ctx) }()
	expects, _ := ctx.Value(expectedKey{}).(expected)
	tx := &Tx{Tx: l, Who: ActorFrom(ctx), Now: d.Now().UTC().Truncate(time.Second), Began: began, disproved: wrong, secret: d.Secret, expects: expects,
		hash: d.Hash, appOff: d.AppOff != nil && d.AppOff()}
	if err := f(tx); err != nil {
		if len(tx.assumed) > 0 && disproved(err) == "" && l.usable() {
			// An error that follows from a wrong assumption is not the caller's answer.
			if e := verify(ctx, tx, tx.assumed); disproved(e) != "" {
				return e
			}
		}
		return err
	}
	end := tx.commit
	if how.rehearsal {
		end = tx.tryCommit
	}
	if err := end(ctx); err != nil {
		if err = asWrongAssumption(err); tx.Explain != nil && disproved(err) == "" {
			err = tx.Explain(err)
		}
		return err
	}
	if how.rehearsal {
		return nil
	}
	if len(tx.waiting) > 0 {
		d.Wake()
	}
	for _, f := range tx.committed {
		f()
	}
	return nil
}

const (
	serializationFailure = "40001"
	deadlock             = "40P01"
)

// collided reports whether err is a conflict with other transactions, which a retry may not meet.
func collided(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == serializationFailure || pg.Code == deadlock)
}
