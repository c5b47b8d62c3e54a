package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Handler applies an event. It runs in one transaction with the position in the topic, with the actor who caused the event
// as tx.Who, and takes effect at most once per event id. Its error rolls the transaction back: one that fault.Transient
// reports is retried until it passes, any other a few times before the message is parked.
type Handler func(ctx context.Context, tx *db.Tx, e Event) error

// Follow binds a topic to its handler. A handler ignores kinds that it does not know.
type Follow struct {
	Topic  string
	Handle Handler
}

// Consumer follows topics for one service. Of several replicas one follows a partition at a time. Its claim is a lock of its
// database connection, so when it dies another replica takes over at once.
type Consumer struct {
	Bus     *Bus
	DB      *db.DB
	Follows []Follow
	// Retries are the waits before each retry of a message that fails by itself; after the last it is parked.
	Retries []time.Duration

	delay metric.Float64Histogram
}

// DefaultRetries retry a message for about four seconds before it is parked.
var DefaultRetries = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 3 * time.Second}

const (
	batchSize = 100
	// Under load a consumer waits between batches, so that more messages share the cost of a transaction.
	batchPause = 15 * time.Millisecond
)

// Run follows all topics until ctx ends. It goes on after outages of brokers and databases.
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

// AtOnce is how many transactions of a topic a consumer runs at the same time: half of the processors, at least one.
func AtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// lead holds one connection whose locks are the claims, and follows the partitions that it could claim. Every two seconds it
// tries to claim the others.
func (c *Consumer) lead(ctx context.Context) error {
	conn, err := c.DB.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// A connection in the pool must not hold these locks.
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

	lines := make([][]*line, len(c.Follows))
	claimed := map[int64]bool{}
	for {
		for i, f := range c.Follows {
			parts, err := c.Bus.partitions(ctx, f.Topic)
			if err != nil {
				return err
			}
			if lines[i] == nil {
				lines[i] = make([]*line, min(len(parts), AtOnce()))
				for l := range lines[i] {
					lines[i][l] = &line{Consumer: c, follow: f, more: make(chan struct{}, 1)}
				}
			}
			for _, p := range parts {
				key := db.LockKey(c.DB.Schema+".consumer", fmt.Sprintf("%s/%d", f.Topic, p))
				if claimed[key] {
					continue
				}
				var mine bool
				if err := held.QueryRow(ctx, `select pg_try_advisory_lock($1)`, key).Scan(&mine); err != nil {
					return err
				}
				if mine {
					claimed[key] = true
					lines[i][p%len(lines[i])].claim(p)
				}
			}
			for _, l := range lines[i] {
				if !l.runs && len(l.claimed()) > 0 {
					l.runs = true
					running.Go(func() { l.run(ctx) })
				}
			}
		}
		// A dead connection has lost its locks: notice within half a second.
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

// line follows some partitions of a topic together: messages of several share a transaction.
type line struct {
	*Consumer
	follow Follow
	runs   bool
	// more signals that a partition was claimed since the readers were started.
	more chan struct{}

	mu         sync.Mutex
	partitions []int
}

func (l *line) claim(partition int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partitions = append(l.partitions, partition)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

func (l *line) claimed() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.partitions)
}

func (l *line) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.read(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "topic is read again", "topic", l.follow.Topic, "error", err)
			sleep(ctx, 200*time.Millisecond)
		}
	}
}

// offsets are places in the partitions of a topic.
type offsets map[int]int64

