package db_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/fault"
)

func TestTheAddressSetsThePool(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 3, small(t, 3).Pool.Config().MaxConns)
	require.EqualValues(t, db.PoolSize, dbtest.New(t, "test", nil).Pool.Config().MaxConns)
	d, err := db.Open(t.Context(), "host=localhost dbname=x pool_max_conns=5 pool_max_conn_idle_time=7s", "test")
	require.NoError(t, err)
	defer d.Close()
	require.EqualValues(t, 5, d.Pool.Config().MaxConns)
	require.Equal(t, 7*time.Second, d.Pool.Config().MaxConnIdleTime)
	_, err = db.Open(t.Context(), "postgres://localhost/x?pool_max_conns=none", "test")
	require.EqualError(t, err, "db: DATABASE_URL is not a valid address of a database")
}

func TestVisitorsLeaveHalfOfTheConnectionsToTheOthers(t *testing.T) {
	t.Parallel()
	d := small(t, 4)
	release := make(chan struct{})
	var visitors sync.WaitGroup
	busy := make(chan struct{}, 10)
	for range 10 {
		visitors.Go(func() {
			err := d.Do(db.Within(t.Context(), db.Visitors), func(*db.Tx) error {
				busy <- struct{}{}
				<-release
				return nil
			})
			require.NoError(t, err)
		})
	}
	<-busy
	<-busy
	require.EqualValues(t, 2, d.Pool.Stat().AcquiredConns())
	require.NoError(t, one(t.Context(), d), "the team still gets a connection")
	close(release)
	visitors.Wait()
}

// figures reads what this process measures. Instruments keep to the first provider.
var figures = sync.OnceValue(func() *metric.ManualReader {
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	return reader
})

func TestAWaitForAConnectionIsMeasured(t *testing.T) {
	reader := figures()
	waited := func() (seconds float64) {
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "db.client.connection.wait_time" {
					seconds += h.DataPoints[0].Sum
				}
			}
		}
		return seconds
	}
	d := small(t, 1)
	require.NoError(t, one(t.Context(), d))
	at := waited()
	done := make(chan error)
	require.NoError(t, d.Do(t.Context(), func(*db.Tx) error {
		go func() { done <- one(t.Context(), d) }()
		require.Eventually(t, func() bool { return d.Waiting() == 1 }, 5*time.Second, time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		return nil
	}))
	require.NoError(t, <-done)
	require.Zero(t, d.Waiting())
	require.GreaterOrEqual(t, waited()-at, .1)
}

func TestWaitingForAConnectionEndsWithUnavailable(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{"the team": t.Context(), "a visitor": db.Within(t.Context(), db.Visitors)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := small(t, 1)
			err := d.Do(ctx, func(*db.Tx) error {
				began := time.Now()
				err := one(ctx, d)
				require.Equal(t, http.StatusServiceUnavailable, fault.From(err).Status)
				require.Less(t, time.Since(began), 7*time.Second)
				return nil
			})
			require.NoError(t, err)
		})
	}
}

func TestATransactionThatIsAskedToRunLaterDoesSoWithoutAConnection(t *testing.T) {
	t.Parallel()
	d := small(t, 1)
	arrived := time.Now().Add(200 * time.Millisecond)
	absent := fault.NotFound("record")
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
				if time.Now().Before(arrived) {
					return tx.Later(absent, 5*time.Second)
				}
				return nil
			}))
		})
	}
	calls.Wait()
	began := time.Now()
	err := d.Do(t.Context(), func(tx *db.Tx) error { return tx.Later(absent, 100*time.Millisecond) })
	require.Equal(t, absent, err)
	require.Less(t, time.Since(began), 2*time.Second)
}
