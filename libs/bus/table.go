package bus

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/bell"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// Table is a topic of one partition in memory: the newest value of each key, by version. While the brokers are down it serves
// the values that it has. It takes no message of a signed topic but from the service that signs there.
//
// If the topic loses messages or is made anew, the table keeps its values and reads the topic from its beginning. It drops a
// key only once the owner has published its state again and the key was not among it. Until then the metric frontdesk.table.whole is 0,
// and the table is as good as before the loss: to refuse requests would make an outage of a lost topic.
type Table[T any] struct{ *follower }

// follower is a table without the type of its values. The compiler makes the methods of a generic type anew in every package that knows of one of
// its tables, which was a quarter of the code of each room, so Table has few of them.
type follower struct {
	bus    *Bus
	topic  proto.Topic
	decode func(key string, value []byte) (any, int64, error)
	check  time.Duration

	mu      sync.RWMutex
	rows    map[string]row
	gone    map[string]gone
	pruned  time.Time
	changed bell.Bell // rung by each change
	watch   []func(key string, value any, gone bool)
	ready   atomic.Bool
	whole   atomic.Bool
	current atomic.Int64 // when the table was last seen to have all of its topic, in milliseconds since 1970
	refused atomic.Int64
	failed  atomic.Pointer[error]

	place place
}

// row is a value, its version, and when it was read.
type row struct {
	value   any
	version int64
	pass    int
	at      time.Time
}

// gone is the last version of a key that was deleted a short time ago.
type gone struct {
	version int64
	at      time.Time
}

// place is how far a table has read. A pass begins at the first message of the topic.
type place struct {
	mu   sync.Mutex
	pass int
	stand
	// checked verifies the messages of the pass. read are the highest stamps of the passes before, by service: a message up to
	// them has been applied.
	checked *checker
	read    map[string]int64
	// marker is the id of the last state.published.
	marker string
	// sweep says when keys that the pass has not seen are dropped.
	sweep sweep
}

// sweep is when keys are dropped that the present pass has not seen.
type sweep int

const (
	never sweep = iota
	// atEnd: the topic is whole, but its messages behind the place of the table were compacted or dropped meanwhile.
	atEnd
	// atMarker: the topic has lost messages, so only the owner knows which keys there are.
	atMarker
)

const (
	// checkTable is how often a table verifies that the topic still has the message that it read last.
	checkTable = 10 * time.Second
	// rememberGone is how long a value must be newer than the one that was deleted: longer than any relay can be late.
	rememberGone = 10 * time.Minute
)

// errLost means that the topic does not have the message that was read last.
var errLost = errors.New("bus: the topic has lost messages or was made anew")

// NewTable makes an empty table, which Run fills. decode returns the value and its version, 0 if it has none. A value that decode refuses is
// logged, and the key keeps its value before. An older version never replaces a newer one.
func NewTable[T any](b *Bus, topic string, decode func(key string, value []byte) (T, int64, error)) *Table[T] {
	return &Table[T]{newFollower(b, topic, func(key string, value []byte) (any, int64, error) { return decode(key, value) })}
}

func newFollower(b *Bus, topic string, decode func(key string, value []byte) (any, int64, error)) *follower {
	return &follower{bus: b, topic: proto.TopicNamed(topic), decode: decode, check: checkTable,
		rows: map[string]row{}, gone: map[string]gone{}, place: place{checked: b.checker(topic), read: map[string]int64{}}}
}

// NewRecordTable makes a table of a record topic: the newest record of each key, decoded from its JSON.
func NewRecordTable[T any](b *Bus, topic string) *Table[T] {
	return NewTable(b, topic, func(_ string, value []byte) (v T, version int64, err error) {
		env, err := OpenEnvelope(value, &v)
		return v, env.GetVersion(), err
	})
}

// Watch makes f be called for each change, in their order, with the value that is gone for a deletion. f must not call the
// table. Call Watch before Run.
func (t *Table[T]) Watch(f func(key string, value T, gone bool)) {
	t.watch = append(t.watch, func(key string, value any, gone bool) {
		v, _ := value.(T) // a key that was not there has no value
		f(key, v, gone)
	})
}

// Topic is the name of the table's topic.
func (t *follower) Topic() string { return t.topic.Name }

// Ready reports whether the table has read every message that the topic had when Run began.
func (t *follower) Ready() bool { return t.ready.Load() }

// Err is why the topic could not be read last; nil since it could be read again.
func (t *follower) Err() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Refused is how many messages the table has not taken: those that are not signed as the topic says, and those that decode refused.
func (t *follower) Refused() int64 { return t.refused.Load() }

