package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Handler is the effect of an event. It runs in one transaction with the position in the topic, as the
// actor who caused the event, and at most once per event id.
type Handler func(ctx context.Context, tx *db.Tx, e Event) error

// Follow binds a topic to its handler. Kinds that a handler does not know it ignores.
type Follow struct {
	Topic  string
	Handle Handler
}

// Consumer follows topics for one service. Of several replicas one follows a partition at a time; when
// it dies another takes over at once, because the claim is a lock of its database connection.
type Consumer struct {
	Bus     *Bus
	DB      *db.DB
	Follows []Follow
	// Retries of a message that fails for its own sake before it is parked; waits between them.
	Retries []time.Duration

	delay metric.Float64Histogram
}

// DefaultRetries keep a poison message for a few seconds before it is parked.
var DefaultRetries = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 3 * time.Second}

const batchSize = 100

// Run follows all topics until ctx ends. It outlives brokers and databases that go and come back.
func (c *Consumer) Run(ctx context.Context) {
	if c.Retries == nil {
		c.Retries = DefaultRetries
	}
	c.delay, _ = otel.Meter("frontdesk").Float64Histogram("frontdesk.event.seconds",
		metric.WithDescription("from the change to its effect here"), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 30, 300))
	for ctx.Err() == nil {
		if err := c.lead(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "consumer starts again", "error", err)
			sleep(ctx, 300*time.Millisecond)
		}
	}
}

// lead holds one connection whose locks are the claims, and follows what it could claim.
func (c *Consumer) lead(ctx context.Context) error {
	conn, err := c.DB.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// The locks must not go back to the pool with the connection.
	held := conn.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = held.Close(ctx)
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	claimed := map[string]bool{}
	for {
		for _, f := range c.Follows {
			parts, err := c.Bus.partitions(ctx, f.Topic)
			if err != nil {
				return err
			}
			for _, p := range parts {
				name := fmt.Sprintf("%s.consumer.%s/%d", c.DB.Schema, f.Topic, p)
				if claimed[name] {
					continue
				}
				var mine bool
				if err := held.QueryRow(ctx, `select pg_try_advisory_lock(hashtextextended($1, 0))`, name).Scan(&mine); err != nil {
					return err
				}
				if !mine {
					continue
				}
				claimed[name] = true
				running.Go(func() { c.follow(ctx, f, p) })
			}
		}
		// A dead connection has lost its locks: notice it soon.
		for range 4 {
			sleep(ctx, 500*time.Millisecond)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := held.Ping(ctx); err != nil {
				return err
			}
		}
	}
}

// follow handles one partition until ctx ends.
func (c *Consumer) follow(ctx context.Context, f Follow, partition int) {
	for ctx.Err() == nil {
		if err := c.read(ctx, f, partition); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "topic is read again", "topic", f.Topic, "partition", partition, "error", err)
			sleep(ctx, 200*time.Millisecond)
		}
	}
}

func (c *Consumer) read(ctx context.Context, f Follow, partition int) error {
	next, err := c.position(ctx, f.Topic, partition)
	if err != nil {
		return err
	}
	r, err := c.Bus.reader(f.Topic, partition, next)
	if err != nil {
		return err
	}
	defer leave(r)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fetched := make(chan kafka.Message, batchSize)
	failed := make(chan error, 1)
	go func() {
		defer close(fetched)
		for {
			m, err := r.FetchMessage(ctx)
			if err != nil {
				failed <- err
				return
			}
			select {
			case fetched <- m:
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
	}()
	for m := range fetched {
		batch := []kafka.Message{m}
	more:
		for len(batch) < batchSize {
			select {
			case m, ok := <-fetched:
				if !ok {
					break more
				}
				batch = append(batch, m)
			default:
				break more
			}
		}
		if next, err = c.handle(ctx, f, partition, next, batch); err != nil {
			return err
		}
	}
	return <-failed
}

// position is the offset to go on from.
func (c *Consumer) position(ctx context.Context, topic string, partition int) (next int64, err error) {
	first, end, err := c.Bus.bounds(ctx, topic, partition)
	if err != nil {
		return 0, err
	}
	err = c.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `insert into position (topic, partition, next) values ($1, $2, $3) on conflict do nothing`, topic, partition, first)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `select next from position where (topic, partition) = ($1, $2) for update`, topic, partition).Scan(&next); err != nil {
			return err
		}
		if next >= first && next <= end {
			return nil
		}
		// The topic was made anew, or kept less than we were away. The inbox knows what was handled.
		slog.WarnContext(ctx, "position is outside the topic", "topic", topic, "partition", partition, "position", next, "first", first, "end", end)
		next = first
		_, err = tx.Exec(ctx, `update position set next = $3 where (topic, partition) = ($1, $2)`, topic, partition, next)
		return err
	})
	return next, err
}

