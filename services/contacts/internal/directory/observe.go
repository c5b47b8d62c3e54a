package directory

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// observe measures the replica until end is called.
func (r *Replica) observe() (end func()) {
	meter := otel.Meter("frontdesk")
	// The names are constants, and valid.
	contacts, _ := meter.Int64ObservableGauge("frontdesk.directory.contacts", metric.WithUnit("{contact}"), metric.WithDescription("contacts in the directory; 0 while they are loaded"))
	bytes, _ := meter.Int64ObservableGauge("frontdesk.directory.bytes", metric.WithUnit("By"), metric.WithDescription("memory of the directory"))
	load, _ := meter.Float64ObservableGauge("frontdesk.directory.load.seconds", metric.WithUnit("s"), metric.WithDescription("time of the last load of all contacts"))
	applied, _ := meter.Int64ObservableCounter("frontdesk.directory.changes", metric.WithUnit("{change}"), metric.WithDescription("changes that the directory read"))
	repaired, _ := meter.Int64ObservableCounter("frontdesk.directory.differences", metric.WithUnit("{difference}"), metric.WithDescription("differences from the table that the comparison repaired"))
	registered, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		d := &Directory{}
		if c := r.newest.Load(); c != nil {
			d = c.Directory
		}
		o.ObserveInt64(contacts, int64(d.Len()))
		o.ObserveInt64(bytes, int64(d.Bytes()))
		o.ObserveFloat64(load, time.Duration(r.loads.Load()).Seconds())
		o.ObserveInt64(applied, r.applied.Load())
		o.ObserveInt64(repaired, r.repaired.Load())
		return nil
	}, contacts, bytes, load, applied, repaired)
	if err != nil {
		slog.Warn("the directory is not measured", "error", err)
		return func() {}
	}
	return func() { _ = registered.Unregister() }
}
