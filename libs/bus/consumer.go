package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/relay"
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
	// Lock takes what handling all of several events will lock, in the service's order of locks; nil where a handler takes
	// no lock before it writes. Without it two transactions that each handle many events could wait for each other.
	Lock func(ctx context.Context, tx *db.Tx, events []Event) error
	// Keys lists keys of the service's copy of a record topic behind after, in their order, limit at most; nil for a topic of which
	// the service keeps no copy. After a long absence the handler gets a tombstone for each that the topic has no longer.
	Keys func(ctx context.Context, tx *db.Tx, after string, limit int) ([]string, error)
	// Later does in the transaction of a rehearsal what a worker or job will do because of events that were handled in it, and of no others; nil where
	// handling them is all.
	Later func(ctx context.Context, tx *db.Tx, events []Event) error
}

// Consumer follows topics for one service. Its replicas are a Kafka consumer group, named like the service's schema, which
// deals the partitions of all topics evenly. How far a partition is handled stands in the table position, and moves by
// compare-and-set in the transaction of the effect: a replica that believes to hold a partition which another one took over
// changes nothing. The group gets the positions a moment later.
type Consumer struct {
	Bus     *Bus
	DB      *db.DB
	Follows []Follow
	// Member is the name of this replica, such as its host and port. A process takes the place of the one that ran under the same
	// name before and was killed. Run chooses one when it is empty.
	Member string
	// retries are the waits before each retry of a message that fails by itself; after the last it is parked.
	retries []time.Duration
	// kept is how long topics keep every change, where a test says so.
	kept time.Duration

	held        held
	delay       metric.Float64Histogram
	resets      metric.Int64Counter
	parked      metric.Int64Counter
	generations metric.Int64Counter
}

// defaultRetries retry a message for about four seconds before it is parked.
var defaultRetries = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 3 * time.Second}

const (
	batchSize = 100
	// Under load a consumer waits between batches, so that more messages share the cost of a transaction: pausePerHandled for each
	// message of the last batch, batchPause at most.
	batchPause      = 15 * time.Millisecond
	pausePerHandled = 2 * time.Millisecond
)

func (c *Consumer) prepare() {
	if c.retries == nil {
		c.retries = defaultRetries
	}
	if c.Member == "" {
		c.Member = db.NewID().String()
	}
	c.delay, _ = otel.Meter("frontdesk").Float64Histogram("frontdesk.event.seconds",
		metric.WithDescription("from the commit of the change to its effect here"), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.002, .005, .01, .02, .05, .1, .25, .5, 1, 5, 30, 300))
	c.resets, _ = otel.Meter("frontdesk").Int64Counter("frontdesk.position.resets", metric.WithUnit("{reset}"),
		metric.WithDescription("logs that are read again from their first message, because they are not the ones that were read"))
	c.parked, _ = otel.Meter("frontdesk").Int64Counter("frontdesk.consumer.parked", metric.WithUnit("{message}"), metric.WithDescription("messages that could not be handled, by topic"))
	for _, f := range c.Follows {
		// An alert sees the first one only behind a 0.
		c.resets.Add(context.Background(), 0, metric.WithAttributes(attribute.String("topic", f.Topic)))
		c.parked.Add(context.Background(), 0, metric.WithAttributes(attribute.String("topic", f.Topic)))
	}
	c.generations, _ = otel.Meter("frontdesk").Int64Counter("frontdesk.consumer.rebalances", metric.WithUnit("{rebalance}"),
		metric.WithDescription("how often the group has dealt its partitions anew, as this replica saw it"))
}

// AtOnce is how many transactions of a topic a consumer runs at the same time: half of the processors, at least one.
func AtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// line follows some partitions of a topic together: messages of several share a transaction.
type line struct {
	*Consumer
	follow     Follow
	partitions []int
	progress   *progress
}

// waitForGroup is the pause after another replica has moved a position. A replica of an older generation learns within it that
// its time is over.
const waitForGroup = 2 * heartbeat

func (l *line) run(ctx context.Context) {
	pause := readAgain
	for ctx.Err() == nil {
		begun := time.Now()
		err := l.read(ctx)
		if ctx.Err() != nil {
			return
		}
		slog.WarnContext(ctx, "topic is read again", "topic", l.follow.Topic, "error", err)
		if pause *= 2; time.Since(begun) > readAgainAtMost {
			pause = readAgain
		}
		if errors.Is(err, errMoved) {
			db.Sleep(ctx, waitForGroup)
		} else {
			db.Sleep(ctx, min(pause, readAgainAtMost))
		}
	}
}

const (
	// readAgain is the pause before a topic is read again, which doubles while that fails, up to readAgainAtMost.
	readAgain       = 100 * time.Millisecond
	readAgainAtMost = time.Second
	// checkEvery is how often a line looks whether the log is still the one that it reads.
	checkEvery = 30 * time.Second
)

