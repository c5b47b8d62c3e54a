package db_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/fault"
	"frontdesk/libs/relay"
	"frontdesk/libs/relay/relaytest"
	"frontdesk/proto"
)

func TestADeadlockRunsAgain(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	tries := 0
	require.NoError(t, d.Do(t.Context(), func(*db.Tx) error {
		if tries++; tries < 3 {
			return &pgconn.PgError{Code: "40P01"}
		}
		return nil
	}))
	require.Equal(t, 3, tries)
}

func TestAUnitOfWorkWaitsWithoutAConnection(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	var began []time.Time
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), `select 1`); err != nil {
			return err
		}
		if began = append(began, tx.Began); len(began) == 1 {
			return fmt.Errorf("read the copy: %w", db.RunAgainAfter(func(context.Context) error {
				require.Zero(t, d.Pool.Stat().AcquiredConns())
				return nil
			}))
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, began, 2)
	require.Equal(t, began[0], began[1])

	runs := 0
	err = d.Do(t.Context(), func(*db.Tx) error {
		runs++
		return db.RunAgainAfter(func(context.Context) error { return fault.Unavailable() })
	})
	require.Equal(t, 503, fault.From(err).Status)
	require.Equal(t, 1, runs)
}

func TestOfManyCallsAsManyPassAsTheLimitAllows(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	var passed atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			wait, err := d.Allow(t.Context(), 1, db.Bucket{Key: "visitor", Limit: db.Limit{N: 5, Per: time.Minute}}, db.Bucket{Key: "visitor", Limit: db.Limit{N: 30, Per: time.Hour}})
			require.NoError(t, err)
			if wait == 0 {
				passed.Add(1)
			} else {
				require.LessOrEqual(t, wait, 12*time.Second)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 5, passed.Load())
	wait, err := d.Allow(t.Context(), 1, db.Bucket{Key: "somebody else", Limit: db.Limit{N: 1, Per: time.Hour}})
	require.NoError(t, err)
	require.Zero(t, wait)
	wait, err = d.Allow(t.Context(), 1, db.Bucket{Key: "somebody else", Limit: db.Limit{N: 1, Per: time.Hour}})
	require.NoError(t, err)
	require.Greater(t, wait, 50*time.Minute)
	wait, err = d.Allow(t.Context(), 0, db.Bucket{Key: "somebody else", Limit: db.Limit{N: 1, Per: time.Hour}})
	require.NoError(t, err)
	require.Zero(t, wait, "a factor of 0 is no limit")
}

func TestAnErasedRecordLeavesNothingInTheOutboxButItsEnd(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	emit := func(tx *db.Tx, kind string, keys ...string) {
		for _, key := range keys {
			require.NoError(t, tx.Emit(t.Context(), db.Event{Topic: proto.ContactTopic, Kind: kind, Key: key, Data: "about " + key}))
		}
	}
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		emit(tx, proto.KindContactUpdated, "a", "b", "a")
		return nil
	}))
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		emit(tx, proto.KindContactErased, "a")
		tx.Tombstone(proto.ContactTopic, "a")
		return nil
	}))
	var log relaytest.Log
	require.NoError(t, (&relay.Relay{DB: d, Log: &log}).Flush(t.Context()))
	var left []string
	for _, m := range log.Messages(relay.Partition{Topic: proto.ContactTopic}) {
		var env proto.Envelope
		require.NoError(t, protobuf.Unmarshal(m.Value, &env))
		left = append(left, m.Key+" "+env.GetKind())
	}
	require.Equal(t, []string{"b contact.updated", "a contact.erased", "a "}, left)
}

type filters struct {
	db.Page
	Search string `json:"search"`
}

func TestACursorIsOfOneListOneFilterAndOneView(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	at, id := time.Now().UTC().Truncate(time.Microsecond), db.NewID()
	open := func(who db.Actor, list string, in filters) (c *db.Cursor, err error) {
		_ = d.Do(db.WithActor(t.Context(), who), func(tx *db.Tx) error { c, err = tx.Page(in.Page, list, in); return nil })
		return c, err
	}
	boss, clerk := db.Actor{UserID: 1}, db.Actor{UserID: 2, Own: true}
	first, err := open(boss, "notes", filters{Page: db.Page{PerPage: 1}, Search: "x"})
	require.NoError(t, err)
	require.True(t, first.First)
	first.Total = 1 << 40
	page := db.Close(first, []int{1, 2}, func(int) (time.Time, uuid.UUID) { return at, id })
	require.Len(t, page.Items, 1)
	require.LessOrEqual(t, len(*page.NextCursor), 64)
	next := filters{Page: db.Page{PerPage: 5, Cursor: *page.NextCursor}, Search: "x"}
	c, err := open(db.Actor{UserID: 9}, "notes", next)
	require.NoError(t, err, "another page size and another caller who sees the same are welcome")
	require.Equal(t, []any{at, id, int64(1 << 40), false}, []any{c.At, c.ID, c.Total, c.First})
	for _, wrong := range []func() error{
		func() error { _, err := open(clerk, "notes", next); return err },
		func() error { _, err := open(boss, "other", next); return err },
		func() error { n := next; n.Search = "y"; _, err := open(boss, "notes", n); return err },
		func() error { n := next; n.Cursor = n.Cursor[1:]; _, err := open(boss, "notes", n); return err },
	} {
		require.Equal(t, "svc_invalid_cursor", fault.From(wrong()).Code)
	}
	require.EqualValues(t, 7, db.Number(db.NumberID(7)))
}

func TestCleaningRemovesWhatIsOldAndKeepsTheRest(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `
		insert into idempotency (caller, op, key, request, created_at) values ('a', 'b', 'old', '', now() - interval '25 hours'), ('a', 'b', 'new', '', now());
		insert into inbox (event, handled_at) values (gen_random_uuid(), now() - interval '31 days'), (gen_random_uuid(), now());
		insert into rate (key, full_at) values ('old', now() - interval '1 second'), ('new', now() + interval '1 minute')`)
	require.NoError(t, err)
	require.NoError(t, d.Clean(t.Context()))
	for _, table := range []string{"idempotency", "inbox", "rate"} {
		var n int
		require.NoError(t, d.Pool.QueryRow(t.Context(), `select count(*) from `+table).Scan(&n))
		require.Equal(t, 1, n, table)
	}
}
