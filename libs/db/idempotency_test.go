package db_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/fault"
)

// small opens a fresh database with a pool of n connections.
func small(t *testing.T, n int) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.PoolOf(dbtest.URL(t, "test", nil), n), "test")
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func request(key string) db.Request {
	return db.Request{Caller: "key/1", Op: "test", Key: key, Prints: [][]byte{[]byte("the body")}}
}

func stored(body string) db.Answer { return db.Answer{Status: http.StatusCreated, Body: []byte(body)} }

// one is a transaction that needs a connection.
func one(ctx context.Context, d *db.DB) error {
	return d.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `select 1`)
		return err
	})
}

func TestCallsWithKeysOfTheirOwnNeedOneConnectionEachAndNoSecond(t *testing.T) {
	t.Parallel()
	d := small(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var calls sync.WaitGroup
	for i := range 64 {
		calls.Go(func() {
			a, err := d.Exclusive(ctx, request(fmt.Sprint(i)), func() (db.Answer, error) { return stored("{}"), one(ctx, d) })
			require.NoError(t, err)
			require.Nil(t, a)
		})
	}
	calls.Wait()
}

func TestOfCallsWithOneKeyOneRunsAndTheOthersWaitWithoutAConnection(t *testing.T) {
	t.Parallel()
	slow := func(t *testing.T, ctx context.Context, d *db.DB, ran *atomic.Int32) {
		t.Helper()
		ran.Add(1)
		for range 20 {
			require.NoError(t, one(ctx, d), "calls that wait leave connections to others")
			time.Sleep(10 * time.Millisecond)
		}
	}
	for name, call := range map[string]func(t *testing.T, ctx context.Context, d *db.DB, ran *atomic.Int32) (*db.Answer, error){
		"outside a transaction": func(t *testing.T, ctx context.Context, d *db.DB, ran *atomic.Int32) (*db.Answer, error) {
			return d.Exclusive(ctx, request("one"), func() (db.Answer, error) {
				slow(t, ctx, d, ran)
				return stored("the answer"), nil
			})
		},
		"in a transaction": func(t *testing.T, ctx context.Context, d *db.DB, ran *atomic.Int32) (a *db.Answer, err error) {
			err = d.Do(ctx, func(tx *db.Tx) error {
				if a, err = tx.Claim(ctx, request("one")); err != nil || a != nil {
					return err
				}
				slow(t, ctx, d, ran)
				return tx.Keep(ctx, request("one"), stored("the answer"))
			})
			return a, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := small(t, 2)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var ran, replayed atomic.Int32
			var calls sync.WaitGroup
			for range 32 {
				calls.Go(func() {
					a, err := call(t, ctx, d, &ran)
					require.NoError(t, err)
					if a != nil {
						replayed.Add(1)
						require.Equal(t, stored("the answer"), *a)
					}
				})
			}
			calls.Wait()
			require.EqualValues(t, 1, ran.Load())
			require.EqualValues(t, 31, replayed.Load())
		})
	}
}

func TestAKeyWithAnotherRequestIsRefusedAlsoWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	d := small(t, 2)
	other := request("one")
	other.Prints = [][]byte{[]byte("another body")}
	refused := func() {
		_, err := d.Exclusive(t.Context(), other, func() (db.Answer, error) { return stored("never"), nil })
		require.Equal(t, "svc_idempotency_conflict", fault.From(err).Code)
	}
	_, err := d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) {
		refused()
		return stored("{}"), nil
	})
	require.NoError(t, err)
	refused()
}

func TestARequestIsRecognisedAfterTheServicesKeyWasChanged(t *testing.T) {
	t.Parallel()
	d := small(t, 1)
	before := request("one")
	_, err := d.Exclusive(t.Context(), before, func() (db.Answer, error) { return stored("{}"), nil })
	require.NoError(t, err)
	after := before
	after.Prints = [][]byte{[]byte("under the new key"), before.Prints[0]}
	a, err := d.Exclusive(t.Context(), after, func() (db.Answer, error) { return stored("never"), nil })
	require.NoError(t, err)
	require.Equal(t, "{}", string(a.Body))
}