// offsets are places in the partitions of a topic.
type offsets map[int]int64

// errBack means that a broker answers again for a partition that waited for it.
var errBack = errors.New("bus: a partition has its broker again")

// await returns errBack once one of the partitions has a broker again.
func (l *line) await(ctx context.Context, missing []relay.Partition) error {
	for {
		db.Sleep(ctx, readAgainAtMost)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if bounds, err := l.Bus.Bounds(ctx, missing); err == nil && len(bounds) > 0 {
			return errBack
		}
	}
}

// read handles messages until ctx ends or a reader or a batch fails. A partition without a broker is left out until it has one again. It begins by comparing the positions with the log. A log
// can lose messages only while its broker is away, or by being deleted: both fail the fetch that always runs. So a reader fails
// for good instead of connecting again, and the next read compares the positions anew before it handles anything.
func (l *line) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	defer cancel()
	since, err := l.since(ctx)
	if err != nil {
		return err
	}
	of := make([]relay.Partition, len(l.partitions))
	for i, p := range l.partitions {
		of[i] = relay.Partition{Topic: l.follow.Topic, Number: p}
	}
	bounds, err := l.Bus.Bounds(ctx, of)
	if err != nil {
		return err
	}
	at, missing := stands{}, []relay.Partition{}
	fetched, failed := make(chan delivery, batchSize), make(chan error, 1)
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	for _, p := range of {
		from, err := stand{}, error(away{errors.New("no broker leads it")})
		if log, answers := bounds[p]; answers {
			from, err = l.position(ctx, p, log)
		}
		if _, silent := errors.AsType[away](err); silent {
			missing = append(missing, p)
			slog.WarnContext(ctx, "a partition waits for its broker", "topic", p.Topic, "partition", p.Number, "error", err)
			continue
		}
		if err != nil {
			return err
		}
		at[p.Number] = from
	}
	for p, from := range at {
		r, err := l.Bus.reader(relay.Partition{Topic: l.follow.Topic, Number: p}, from.next, fail)
		if err != nil {
			return err
		}
		defer leave(r)
		fetching.Go(func() {
			check := l.Bus.checker(l.follow.Topic)
			check.begin(from)
			if err := check.fetch(ctx, r, fetched); err != nil {
				fail(err)
			}
		})
	}
	if len(missing) > 0 {
		fetching.Go(func() { fail(l.await(ctx, missing)) })
	}
	defer l.held.take(l.follow.Topic, at.offsets())()
	l.progress.moved(l.follow.Topic, at.offsets())
	check := time.NewTicker(min(checkEvery, l.keptFor()/10))
	defer check.Stop()
	var rested time.Time // when the pause after the last batch ends
	for {
		var batch []delivery
		select {
		case err := <-failed:
			return err
		case <-check.C:
			if err := l.check(ctx, at); err != nil {
				return err
			}
			continue
		case m := <-fetched:
			batch = append(batch, m)
		}
		if p := time.Until(rested); p > 0 {
			db.Sleep(ctx, p)
		}
		for waiting := true; waiting && len(batch) < batchSize; {
			select {
			case m := <-fetched:
				batch = append(batch, m)
			default:
				waiting = false
			}
		}
		// A message that was fetched over a new connection comes after the failure of the one before.
		select {
		case err := <-failed:
			return err
		default:
		}
		for _, m := range batch {
			l.held.begin(relay.Partition{Topic: m.Topic, Number: m.Partition}, m.Time)
		}
		if err := l.handle(ctx, since, at, batch); err != nil {
			return err
		}
		l.held.moved(l.follow.Topic, at.offsets())
		l.progress.moved(l.follow.Topic, at.offsets())
		rested = time.Now().Add(min(batchPause, time.Duration(len(batch))*pausePerHandled))
	}
}

// delivery is a message of the log, opened if it was sealed to this service.
type delivery struct {
	kafka.Message
	// mark is that of the message as it stands in the log.
	mark uuid.UUID
	// stamp is the highest up to here.
	stamp int64
	// refused messages are passed over.
	refused bool
	// sealed is why the message could not be opened.
	sealed error
}

// deliver checks and opens a message.
func (c *checker) deliver(ctx context.Context, m kafka.Message) delivery {
	d := delivery{Message: m, mark: mark(m.Key, m.Value, m.Time)}
	_, _, err := c.check(ctx, m)
	d.refused, d.stamp = err != nil, c.newest[c.topic.Owner]
	if d.refused {
		return d
	}
	if c.topic.SealedTo != "" && m.Value != nil {
		var plain []byte
		if plain, d.sealed = c.bus.Trust.Open(m.Topic, string(m.Key), m.Value); d.sealed == nil {
			d.Value = plain
		}
	}
	return d
}