// handle runs the effects of batch and moves the position behind it. A batch that fails is taken one by
// one, so that one bad message costs the others nothing.
func (c *Consumer) handle(ctx context.Context, f Follow, partition int, next int64, batch []kafka.Message) (int64, error) {
	err := c.effect(ctx, f, partition, next, batch)
	if err == nil {
		return batch[len(batch)-1].Offset + 1, nil
	}
	if len(batch) > 1 && !errors.Is(err, errMoved) {
		for _, m := range batch {
			if next, err = c.handle(ctx, f, partition, next, []kafka.Message{m}); err != nil {
				return next, err
			}
		}
		return next, nil
	}
	m := batch[0]
	for tries := 0; tries < len(c.Retries); {
		if ctx.Err() != nil || errors.Is(err, errMoved) {
			return next, err
		}
		// An outage is not the message's fault: it is waited out.
		if fault.Transient(err) {
			sleep(ctx, 200*time.Millisecond)
		} else {
			sleep(ctx, c.Retries[tries])
			tries++
		}
		if err = c.effect(ctx, f, partition, next, batch); err == nil {
			return m.Offset + 1, nil
		}
	}
	slog.ErrorContext(ctx, "message parked", "topic", m.Topic, "partition", partition, "offset", m.Offset, "error", err)
	cause := err
	err = c.DB.Do(ctx, func(tx *db.Tx) error {
		if err := move(ctx, tx, f.Topic, partition, next, m.Offset+1); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `insert into parked (topic, partition, "offset", key, value, error) values ($1, $2, $3, $4, $5, $6)`,
			m.Topic, m.Partition, m.Offset, string(m.Key), m.Value, cause.Error())
		return err
	})
	if err != nil {
		return next, err
	}
	return m.Offset + 1, nil
}

var errMoved = errors.New("bus: another replica has moved on")

// move is a compare-and-set: a replica that has lost its claim without noticing changes nothing.
func move(ctx context.Context, tx *db.Tx, topic string, partition int, from, to int64) error {
	tag, err := tx.Exec(ctx, `update position set next = $4 where (topic, partition, next) = ($1, $2, $3)`, topic, partition, from, to)
	if err == nil && tag.RowsAffected() == 0 {
		return errMoved
	}
	return err
}

func (c *Consumer) effect(ctx context.Context, f Follow, partition int, next int64, batch []kafka.Message) error {
	events := make([]Event, len(batch))
	for i, m := range batch {
		e, err := decode(m)
		if err != nil {
			return err
		}
		events[i] = e
	}
	err := c.DB.Do(ctx, func(tx *db.Tx) error {
		if err := move(ctx, tx, f.Topic, partition, next, batch[len(batch)-1].Offset+1); err != nil {
			return err
		}
		return apply(ctx, tx, f, events)
	})
	if err == nil && c.delay != nil {
		for _, e := range events {
			c.delay.Record(ctx, time.Since(batch[0].Time).Seconds(), metric.WithAttributes(attribute.String("topic", e.Topic)))
		}
	}
	return err
}

// apply runs the handler for each event that the inbox does not know yet.
func apply(ctx context.Context, tx *db.Tx, f Follow, events []Event) error {
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	rows, err := tx.Query(ctx, `insert into inbox (event) select unnest($1::uuid[]) on conflict do nothing returning event`, ids)
	if err != nil {
		return err
	}
	fresh, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	isNew := make(map[uuid.UUID]bool, len(fresh))
	for _, id := range fresh {
		isNew[id] = true
	}
	for _, e := range events {
		if !isNew[e.ID] {
			continue
		}
		delete(isNew, e.ID)
		tx.Who = e.Actor
		ctx := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": e.traceparent})
		ctx, span := otel.Tracer("frontdesk").Start(ctx, "consume "+e.Kind, trace.WithSpanKind(trace.SpanKindConsumer))
		err := f.Handle(ctx, tx, e)
		span.End()
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.Kind, e.Key, err)
		}
	}
	return nil
}

// Parked is a message that could not be handled.
type Parked struct {
	ID       int64     `json:"id"`
	Topic    string    `json:"topic"`
	Offset   int64     `json:"offset"`
	Key      string    `json:"key"`
	Error    string    `json:"error"`
	ParkedAt time.Time `json:"parked_at"`
}

// Parked lists what waits for somebody to look, oldest first, at most 100.
func (c *Consumer) Parked(ctx context.Context) ([]Parked, error) {
	rows, err := c.DB.Pool.Query(ctx, `select id, topic, "offset", key, error, parked_at from parked order by id limit 100`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Parked])
}

// Replay handles a parked message again and forgets it when that works.
func (c *Consumer) Replay(ctx context.Context, id int64) error {
	return c.DB.Do(ctx, func(tx *db.Tx) error {
		var m kafka.Message
		var key string
		err := tx.QueryRow(ctx, `delete from parked where id = $1 returning topic, partition, "offset", key, value`, id).
			Scan(&m.Topic, &m.Partition, &m.Offset, &key, &m.Value)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.NotFound("parked message")
		}
		if err != nil {
			return err
		}
		m.Key = []byte(key)
		e, err := decode(m)
		if err != nil {
			return err
		}
		for _, f := range c.Follows {
			if f.Topic == m.Topic {
				return apply(ctx, tx, f, []Event{e})
			}
		}
		return fmt.Errorf("bus: nothing follows %s", m.Topic)
	})
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