func TestAnErrorStoresNothingAndFreesTheKey(t *testing.T) {
	t.Parallel()
	d := small(t, 2)
	broken := errors.New("broken")
	_, err := d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { return db.Answer{}, broken })
	require.ErrorIs(t, err, broken)
	require.Panics(t, func() {
		_, _ = d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { panic("a bug") })
	})
	ran := false
	a, err := d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { ran = true; return stored("{}"), nil })
	require.NoError(t, err)
	require.Nil(t, a)
	require.True(t, ran)
}

func TestTheClaimOfADeadProcessEndsWithItsLease(t *testing.T) {
	t.Parallel()
	d := small(t, 2)
	_, err := d.Pool.Exec(t.Context(), `insert into idempotency (caller, op, key, request, holder, held_until)
		values ('key/1', 'test', 'one', 'of the dead', gen_random_uuid(), now() + interval '400 milliseconds')`)
	require.NoError(t, err)
	r := request("one")
	r.Prints = [][]byte{[]byte("of the dead")}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = d.Exclusive(short, r, func() (db.Answer, error) { return stored("{}"), nil })
	require.Equal(t, http.StatusServiceUnavailable, fault.From(err).Status, "the caller is asked to come again")
	a, err := d.Exclusive(t.Context(), r, func() (db.Answer, error) { return stored("{}"), nil })
	require.NoError(t, err)
	require.Nil(t, a, "the key is free again")
}

func TestWhatBecameOfACallIsKnownUnlessItsProcessDied(t *testing.T) {
	t.Parallel()
	d := small(t, 2)
	answered := func(key string) (*db.Answer, error) {
		return d.Answered(t.Context(), db.Request{Caller: "key/1", Op: "test", Key: key})
	}
	a, err := answered("one")
	require.NoError(t, err)
	require.Nil(t, a, "no call")
	_, err = d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) {
		_, err := answered("one")
		require.Equal(t, http.StatusServiceUnavailable, fault.From(err).Status, "it runs")
		return stored("{}"), nil
	})
	require.NoError(t, err)
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Claim(t.Context(), request("two"))
		require.NoError(t, err)
		return tx.Keep(t.Context(), request("two"), stored("{}"))
	}))
	for _, key := range []string{"one", "two"} {
		a, err = answered(key)
		require.NoError(t, err)
		require.Equal(t, stored("{}"), *a)
	}
	_, err = d.Pool.Exec(t.Context(), `update idempotency set status = null, answer = null, held_until = now() - interval '1 second' where key = 'one'`)
	require.NoError(t, err)
	_, err = answered("one")
	require.Equal(t, "lost", fault.From(err).Data["reason"])
}

func TestAClaimFromBeforeTheClockWasSetBackIsFree(t *testing.T) {
	t.Parallel()
	d := small(t, 1)
	_, err := d.Pool.Exec(t.Context(), `insert into idempotency (caller, op, key, request, holder, held_until)
		values ('key/1', 'test', 'one', 'the body', gen_random_uuid(), now() + interval '10 minutes')`)
	require.NoError(t, err)
	a, err := d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { return stored("{}"), nil })
	require.NoError(t, err)
	require.Nil(t, a)
}

func TestAHolderWhoseClaimHasEndedLeavesTheAnswerOfTheNextOne(t *testing.T) {
	t.Parallel()
	d := small(t, 2)
	frozen, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := d.Exclusive(frozen, request("one"), func() (db.Answer, error) {
		_, err := d.Pool.Exec(t.Context(), `update idempotency set held_until = now() - interval '1 second'`)
		require.NoError(t, err)
		_, err = d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { return stored("of the next"), nil })
		require.NoError(t, err)
		return stored("of the first"), nil
	})
	require.Equal(t, http.StatusServiceUnavailable, fault.From(err).Status)
	a, err := d.Exclusive(t.Context(), request("one"), func() (db.Answer, error) { return stored("never"), nil })
	require.NoError(t, err)
	require.Equal(t, stored("of the next"), *a)
}