// Get is the value of key.
func (t *Table[T]) Get(key string) (value T, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	value, ok = t.rows[key].value.(T)
	return value, ok
}

// All is a copy of the table.
func (t *Table[T]) All() map[string]T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make(map[string]T, len(t.rows))
	for key, r := range t.rows {
		all[key], _ = r.value.(T)
	}
	return all
}

// Wait returns true once ok does, or false when ctx ends before. ok is called at once and after each change.
func (t *follower) Wait(ctx context.Context, ok func() bool) bool {
	for {
		changed := t.changed.Next()
		if ok() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Put sets a value that did not come from the topic: in tests, and for a service's own writes.
func (t *Table[T]) Put(key string, value T) { t.put(key, value) }

func (t *follower) put(key string, value any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rows[key]
	r.value, r.at = value, time.Now()
	t.set(key, r)
}

// Run follows the topic until ctx ends.
func (t *follower) Run(ctx context.Context) {
	defer t.observe()()
	for ctx.Err() == nil {
		err := t.read(ctx)
		if ctx.Err() != nil {
			return
		}
		t.failed.Store(&err)
		slog.WarnContext(ctx, "table is read again", "topic", t.topic.Name, "error", err)
		if read := t.place.next > 0; read && (errors.Is(err, errLost) || errors.Is(err, kafka.UnknownTopicOrPartition)) {
			t.begin(atMarker)
		}
		db.Sleep(ctx, 200*time.Millisecond)
	}
}

// begin starts a pass, after which keys that it has not seen are dropped.
func (t *follower) begin(s sweep) {
	p := &t.place
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.topic.Owner == "" && s == atMarker {
		s = never // nobody can speak for all keys
	}
	p.pass, p.stand, p.sweep = p.pass+1, stand{}, max(p.sweep, s)
	for service, stamp := range p.checked.newest {
		p.read[service] = max(p.read[service], stamp)
	}
	p.checked = t.bus.checker(t.topic.Name)
	t.setWhole(false)
}

func (t *follower) setWhole(yes bool) {
	if t.whole.Swap(yes) != yes {
		tableWhole.Record(context.Background(), map[bool]int64{true: 1}[yes], metric.WithAttributes(attribute.String("topic", t.topic.Name)))
	}
}

// observe registers the age of the table, until stop is called.
func (t *follower) observe() (stop func()) {
	meter := otel.Meter("frontdesk")
	age, _ := meter.Float64ObservableGauge("frontdesk.table.age", metric.WithUnit("s"),
		metric.WithDescription("time since a table was last seen to have all of its topic, by topic"))
	r, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if at := t.current.Load(); at > 0 {
			o.ObserveFloat64(age, max(0, time.Since(time.UnixMilli(at)).Seconds()), metric.WithAttributes(attribute.String("topic", t.topic.Name)))
		}
		return nil
	}, age)
	if err != nil {
		return func() {}
	}
	return func() { _ = r.Unregister() }
}

var tableWhole, _ = otel.Meter("frontdesk").Int64Gauge("frontdesk.table.whole",
	metric.WithDescription("1 if a table has the state of its topic, 0 until it is read and while its owner has not published a lost topic again"))

// read follows the topic from the table's place, and fails with errLost if the topic is not the one that was read before.
func (t *follower) read(ctx context.Context) error {
	log, err := t.verify(ctx)
	if err != nil {
		return err
	}
	p := &t.place
	if p.next < log.First {
		if p.next > 0 {
			t.begin(atEnd)
		}
		p.mu.Lock()
		p.next = log.First
		p.mu.Unlock()
	}
	t.arrived(log.End)
	r, err := t.bus.reader(t.partition(), p.next, nil)
	if err != nil {
		return err
	}
	defer leave(r)
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() { cancel(t.watchPlace(ctx)) })
	for {
		m, err := r.FetchMessage(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		t.apply(ctx, m)
		p.mu.Lock()
		p.stand = stand{next: m.Offset + 1, anchor: mark(m.Key, m.Value, m.Time)}
		p.mu.Unlock()
		t.arrived(log.End)
	}
}

// watchPlace verifies the place from time to time, and returns why it cannot be followed any more.
func (t *follower) watchPlace(ctx context.Context) error {
	for {
		db.Sleep(ctx, t.check)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		log, err := t.verify(ctx)
		if errors.Is(err, errLost) || errors.Is(err, kafka.UnknownTopicOrPartition) {
			return err
		}
		if err == nil {
			t.arrived(log.End)
		}
	}
}

