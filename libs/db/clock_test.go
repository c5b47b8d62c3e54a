package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

// steps are how a clock may be set, one after the other.
var steps = []time.Duration{10 * time.Minute, -20 * time.Minute, 10 * time.Minute}

func TestAServersClockThatIsSetBackLeavesARateLimitAsItIs(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "test", nil)
	bucket := db.Bucket{Key: "one", Limit: db.Limit{N: 5, Per: time.Minute}}
	pass := func() (passed int) {
		for range 20 {
			// Another replica each time: none remembers that the bucket is full.
			replica := &db.DB{Pool: d.Pool, Schema: d.Schema, Now: d.Now}
			wait, err := replica.Allow(t.Context(), 1, bucket)
			require.NoError(t, err)
			if wait == 0 {
				passed++
			}
		}
		return passed
	}
	require.Equal(t, 5, pass())
	require.Zero(t, pass())
	// What was ten minutes ago for the clock of before is now.
	_, err := d.Pool.Exec(t.Context(), `update rate set full_at = full_at + interval '10 minutes'`)
	require.NoError(t, err)
	require.Equal(t, 5, pass(), "nobody waits ten minutes for a minute's limit")
	require.Zero(t, pass())
}

func TestAClockThatIsSetDoesNotEmptyTheInbox(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "test", nil)
	_, err := d.Pool.Exec(t.Context(), `insert into inbox (event) values ($1)`, uuid.New())
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `insert into forgotten_person (called, at) values ('x', now())`)
	require.NoError(t, err)
	var offset time.Duration
	d.Now = func() time.Time { return time.Now().Add(offset) }
	for _, step := range steps {
		offset += step
		require.NoError(t, d.Clean(t.Context()))
		var kept int
		require.NoError(t, d.Pool.QueryRow(t.Context(), `select (select count(*) from inbox) + (select count(*) from forgotten_person)`).Scan(&kept))
		require.Equal(t, 2, kept)
	}
}
