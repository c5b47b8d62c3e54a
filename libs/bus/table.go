package bus

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

// Table is a compacted topic of one partition in memory: the newest value of each key. While the brokers are down it serves
// the values that it has.
type Table[T any] struct {
	bus    *Bus
	topic  string
	decode func(key string, value []byte) (T, error)

	mu      sync.RWMutex
	rows    map[string]T
	changed chan struct{} // closed and renewed by each change
	watch   []func(key string, value T, gone bool)
	ready   atomic.Bool
}

// NewTable makes an empty table, which Run fills. A value that decode refuses is logged, and the key keeps its value before.
func NewTable[T any](b *Bus, topic string, decode func(key string, value []byte) (T, error)) *Table[T] {
	return &Table[T]{bus: b, topic: topic, decode: decode, rows: map[string]T{}, changed: make(chan struct{})}
}

// NewRecordTable makes a table of a record topic: the newest record of each key, decoded from its JSON.
func NewRecordTable[T any](b *Bus, topic string) *Table[T] {
	return NewTable(b, topic, func(_ string, value []byte) (v T, err error) {
		_, err = OpenEnvelope(value, &v)
		return v, err
	})
}

// Watch makes f be called for each change, in their order, with the value that is gone for a deletion. f must not call the
// table. Call Watch before Run.
func (t *Table[T]) Watch(f func(key string, value T, gone bool)) { t.watch = append(t.watch, f) }

// Ready reports whether the table has read every message that the topic had when Run began.
func (t *Table[T]) Ready() bool { return t.ready.Load() }

// Get is the value of key.
func (t *Table[T]) Get(key string) (T, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	v, ok := t.rows[key]
	return v, ok
}

// All is a copy of the table.
func (t *Table[T]) All() map[string]T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return maps.Clone(t.rows)
}

// Wait returns true once ok does, or false when ctx ends before. ok is called at once and after each change.
func (t *Table[T]) Wait(ctx context.Context, ok func() bool) bool {
	for {
		t.mu.RLock()
		changed := t.changed
		t.mu.RUnlock()
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
func (t *Table[T]) Put(key string, value T) { t.set(key, value, false) }

// Run follows the topic until ctx ends.
func (t *Table[T]) Run(ctx context.Context) {
	next := int64(0)
	for ctx.Err() == nil {
		if err := t.read(ctx, &next); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "table is read again", "topic", t.topic, "error", err)
			sleep(ctx, 200*time.Millisecond)
		}
	}
}

func (t *Table[T]) read(ctx context.Context, next *int64) error {
	first, end, err := t.bus.bounds(ctx, t.topic, 0)
	if err != nil {
		return err
	}
	if *next < first || *next > end {
		*next = first
	}
	if *next >= end {
		t.ready.Store(true)
	}
	r, err := t.bus.reader(t.topic, 0, *next)
	if err != nil {
		return err
	}
	defer leave(r)
	for {
		m, err := r.FetchMessage(ctx)
		if err != nil {
			return err
		}
		t.apply(ctx, m)
		if *next = m.Offset + 1; *next >= end {
			t.ready.Store(true)
		}
	}
}

func (t *Table[T]) apply(ctx context.Context, m kafka.Message) {
	key := string(m.Key)
	var v T
	if m.Value != nil {
		var err error
		if v, err = t.decode(key, m.Value); err != nil {
			slog.ErrorContext(ctx, "table leaves a value out", "topic", t.topic, "key", key, "offset", m.Offset, "error", err)
			return
		}
	}
	t.set(key, v, m.Value == nil)
}

func (t *Table[T]) set(key string, v T, gone bool) {
	t.mu.Lock()
	if gone {
		v = t.rows[key]
		delete(t.rows, key)
	} else {
		t.rows[key] = v
	}
	for _, f := range t.watch {
		f(key, v, gone)
	}
	close(t.changed)
	t.changed = make(chan struct{})
	t.mu.Unlock()
}
