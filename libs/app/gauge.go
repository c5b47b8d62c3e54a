package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
)

// Gauge is a figure of the database, such as how much work waits. A scrape reads it, so every replica reports the same number.
type Gauge struct {
	// Name of the metric, below frontdesk.
	Name string
	// Unit in UCUM: s for seconds, {mail} for mails.
	Unit string
	Doc  string
	// Label names the attribute that the first column of SQL is; without one SQL has the value alone.
	Label string
	// SQL returns a number, or a text and a number in each row. It must be cheap: it runs every few seconds.
	SQL string
	// On reports whether there is something to count now; nil for always. The figure is 0 while there is not.
	On func() bool
}

// Outcomes counts things by how they ended, as a metric with the label outcome.
type Outcomes struct{ counter metric.Int64Counter }

// NewOutcomes makes the metric of a name below frontdesk, in a unit of UCUM. Call it once for each name.
func NewOutcomes(name, unit, doc string) Outcomes {
	counter, _ := otel.Meter("frontdesk").Int64Counter("frontdesk."+name, metric.WithUnit(unit), metric.WithDescription(doc))
	return Outcomes{counter}
}

// Add counts n that ended so.
func (o Outcomes) Add(ctx context.Context, outcome string, n int) {
	o.counter.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// gauges are those of every service.
var gauges = []Gauge{
	{Name: "outbox.waiting", Unit: "{message}", Doc: "messages that wait for the relay", SQL: `select count(*) from outbox where sent_at is null`},
	{Name: "outbox.age", Unit: "s", Doc: "age of the oldest message that waits for the relay",
		SQL: `select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from outbox where sent_at is null`},
	{Name: "outbox.rows", Unit: "{message}", Doc: "messages in the outbox with those that were sent, as the planner estimates them",
		SQL: `select greatest(reltuples, 0) from pg_class where oid = 'outbox'::regclass`},
	{Name: "parked", Unit: "{message}", Doc: "messages that could not be handled and wait for an operator, by topic", Label: "topic",
		SQL: `select p.topic, count(k.id) from (select distinct topic from position) p left join parked k using (topic) group by p.topic`},
}

const (
	// scrapeLasts bounds how long a scrape waits for the database. A process whose connections are all in use has to be seen.
	scrapeLasts = time.Second
	// scrapeAgain is how old the figures of a scrape may be.
	scrapeAgain = 2 * time.Second
)

// figure is what a gauge showed for one label.
type figure struct {
	gauge int
	label string
	value float64
}

// scrape reads all gauges in one round trip, at most once in scrapeAgain.
type scrape struct {
	db     *db.DB
	gauges []Gauge

	mu      sync.Mutex
	at      time.Time
	figures []figure
}

func (s *scrape) read(ctx context.Context) ([]figure, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < scrapeAgain {
		return s.figures, nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeLasts)
	defer cancel()
	var figures []figure
	b := &pgx.Batch{}
	for i, g := range s.gauges {
		if g.On != nil && !g.On() {
			figures = append(figures, figure{gauge: i})
			continue
		}
		b.Queue(g.SQL).Query(func(rows pgx.Rows) error {
			f := figure{gauge: i}
			into := []any{&f.value}
			if g.Label != "" {
				into = []any{&f.label, &f.value}
			}
			_, err := pgx.ForEachRow(rows, into, func() error { figures = append(figures, f); return nil })
			if err != nil {
				return fmt.Errorf("gauge %s: %w", g.Name, err)
			}
			return nil
		})
	}
	if err := s.db.Pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	s.at, s.figures = time.Now(), figures
	return figures, nil
}

// observe registers the gauges of the service and of its pool, until stop is called.
func observe(d *db.DB, own []Gauge) (stop func(), err error) {
	meter := otel.Meter("frontdesk")
	s := &scrape{db: d, gauges: slices.Concat(gauges, own)}
	byGauge, all := make([]metric.Float64Observable, len(s.gauges)), []metric.Observable{}
	for i, g := range s.gauges {
		if byGauge[i], err = meter.Float64ObservableGauge("frontdesk."+g.Name, metric.WithUnit(g.Unit), metric.WithDescription(g.Doc)); err != nil {
			return nil, err
		}
		all = append(all, byGauge[i])
	}
	values, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		figures, err := s.read(ctx)
		for _, f := range figures {
			if label := s.gauges[f.gauge].Label; label != "" {
				o.ObserveFloat64(byGauge[f.gauge], f.value, metric.WithAttributes(attribute.String(label, f.label)))
			} else {
				o.ObserveFloat64(byGauge[f.gauge], f.value)
			}
		}
		return err
	}, all...)
	if err != nil {
		return nil, err
	}
	pool, err := observePool(d, meter)
	return func() {
		_ = values.Unregister()
		if pool != nil {
			_ = pool.Unregister()
		}
	}, err
}

// observePool registers the metrics of the connection pool, by their names in OpenTelemetry's conventions where they have some.
func observePool(d *db.DB, meter metric.Meter) (metric.Registration, error) {
	count, _ := meter.Int64ObservableUpDownCounter("db.client.connection.count", metric.WithUnit("{connection}"),
		metric.WithDescription("connections of the pool, by state: idle or used"))
	most, _ := meter.Int64ObservableUpDownCounter("db.client.connection.max", metric.WithUnit("{connection}"),
		metric.WithDescription("connections that the pool may have"))
	pending, _ := meter.Int64ObservableUpDownCounter("db.client.connection.pending_requests", metric.WithUnit("{request}"),
		metric.WithDescription("transactions that wait for a connection"))
	idle, used := metric.WithAttributes(attribute.String("db.client.connection.state", "idle")), metric.WithAttributes(attribute.String("db.client.connection.state", "used"))
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := d.Pool.Stat()
		o.ObserveInt64(count, int64(s.IdleConns()), idle)
		o.ObserveInt64(count, int64(s.AcquiredConns()), used)
		o.ObserveInt64(most, int64(s.MaxConns()))
		o.ObserveInt64(pending, d.Waiting())
		return nil
	}, count, most, pending)
}
