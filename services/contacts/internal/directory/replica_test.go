package directory_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/until"
	"frontdesk/services/contacts/internal/directory"
)

// setup is a database of contacts and a replica of it, which is kept up until the test ends.
func setup(t *testing.T) (*db.DB, *directory.Replica) {
	t.Helper()
	d := dbtest.New(t, "contacts", migrations)
	r := directory.NewReplica(d)
	keepUp(t, r)
	return d, r
}

func keepUp(t *testing.T, r *directory.Replica) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.KeepUp(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	until.Holds(t, func() bool { return r.Loaded() == nil }, 20*time.Second, time.Millisecond)
	return stop
}

// found is what a copy that holds all that is committed selects.
func found(t testing.TB, d *db.DB, r *directory.Replica, q directory.Query) (n int64) {
	t.Helper()
	require.NoError(t, d.Read(t.Context(), func(tx *db.Tx) error {
		c := newest(t, r)
		if err := c.Check(t.Context(), tx, nil); err != nil {
			return err
		}
		_, n = c.First(q, 0)
		return nil
	}))
	return n
}

// newest waits while the contacts are loaded.
func newest(t testing.TB, r *directory.Replica) *directory.Copy {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if c := r.Newest(); c != nil {
			return c
		}
	}
	require.FailNow(t, "the contacts are not loaded")
	return nil
}

func insert(t testing.TB, d *db.DB, name string) uuid.UUID {
	t.Helper()
	id := uuid.New()
	_, err := d.Pool.Exec(t.Context(), newContact, id, name)
	require.NoError(t, err)
	return id
}

const newContact = `insert into contact (id, first_name, created_at, updated_at) values ($1, $2, date_trunc('second', now()), now())`

func TestAReplicaFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	d, r := setup(t)
	gone := insert(t, d, "Gone")
	insert(t, d, "Here")
	require.EqualValues(t, 2, found(t, d, r, directory.Query{}))
	_, err := d.Pool.Exec(t.Context(), `delete from contact where id = $1`, gone)
	require.NoError(t, err)
	require.EqualValues(t, 1, found(t, d, r, directory.Query{}))
}

func TestACopyThatIsTooOldIsReadAnew(t *testing.T) {
	t.Parallel()
	d, r := setup(t)
	gone := insert(t, d, "Gone")
	require.EqualValues(t, 1, found(t, d, r, directory.Query{}))
	_, err := d.Pool.Exec(t.Context(), `delete from contact where id = $1`, gone)
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `delete from contact_gone`) // as a job does after directory.KeepGone
	require.NoError(t, err)
	require.EqualValues(t, 1, found(t, d, r, directory.Query{}), "nothing says any more that the contact is gone")
	r.Age(24 * time.Hour)
	insert(t, d, "Somebody") // so that a reader asks
	until.Holds(t, func() bool { return found(t, d, r, directory.Query{}) == 1 }, 10*time.Second, 10*time.Millisecond)
	require.Zero(t, found(t, d, r, directory.Query{Words: []string{"gone"}}))
}

func TestTheRowsBehindALongTransactionAreReadOnce(t *testing.T) {
	t.Parallel()
	d, r := setup(t)
	long, err := d.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = long.Rollback(context.Background()) }()
	_, err = long.Exec(t.Context(), newContact, uuid.New(), "Long")
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `insert into contact (id, first_name, created_at, updated_at)
		select gen_random_uuid(), 'Behind', now(), now() from generate_series(1, 500)`)
	require.NoError(t, err)
	require.EqualValues(t, 500, found(t, d, r, directory.Query{}))
	require.EqualValues(t, 500, r.Applied())
	for i := range 20 {
		insert(t, d, fmt.Sprint("One more ", i))
		require.EqualValues(t, 501+i, found(t, d, r, directory.Query{}))
	}
	require.EqualValues(t, 520, r.Applied(), "the 500 were read again while the transaction went on")
	require.NoError(t, long.Commit(t.Context()))
	require.EqualValues(t, 521, found(t, d, r, directory.Query{}))
	require.EqualValues(t, 521, r.Applied())
}

func TestADifferenceIsRepairedAndCounted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "contacts", migrations)
	_, err := d.Pool.Exec(t.Context(), `insert into contact (id, first_name, created_at, updated_at, tags)
		select gen_random_uuid(), 'Person ' || i, now() - make_interval(secs => i), now(), array['VIP', 'Tag ' || i % 7] from generate_series(1, 5000) i`)
	require.NoError(t, err)
	r := directory.NewReplica(d)
	r.Load(t.Context())
	differences, err := r.Compare(t.Context())
	require.NoError(t, err)
	require.Zero(t, differences)

	whole := r.Newest().Records()
	lost, stray := whole[1234].Key, directory.Record{Key: directory.KeyOf(time.Now(), uuid.New()), Text: "stray"}
	changed, unlabelled := whole[0], whole[4999]
	changed.Text, unlabelled.Labels = "somebody else", unlabelled.Labels[:1]
	early := directory.Record{Key: directory.KeyOf(time.Unix(0, 0), uuid.New()), Text: "early"}
	r.Spoil([]directory.Key{lost}, []directory.Record{stray, changed, unlabelled, early})
	require.NotEqual(t, whole, r.Newest().Records())
	differences, err = r.Compare(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5, differences)
	require.Equal(t, whole, r.Newest().Records())
}

func TestOneReadsForAllWhoWait(t *testing.T) {
	t.Parallel()
	d, r := setup(t)
	for round := range 5 {
		insert(t, d, fmt.Sprint("Round ", round))
		results := make([]int64, 64)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() { results[i] = found(t, d, r, directory.Query{}) })
		}
		all.Wait()
		for _, n := range results {
			require.EqualValues(t, round+1, n)
		}
	}
	require.EqualValues(t, 5, r.Applied())
}

func TestWhoWaitsDoesNotNoticeALostConnection(t *testing.T) {
	t.Parallel()
	d, r := setup(t)
	killer, err := d.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer killer.Release()
	killed := 0
	for range 30 {
		var now int
		require.NoError(t, killer.QueryRow(t.Context(), `select count(pg_terminate_backend(pid)) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid()`).Scan(&now))
		killed += now
		require.NoError(t, r.Wait(t.Context()))
	}
	require.Positive(t, killed)
}

// migrations are those of the service.
var migrations = os.DirFS("../contacts")
