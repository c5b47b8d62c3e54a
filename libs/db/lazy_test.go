package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
)

// firsts are the ways in which a transaction's first statement can be sent; each adds a rate.
var firsts = map[string]func(context.Context, *db.Tx) error{
	"Exec": func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `insert into rate (key, full_at) values ($1, now())`, "first")
		return err
	},
	"Query": func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.Query(ctx, `insert into rate (key, full_at) values ($1, now()) returning key`, "first")
		if err != nil {
			return err
		}
		_, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
		return err
	},
	"Query, closed unread": func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.Query(ctx, `insert into rate (key, full_at) values ($1, now()) returning key`, "first")
		rows.Close()
		return err
	},
	"QueryRow": func(ctx context.Context, tx *db.Tx) error {
		var key string
		return tx.QueryRow(ctx, `insert into rate (key, full_at) values ($1, now()) returning key`, "first").Scan(&key)
	},
	"SendBatch": func(ctx context.Context, tx *db.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`insert into rate (key, full_at) values ($1, now())`, "first")
		return tx.SendBatch(ctx, b).Close()
	},
	"CopyFrom": func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"rate"}, []string{"key", "full_at"}, pgx.CopyFromRows([][]any{{"first", tx.Now}}))
		return err
	},
	"Begin": func(ctx context.Context, tx *db.Tx) error {
		return pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
			_, err := inner.Exec(ctx, `insert into rate (key, full_at) values ('first', now())`)
			return err
		})
	},
}

func TestATransactionIsWholeWhateverItsFirstStatementIs(t *testing.T) {
	for name, first := range firsts {
		t.Run(name, func(t *testing.T) {
			d, ctx := dbtest.New(t, "desk", nil), t.Context()
			count := func(table string) (n int) {
				require.NoError(t, d.Pool.QueryRow(ctx, `select count(*) from `+table).Scan(&n))
				return n
			}
			work := func(tx *db.Tx) error {
				if err := first(ctx, tx); err != nil {
					return err
				}
				return tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "a"})
			}
			stop := errors.New("changed my mind")
			require.ErrorIs(t, d.Do(ctx, func(tx *db.Tx) error {
				require.NoError(t, work(tx))
				return stop
			}), stop)
			require.Panics(t, func() {
				_ = d.Do(ctx, func(tx *db.Tx) error {
					require.NoError(t, work(tx))
					panic(stop)
				})
			})
			require.Equal(t, []int{0, 0}, []int{count("rate"), count("outbox")}, "nothing stays of what was not committed")
			require.NoError(t, d.Do(ctx, work))
			require.Equal(t, []int{1, 1}, []int{count("rate"), count("outbox")})
			require.True(t, isDuplicate(d.Do(ctx, work)), "the first statement's own error comes back")
			require.Equal(t, []int{1, 1}, []int{count("rate"), count("outbox")})
			require.Error(t, d.Read(ctx, work), "reading cannot write")
			require.Zero(t, d.Pool.Stat().AcquiredConns())
		})
	}
}

func isDuplicate(err error) bool { return db.Violates(err, "rate_pkey") }

func TestATransactionThatDoesNothingAsksNothing(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	require.NoError(t, d.Do(t.Context(), func(*db.Tx) error { return nil }))
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		return tx.Emit(t.Context(), db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "a"})
	}))
	var n int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select count(*) from outbox`).Scan(&n))
	require.Equal(t, 1, n, "an event is work, too")
}