// read handles messages until one of the readers fails or another partition is claimed.
func (l *line) read(ctx context.Context) error {
	select {
	case <-l.more: // the partitions that it signals are read below
	default:
	}
	ctx, cancel := context.WithCancel(ctx)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	defer cancel()
	next := offsets{}
	fetched, failed := make(chan kafka.Message, batchSize), make(chan error, 1)
	for _, p := range l.claimed() {
		from, err := l.position(ctx, l.follow.Topic, p)
		if err != nil {
			return err
		}
		next[p] = from
		r, err := l.Bus.reader(l.follow.Topic, p, from)
		if err != nil {
			return err
		}
		defer leave(r)
		fetching.Go(func() {
			if err := fetch(ctx, r, fetched); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	var handled time.Time
	for {
		var batch []kafka.Message
		select {
		case err := <-failed:
			return err
		case <-l.more:
			return nil
		case m := <-fetched:
			batch = append(batch, m)
		}
		if time.Since(handled) < batchPause {
			sleep(ctx, batchPause)
		}
		for waiting := true; waiting && len(batch) < batchSize; {
			select {
			case m := <-fetched:
				batch = append(batch, m)
			default:
				waiting = false
			}
		}
		if err := l.handle(ctx, l.follow, next, batch); err != nil {
			return err
		}
		handled = time.Now()
	}
}

func fetch(ctx context.Context, r *kafka.Reader, into chan<- kafka.Message) error {
	for {
		m, err := r.FetchMessage(ctx)
		if err != nil {
			return err
		}
		select {
		case into <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// position is the offset of the next message to handle. It is the first that the topic keeps when the service is new or the
// stored position lies outside the topic.
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
		// The topic was recreated, or has deleted messages that were not handled yet. The inbox skips those that were.
		slog.WarnContext(ctx, "position is outside the topic", "topic", topic, "partition", partition, "position", next, "first", first, "end", end)
		next = first
		_, err = tx.Exec(ctx, `update position set next = $3 where (topic, partition) = ($1, $2)`, topic, partition, next)
		return err
	})
	return next, err
}

// handle applies batch and moves next, the positions, behind it. A batch that fails is handled again message by message, so
// that one bad message only delays the others.
func (c *Consumer) handle(ctx context.Context, f Follow, next offsets, batch []kafka.Message) error {
	to := offsets{}
	for _, m := range batch {
		to[m.Partition] = m.Offset + 1
	}
	err := c.effect(ctx, f, next, to, batch)
	if err == nil {
		maps.Copy(next, to)
		return nil
	}
	if len(batch) > 1 && !errors.Is(err, errMoved) {
		for _, m := range batch {
			if err := c.handle(ctx, f, next, []kafka.Message{m}); err != nil {
				return err
			}
		}
		return nil
	}
	m := batch[0]
	for tries := 0; tries < len(c.Retries); {
		if ctx.Err() != nil || errors.Is(err, errMoved) {
			return err
		}
		// The message did not cause an outage, so that is not counted as a retry.
		if fault.Transient(err) {
			sleep(ctx, 200*time.Millisecond)
		} else {
			sleep(ctx, c.Retries[tries])
			tries++
		}
		if err = c.effect(ctx, f, next, to, batch); err == nil {
			maps.Copy(next, to)
			return nil
		}
	}
	slog.ErrorContext(ctx, "message parked", "topic", m.Topic, "partition", m.Partition, "offset", m.Offset, "error", err)
	cause := err
	err = c.DB.Do(ctx, func(tx *db.Tx) error {
		if err := move(ctx, tx, f.Topic, next, to, nil); err != nil {
			return err
		}
		if gone, err := aboutSomebodyErased(ctx, tx, m); err != nil || gone {
			return err
		}
		_, err := tx.Exec(ctx, `insert into parked (topic, partition, "offset", key, value, error) values ($1, $2, $3, $4, $5, $6)`,
			m.Topic, m.Partition, m.Offset, string(m.Key), m.Value, cause.Error())
		return err
	})
	if err == nil {
		maps.Copy(next, to)
	}
	return err
}

// aboutSomebodyErased reports whether a message is about a person who was erased after it was made, so that it must not be
// kept. A message that erases somebody is kept.
func aboutSomebodyErased(ctx context.Context, tx *db.Tx, m kafka.Message) (bool, error) {
	e, err := decode(m)
	if err != nil {
		e.At = m.Time
	}
	if e.Tombstone || m.Topic == proto.ForgetTopic {
		return false, nil
	}
	p, err := tx.ForgottenSince(ctx, e.At)
	return err == nil && db.Mentions(p, db.Message{Topic: m.Topic, Key: string(m.Key), Value: m.Value}), err
}

var errMoved = errors.New("bus: another replica has moved on")

// move sets the positions from one offset to another, and fails with errMoved when one is not where it was: another replica
// has taken the partition over. Statements in more share its round trip.
func move(ctx context.Context, tx *db.Tx, topic string, from, to offsets, more *pgx.Batch) error {
	partitions := slices.Sorted(maps.Keys(to)) // rows are locked in one order
	before, after := make([]int64, len(partitions)), make([]int64, len(partitions))
	for i, p := range partitions {
		before[i], after[i] = from[p], to[p]
	}
	var moved int64
	b := &pgx.Batch{}
	b.Queue(`update position p set next = m.after from unnest($2::int[], $3::bigint[], $4::bigint[]) as m (partition, before, after)
		where p.topic = $1 and p.partition = m.partition and p.next = m.before`, topic, partitions, before, after).Exec(func(tag pgconn.CommandTag) error {
		moved = tag.RowsAffected()
		return nil
	})
	if more != nil {
		b.QueuedQueries = append(b.QueuedQueries, more.QueuedQueries...)
	}
	err := tx.SendBatch(ctx, b).Close()
	if err == nil && moved < int64(len(partitions)) {
		return errMoved
	}
	return err
}

func (c *Consumer) effect(ctx context.Context, f Follow, from, to offsets, batch []kafka.Message) error {
	events := make([]Event, len(batch))
	for i, m := range batch {
		e, err := decode(m)
		if err != nil {
			return err
		}
		events[i] = e
	}
	err := c.DB.Do(ctx, func(tx *db.Tx) error {
		// A crash that loses the effect loses the position with it, so the messages are handled again.
		tx.Relax()
		fresh := map[uuid.UUID]bool{}
		if err := move(ctx, tx, f.Topic, from, to, inbox(events, fresh)); err != nil {
			return err
		}
		return apply(ctx, tx, f, events, fresh)
	})
	if err == nil && c.delay != nil {
		for i, e := range events {
			c.delay.Record(ctx, time.Since(batch[i].Time).Seconds(), metric.WithAttributes(attribute.String("topic", e.Topic)))
		}
	}
	return err
}

// inbox stores the ids of events and adds those that are new to fresh.
func inbox(events []Event, fresh map[uuid.UUID]bool) *pgx.Batch {
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	b := &pgx.Batch{}
	b.Queue(`insert into inbox (event) select unnest($1::uuid[]) on conflict do nothing returning event`, ids).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		for _, id := range found {
			fresh[id] = true
		}
		return err
	})
	return b
}

// apply runs the handler for each event that is fresh.
func apply(ctx context.Context, tx *db.Tx, f Follow, events []Event, fresh map[uuid.UUID]bool) error {
	for _, e := range events {
		if !fresh[e.ID] {
			continue
		}
		delete(fresh, e.ID)
		tx.Who = e.Actor
		ctx := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": e.traceparent})
		ctx, span := otel.Tracer("frontdesk").Start(ctx, "consume "+e.Kind, trace.WithSpanKind(trace.SpanKindConsumer))
		err := f.Handle(ctx, tx, e)
		span.End()
		if err != nil {
			// Not its key: a command's may be an address.
			return fmt.Errorf("%s %s: %w", e.Kind, e.ID, err)
		}
	}
	return nil
}

// Parked is a message that failed after all retries.
type Parked struct {
	ID       int64     `json:"id"`
	Topic    string    `json:"topic"`
	Offset   int64     `json:"offset"`
	Key      string    `json:"key"`
	Error    string    `json:"error"`
	ParkedAt time.Time `json:"parked_at"`
}

// Parked lists the oldest 100 parked messages.
func (c *Consumer) Parked(ctx context.Context) ([]Parked, error) {
	rows, err := c.DB.Pool.Query(ctx, `select id, topic, "offset", key, error, parked_at from parked order by id limit 100`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Parked])
}

// Replay handles a parked message again and deletes it when that succeeds; else it stays. An unknown id is 404.
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
				fresh := map[uuid.UUID]bool{}
				if err := tx.SendBatch(ctx, inbox([]Event{e}, fresh)).Close(); err != nil {
					return err
				}
				return apply(ctx, tx, f, []Event{e}, fresh)
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
