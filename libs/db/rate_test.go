package db_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

// replicas opens n pools on one database.
func replicas(t *testing.T, n int) (all []*db.DB) {
	t.Helper()
	url := dbtest.URL(t, "test", nil)
	for range n {
		d, err := db.Open(t.Context(), url, "test")
		require.NoError(t, err)
		t.Cleanup(d.Close)
		all = append(all, d)
	}
	return all
}

func TestOfTenThousandCallsOverTwoReplicasTheLimitPasses(t *testing.T) {
	t.Parallel()
	for _, limit := range []db.Limit{{N: 5, Per: time.Minute}, {N: 500, Per: time.Hour}, {N: 2000, Per: time.Hour}} {
		t.Run(fmt.Sprint(limit.N, " in ", limit.Per), func(t *testing.T) {
			t.Parallel()
			both := replicas(t, 2)
			var passed atomic.Int64
			var calls sync.WaitGroup
			began := time.Now()
			for i := range 100 {
				calls.Go(func() {
					for range 100 {
						wait, err := both[i%2].Allow(t.Context(), 1, db.Bucket{Key: "one", Limit: limit})
						require.NoError(t, err)
						if wait == 0 {
							passed.Add(1)
						}
					}
				})
			}
			calls.Wait()
			// The bucket leaks while the calls run.
			leaked := float64(limit.N) * time.Since(began).Seconds() / limit.Per.Seconds()
			require.GreaterOrEqual(t, passed.Load(), int64(limit.N))
			require.LessOrEqual(t, float64(passed.Load()), math.Ceil(1.01*float64(limit.N)+leaked))
		})
	}
}

func TestAFloodOfOneCallerNeedsNoConnectionOnceItIsRefused(t *testing.T) {
	t.Parallel()
	d := small(t, 1)
	limit := db.Bucket{Key: "one", Limit: db.Limit{N: 1, Per: time.Second}}
	allow := func() time.Duration {
		wait, err := d.Allow(t.Context(), 1, limit)
		require.NoError(t, err)
		return wait
	}
	require.Zero(t, allow())
	refused := allow()
	require.Positive(t, refused)
	used := d.Pool.Stat().AcquireCount()
	for range 1000 {
		allow()
	}
	require.Equal(t, used, d.Pool.Stat().AcquireCount())
	require.Eventually(t, func() bool { return allow() == 0 }, refused+5*time.Second, 10*time.Millisecond, "the bucket has leaked")
}