// verify returns the bounds of the topic, and errLost if the message that was read last is not where it was.
func (t *follower) verify(ctx context.Context) (log relay.Bounds, err error) {
	t.place.mu.Lock()
	at := t.place.stand
	t.place.mu.Unlock()
	if log, err = t.bus.bounds(ctx, t.partition()); err != nil {
		return log, err
	}
	lost, err := t.bus.lost(ctx, t.partition(), at, log)
	if err == nil && lost != "" {
		err = errLost
	}
	return log, err
}

func (t *follower) partition() relay.Partition { return relay.Partition{Topic: t.topic.Name} }

// arrived makes the table ready if it has read the topic up to end, and whole unless its owner has still to publish.
func (t *follower) arrived(end int64) {
	p := &t.place
	p.mu.Lock()
	if p.next < end {
		p.mu.Unlock()
		return
	}
	t.current.Store(time.Now().UnixMilli())
	sweeps, waits := p.sweep == atEnd, p.sweep == atMarker
	if sweeps {
		p.sweep = never
	}
	p.mu.Unlock()
	if sweeps {
		t.drop()
	}
	t.failed.Store(nil)
	t.ready.Store(true)
	t.setWhole(!waits)
}

// drop deletes the keys that the present pass has not seen.
func (t *follower) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, r := range t.rows {
		if r.pass < t.place.pass {
			t.remove(key)
		}
	}
}

func (t *follower) apply(ctx context.Context, m kafka.Message) {
	key := string(m.Key)
	service, stamp, err := t.place.checked.check(ctx, m)
	if err != nil {
		t.refused.Add(1)
		return
	}
	if key == proto.StateKey {
		t.applyMarker(ctx, m)
		return
	}
	if service != "" && stamp <= t.place.read[service] {
		t.seen(key)
		return
	}
	var v any
	var version int64
	if m.Value != nil {
		if v, version, err = t.decode(key, m.Value); err != nil {
			t.refused.Add(1)
			slog.ErrorContext(ctx, "table leaves a value out", "topic", t.topic.Name, "key", key, "offset", m.Offset, "error", err)
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune(m.Time)
	if m.Value == nil {
		if r, ok := t.rows[key]; ok {
			t.gone[key] = gone{r.version, time.Now()}
		}
		t.remove(key)
		return
	}
	before, known := t.rows[key]
	if g, ok := t.gone[key]; ok && version > 0 && version <= g.version {
		return
	}
	if known && version < before.version {
		before.pass = t.place.pass
		t.rows[key] = before
		return
	}
	t.set(key, row{v, version, t.place.pass, m.Time})
}

// seen keeps the row of a key from being dropped at the end of the pass.
func (t *follower) seen(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.rows[key]; ok {
		r.pass = t.place.pass
		t.rows[key] = r
	}
}

// applyMarker drops the keys that the owner has not, if the table waits for that.
func (t *follower) applyMarker(ctx context.Context, m kafka.Message) {
	env, err := OpenEnvelope(m.Value, nil)
	if err != nil {
		slog.ErrorContext(ctx, "the marker behind a state cannot be read", "topic", t.topic.Name, "error", err)
		return
	}
	p := &t.place
	p.mu.Lock()
	fresh := env.GetId() != p.marker
	p.marker = env.GetId()
	sweeps := fresh && p.sweep == atMarker
	if sweeps {
		p.sweep = never
	}
	p.mu.Unlock()
	if sweeps {
		t.drop()
	}
}

// prune forgets deletions, and the values of a topic that drops its messages, by their age. t.mu is held.
func (t *follower) prune(now time.Time) {
	if time.Since(t.pruned) < time.Minute {
		return
	}
	t.pruned = time.Now()
	maps.DeleteFunc(t.gone, func(_ string, g gone) bool { return time.Since(g.at) > rememberGone })
	if t.topic.Keep == 0 {
		return
	}
	for key, r := range t.rows {
		if now.Sub(r.at) > t.topic.Keep {
			t.remove(key)
		}
	}
}

// set and remove change a row and report it. t.mu is held.
func (t *follower) set(key string, r row) {
	t.rows[key] = r
	t.report(key, r.value, false)
}

func (t *follower) remove(key string) {
	r := t.rows[key]
	delete(t.rows, key)
	t.report(key, r.value, true)
}

func (t *follower) report(key string, v any, gone bool) {
	for _, f := range t.watch {
		f(key, v, gone)
	}
	t.changed.Ring()
}