func (c *checker) fetch(ctx context.Context, r *kafka.Reader, into chan<- delivery) error {
	for {
		m, err := r.FetchMessage(ctx)
		if err != nil {
			return err
		}
		select {
		case into <- c.deliver(ctx, m):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle applies batch and moves at, the positions, behind it. A batch that fails is handled again message by message, so
// that one bad message only delays the others. What was published before since is history.
func (l *line) handle(ctx context.Context, since time.Time, at stands, batch []delivery) error {
	to := behind(batch)
	err := l.effect(ctx, since, at, to, batch)
	if err == nil {
		maps.Copy(at, to.stands())
		return nil
	}
	if len(batch) > 1 && !errors.Is(err, errMoved) {
		for _, m := range batch {
			if err := l.handle(ctx, since, at, []delivery{m}); err != nil {
				return err
			}
		}
		return nil
	}
	m := batch[0]
	for tries := 0; tries < len(l.retries); {
		if ctx.Err() != nil || errors.Is(err, errMoved) {
			return err
		}
		// The message did not cause an outage, so that is not counted as a retry.
		if fault.Transient(err) {
			db.Sleep(ctx, 200*time.Millisecond)
		} else {
			db.Sleep(ctx, l.retries[tries])
			tries++
		}
		if err = l.effect(ctx, since, at, to, batch); err == nil {
			maps.Copy(at, to.stands())
			return nil
		}
	}
	if ctx.Err() != nil {
		return err // the process stops; the error says nothing about the message
	}
	e, undecoded := decode(m.Message)
	if undecoded != nil {
		e.At = m.Time // it has no trace either
	}
	slog.ErrorContext(e.traced(ctx), "message parked", "topic", m.Topic, "partition", m.Partition, "offset", m.Offset, "error", err)
	cause := err
	ctx, cancel := finishing(ctx)
	defer cancel()
	err = l.DB.Do(ctx, func(tx *db.Tx) error {
		before, err := move(ctx, tx, l.follow.Topic, at, to, nil)
		if err != nil {
			return err
		}
		if gone, err := aboutSomebodyErased(ctx, tx, m.Message); err != nil || gone {
			return err
		}
		history := m.Offset < before[m.Partition] || l.history(e, since, l.DB.Now())
		_, err = tx.Exec(ctx, `insert into parked (topic, partition, "offset", key, value, error, history) values ($1, $2, $3, $4, $5, $6, $7)`,
			m.Topic, m.Partition, m.Offset, strings.ToValidUTF8(strings.ReplaceAll(string(m.Key), "\x00", ""), "?"), m.Value, cause.Error(), history)
		return err
	})
	if err == nil {
		maps.Copy(at, to.stands())
		l.parked.Add(ctx, 1, metric.WithAttributes(attribute.String("topic", m.Topic)))
	}
	return err
}

// last are the last messages of a batch, by partition.
type last map[int]delivery

func behind(batch []delivery) last {
	to := last{}
	for _, m := range batch {
		to[m.Partition] = m
	}
	return to
}

// stands are those behind the messages.
func (to last) stands() stands {
	at := stands{}
	for partition, m := range to {
		at[partition] = stand{next: m.Offset + 1, anchor: m.mark, stamp: m.stamp}
	}
	return at
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

// move sets the positions from one place to behind some messages, and fails with errMoved when one is not where it was: another
// replica has taken the partition over. It returns the offsets before which messages are history. Statements in more share its
// round trip.
func move(ctx context.Context, tx *db.Tx, topic string, from stands, to last, more *pgx.Batch) (history offsets, err error) {
	partitions := slices.Sorted(maps.Keys(to)) // rows are locked in one order
	before, after := make([]int64, len(partitions)), make([]int64, len(partitions))
	anchors, stamps, at := make([]uuid.UUID, len(partitions)), make([]int64, len(partitions)), make([]time.Time, len(partitions))
	for i, p := range partitions {
		before[i], after[i], anchors[i], stamps[i], at[i] = from[p].next, to[p].Offset+1, to[p].mark, to[p].stamp, to[p].Time
	}
	history = offsets{}
	b := &pgx.Batch{}
	b.Queue(`update position p set next = m.after, anchor = m.anchor, stamp = m.stamp, current_at = greatest(p.current_at, m.at)
		from unnest($2::int[], $3::bigint[], $4::bigint[], $5::uuid[], $6::bigint[], $7::timestamptz[]) as m (partition, before, after, anchor, stamp, at)
		where p.topic = $1 and p.partition = m.partition and p.next = m.before returning p.partition, p.history`,
		topic, partitions, before, after, anchors, stamps, at).Query(func(rows pgx.Rows) error {
		var partition int
		var until int64
		_, err := pgx.ForEachRow(rows, []any{&partition, &until}, func() error { history[partition] = until; return nil })
		return err
	})
	if more != nil {
		b.QueuedQueries = append(b.QueuedQueries, more.QueuedQueries...)
	}
	err = tx.SendBatch(ctx, b).Close()
	if err == nil && len(history) < len(partitions) {
		err = errMoved
	}
	return history, err
}

func (l *line) effect(ctx context.Context, since time.Time, from stands, to last, batch []delivery) error {
	batch = slices.DeleteFunc(slices.Clone(batch), func(m delivery) bool { return m.refused })
	events, now := make([]Event, len(batch)), l.DB.Now()
	for i, m := range batch {
		if m.sealed != nil {
			return m.sealed
		}
		e, err := decode(m.Message)
		if err != nil {
			return err
		}
		e.History = l.history(e, since, now)
		events[i] = e
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	err := l.DB.Do(ctx, func(tx *db.Tx) error {
		// A crash that loses the effect loses the position with it, so the messages are handled again.
		tx.Relax()
		tx.AfterCommit(l.DB.WakeWorkers)
		fresh, events := map[uuid.UUID]bool{}, slices.Clone(events)
		history, err := move(ctx, tx, l.follow.Topic, from, to, inbox(events, fresh))
		if err != nil {
			return err
		}
		for i, m := range batch {
			events[i].History = events[i].History || m.Offset < history[m.Partition]
		}
		return apply(ctx, tx, l.follow, events, fresh)
	})
	if err == nil && l.delay != nil {
		for i, e := range events {
			l.delay.Record(e.traced(ctx), max(0, time.Since(committed(batch[i].Message)).Seconds()), metric.WithAttributes(attribute.String("topic", e.Topic)))
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
	if f.Lock != nil && len(fresh) > 1 {
		if err := f.Lock(ctx, tx, events); err != nil {
			return fmt.Errorf("lock for %d events of %s: %w", len(events), f.Topic, err)
		}
	}
	tracer := otel.Tracer("frontdesk") // each call costs as much as a span
	for _, e := range events {
		if !fresh[e.ID] || e.Kind == proto.KindStatePublished {
			continue
		}
		delete(fresh, e.ID)
		tx.Who, tx.History = e.Actor, e.History
		ctx, span := tracer.Start(e.traced(ctx), "consume "+e.Kind, trace.WithSpanKind(trace.SpanKindConsumer))
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
	return db.Rows[Parked](ctx, c.DB.Pool, `select id, topic, "offset", key, error, parked_at from parked order by id limit 100`)
}

// Replay handles a parked message again and deletes it when that succeeds; else it stays, with the error of this try. An unknown id is 404.
func (c *Consumer) Replay(ctx context.Context, id int64) error {
	err := c.replay(ctx, id)
	if err == nil || fault.Transient(err) {
		return err
	}
	noted := c.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `update parked set error = $2 where id = $1`, id, err.Error())
		return err
	})
	return errors.Join(err, noted)
}

func (c *Consumer) replay(ctx context.Context, id int64) error {
	return c.DB.Do(ctx, func(tx *db.Tx) error {
		var m kafka.Message
		var key string
		var history bool
		err := tx.QueryRow(ctx, `delete from parked where id = $1 returning topic, partition, "offset", key, value, history`, id).
			Scan(&m.Topic, &m.Partition, &m.Offset, &key, &m.Value, &history)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.NotFound("parked message")
		}
		if err != nil {
			return err
		}
		m.Key = []byte(key)
		// It was sealed to a key that was missing when it was parked.
		if m.Value != nil {
			if m.Value, err = c.Bus.Trust.Open(m.Topic, key, m.Value); err != nil {
				return err
			}
		}
		e, err := decode(m)
		if err != nil {
			return err
		}
		// A backup from before a replay has the message once more.
		if err := tx.QueryRow(ctx, `select $4 or exists (select from position where (topic, partition) = ($1, $2) and history > $3)`,
			m.Topic, m.Partition, m.Offset, e.History || history).Scan(&e.History); err != nil {
			return err
		}
		for _, f := range c.Follows {
			if f.Topic == m.Topic {
				fresh := map[uuid.UUID]bool{}
				if err := tx.SendBatch(ctx, inbox([]Event{e}, fresh)).Close(); err != nil {
					return err
				}
				if err := apply(ctx, tx, f, []Event{e}, fresh); err != nil {
					return err
				}
				tx.Who = db.ActorFrom(ctx)
				return tx.Audit(ctx, &proto.Audit{Action: "replay-parked", RecordType: "parked_message", RecordId: strconv.FormatInt(id, 10), Outcome: "done"})
			}
		}
		return fmt.Errorf("bus: nothing follows %s", m.Topic)
	})
}
