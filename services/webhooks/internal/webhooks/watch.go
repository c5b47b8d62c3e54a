package webhooks

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// watch registers the gauges of waiting deliveries and paused webhooks. A scrape reads the database, so every replica
// reports the same numbers.
func (s *service) watch() error {
	meter := otel.Meter("frontdesk")
	waiting, err := meter.Int64ObservableGauge("frontdesk.webhook.waiting", metric.WithDescription("deliveries that wait, by status"))
	if err != nil {
		return err
	}
	paused, err := meter.Int64ObservableGauge("frontdesk.webhook.paused", metric.WithDescription("webhooks that are paused"))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		var queued, retrying, n int64
		err := s.DB.Pool.QueryRow(ctx, `
			select coalesce(sum(n) filter (where status = 'queued'), 0)::bigint, coalesce(sum(n) filter (where status = 'retrying'), 0)::bigint,
				(select count(*) from webhook where paused is not null)
			from tally where webhook in (select id from webhook)`).Scan(&queued, &retrying, &n)
		if err != nil {
			return err
		}
		o.ObserveInt64(waiting, queued, metric.WithAttributes(attribute.String("status", "queued")))
		o.ObserveInt64(waiting, retrying, metric.WithAttributes(attribute.String("status", "retrying")))
		o.ObserveInt64(paused, n)
		return nil
	}, waiting, paused)
	return err
}
