package app

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Job is periodic work. Of several replicas one runs it at a time, see db.Lease: the context of Run ends when this replica has
// lost it. It runs once at the start.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
}

// repeat runs a job each time it is due, on one replica.
func (r *runner) repeat(ctx context.Context, j Job) {
	meter, tracer, name := otel.Meter("frontdesk"), otel.Tracer("frontdesk"), metric.WithAttributes(attribute.String("job", j.Name))
	failures, _ := meter.Int64Counter("frontdesk.job.errors", metric.WithUnit("{run}"), metric.WithDescription("runs of a job that failed, by job"))
	succeeded, _ := meter.Float64Gauge("frontdesk.job.success", metric.WithUnit("s"),
		metric.WithDescription("when a job last ran to its end on this replica, or when the replica began, in seconds since 1970, by job"))
	success := func() { succeeded.Record(ctx, float64(time.Now().UnixMilli())/1000, name) }
	success()                  // a job that never succeeds is seen too
	failures.Add(ctx, 0, name) // an alert sees the first failure only behind a 0
	tick := time.NewTicker(j.Every)
	defer tick.Stop()
	for {
		run, span := ctx, trace.SpanFromContext(ctx)
		mine, err := r.kit.DB.Lease(ctx, "job "+j.Name, func(ctx context.Context) error {
			// A trace of its own, by which its log lines are found.
			run, span = tracer.Start(ctx, "job "+j.Name)
			return j.Run(run)
		})
		switch {
		case err != nil && ctx.Err() == nil:
			failures.Add(ctx, 1, name)
			slog.WarnContext(run, "job failed", "job", j.Name, "error", err)
		case err == nil && mine:
			success()
		}
		span.End()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
