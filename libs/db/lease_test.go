package db_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestOneHolderHasALeaseAtATimeAndItsErrorIsTheCallers(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	var running, most, ran atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for ran.Load() < 20 {
				_, err := d.Lease(t.Context(), "work", func(context.Context) error {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(2 * time.Millisecond)
					running.Add(-1)
					ran.Add(1)
					return nil
				})
				require.NoError(t, err)
			}
		})
	}
	callers.Wait()
	require.EqualValues(t, 1, most.Load())

	failed := errors.New("failed")
	held, err := d.Lease(t.Context(), "work", func(context.Context) error { return failed })
	require.True(t, held)
	require.ErrorIs(t, err, failed)
	held, err = d.Lease(t.Context(), "work", func(ctx context.Context) error {
		held, err := d.Lease(ctx, "other work", func(context.Context) error { return nil })
		require.True(t, held)
		return err
	})
	require.True(t, held)
	require.NoError(t, err)
	var kept bool
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select relpersistence = 'p' from pg_class where oid = 'work_lease'::regclass`).Scan(&kept))
	require.True(t, kept, "a crash of PostgreSQL ends no lease")
}

func TestALeaseIsFreeOnceItsHolderIsSilentOrTheClockWasSet(t *testing.T) {
	for name, until := range map[string]string{"silent": "-1 second", "clock set back": "10 minutes"} {
		t.Run(name, func(t *testing.T) {
			d := dbtest.New(t, "desk", nil)
			_, err := d.Pool.Exec(t.Context(), `insert into work_lease (name, holder, held_until) values ('work', $1, now() + $2::interval)`, db.NewID(), until)
			require.NoError(t, err)
			held, err := d.Lease(t.Context(), "work", func(context.Context) error { return nil })
			require.NoError(t, err)
			require.True(t, held)
		})
	}
}

func TestWorkEndsWhenAnotherReplicaHasItsLease(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	other := db.NewID()
	_, err := d.Lease(t.Context(), "work", func(ctx context.Context) error {
		_, err := d.Pool.Exec(ctx, `update work_lease set holder = $1`, other)
		require.NoError(t, err)
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Error("the work goes on")
		}
		return context.Cause(ctx)
	})
	require.ErrorIs(t, err, db.ErrLeaseLost)
	held, err := d.Lease(t.Context(), "work", func(context.Context) error { return nil })
	require.NoError(t, err)
	require.False(t, held, "the former holder does not free what is another's")
}
