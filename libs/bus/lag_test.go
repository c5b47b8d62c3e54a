package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
)

// measure returns a function for the sums of all figures by metric, of histograms the sum of what was measured.
func measure(t *testing.T) (figures func() map[string]float64) {
	t.Helper()
	reader := metric.NewManualReader()
	before := otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	return func() map[string]float64 {
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		sums := map[string]float64{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				switch data := m.Data.(type) {
				case metricdata.Gauge[int64]:
					for _, p := range data.DataPoints {
						sums[m.Name] += float64(p.Value)
					}
				case metricdata.Gauge[float64]:
					for _, p := range data.DataPoints {
						sums[m.Name] += p.Value
					}
				case metricdata.Sum[int64]:
					for _, p := range data.DataPoints {
						sums[m.Name] += float64(p.Value)
					}
				case metricdata.Histogram[float64]:
					for _, p := range data.DataPoints {
						sums[m.Name] += p.Sum
					}
				}
			}
		}
		return sums
	}
}

func TestTheLagIsWhatAConsumerHasNotHandledYet(t *testing.T) {
	figures := measure(t)
	b, d := open(t), notes(t)
	name := topic(t, b, 3)
	goOn := make(chan struct{})
	stop := run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		<-goOn
		return note(ctx, tx, e)
	}}}}).Run)
	defer stop()
	for range 3 {
		emit(t, d, name, "record", "changed")
	}
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))

	require.Eventually(t, func() bool {
		f := figures()
		return f["frontdesk.consumer.partitions"] == 3 && f["frontdesk.consumer.lag"] == 3 && f["frontdesk.consumer.lag.seconds"] > 0
	}, 20*time.Second, 20*time.Millisecond)
	close(goOn)
	require.Eventually(t, func() bool {
		f := figures()
		return f["frontdesk.consumer.lag"] == 0 && f["frontdesk.consumer.lag.seconds"] == 0
	}, 20*time.Second, 20*time.Millisecond)
	require.Len(t, seen(t, d), 3)
}

func TestTheTimeToTheEffectCountsFromTheCommitAndNotFromTheBroker(t *testing.T) {
	figures := measure(t)
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	stop := run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}).Run)
	defer stop()
	emit(t, d, name, "record", "changed")
	// The broker was away for an hour.
	_, err := d.Pool.Exec(t.Context(), `update outbox set committed_at = committed_at - interval '1 hour' where sent_at is null`)
	require.NoError(t, err)
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	require.Eventually(t, func() bool { return figures()["frontdesk.event.seconds"] > 3599 }, 20*time.Second, 20*time.Millisecond)
}

func TestAReplicaThatComesOrGoesIsARebalance(t *testing.T) {
	figures := measure(t)
	b, d := open(t), notes(t)
	name := topic(t, b, 3)
	// dealt waits for a rebalance after which the replica that is asked last holds some of the partitions, or all.
	dealt := func(after float64, all bool) (rebalances float64) {
		t.Helper()
		require.Eventually(t, func() bool {
			f := figures()
			rebalances = f["frontdesk.consumer.rebalances"]
			held := f["frontdesk.consumer.partitions"]
			return rebalances > after && held > 0 && (held == 3) == all
		}, 20*time.Second, 20*time.Millisecond)
		return rebalances
	}
	consumer := func() (stop func()) {
		return run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}).Run)
	}
	one := consumer()
	n := dealt(0, true)
	two := consumer()
	n = dealt(n, false)
	two()
	dealt(n, true)
	one()
	require.Zero(t, figures()["frontdesk.consumer.partitions"], "it has given them back")
}

func TestALogThatIsReadAgainIsCounted(t *testing.T) {
	figures := measure(t)
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	consumer := func() (stop func()) {
		return run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}).Run)
	}
	emit(t, d, name, "record", "changed")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	stop := consumer()
	require.Eventually(t, func() bool { return len(seen(t, d)) == 1 }, 20*time.Second, 20*time.Millisecond)
	stop()
	require.Zero(t, figures()["frontdesk.position.resets"])
	// The brokers have lost what was read.
	_, err := d.Pool.Exec(t.Context(), `update position set next = next + 100`)
	require.NoError(t, err)
	stop = consumer()
	defer stop()
	require.Eventually(t, func() bool { return figures()["frontdesk.position.resets"] == 1 }, 20*time.Second, 20*time.Millisecond)
}
