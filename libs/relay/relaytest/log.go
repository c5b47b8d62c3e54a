// Package relaytest has a log in memory.
package relaytest

import (
	"context"
	"sync"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/relay"
)

// Log is a relay.Log in memory, with as many partitions per topic as Partitions says, one when it is 0.
type Log struct {
	Partitions int
	// Refuse decides whether a message fails, and Before runs before a batch; both may be nil.
	Refuse func(relay.Partition, db.Message) error
	Before func()

	mu      sync.Mutex
	stored  map[relay.Partition][]relay.Stored
	groups  map[string]map[relay.Partition]int64
	dialled int64
	added   int
}

// Messages are all messages of a partition.
func (l *Log) Messages(p relay.Partition) []db.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages := make([]db.Message, len(l.stored[p]))
	for i, m := range l.stored[p] {
		messages[i] = m.Message
	}
	return messages
}

// Keys are the keys of the only partition of a topic, in order.
func (l *Log) Keys(topic string) (keys []string) {
	for _, m := range l.Messages(relay.Partition{Topic: topic}) {
		keys = append(keys, m.Key)
	}
	return keys
}

// Cut loses the messages of a partition from an offset on, as a broker does that did not flush, and drops connections.
func (l *Log) Cut(p relay.Partition, from int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored[p] = l.stored[p][:from]
	l.dialled++
}

// Put adds a message that no relay sent.
func (l *Log) Put(p relay.Partition, m db.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(p, m)
}

// Commit sets how far a group has consumed a partition.
func (l *Log) Commit(group string, p relay.Partition, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.groups == nil {
		l.groups = map[string]map[relay.Partition]int64{}
	}
	if l.groups[group] == nil {
		l.groups[group] = map[relay.Partition]int64{}
	}
	l.groups[group][p] = next
}

func (l *Log) add(p relay.Partition, m db.Message) relay.Stored {
	if l.stored == nil {
		l.stored = map[relay.Partition][]relay.Stored{}
	}
	l.added++
	s := relay.Stored{Message: m, Offset: int64(len(l.stored[p])), At: began.Add(time.Duration(l.added) * time.Millisecond)}
	l.stored[p] = append(l.stored[p], s)
	return s
}

var began = time.Now().Truncate(time.Millisecond)

// Append implements relay.Log.
func (l *Log) Append(_ context.Context, batch []db.Message) []relay.Placed {
	if l.Before != nil {
		l.Before()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := max(1, l.Partitions)
	placed, failed := make([]relay.Placed, len(batch)), map[relay.Partition]error{}
	for i, m := range batch {
		p := relay.Partition{Topic: m.Topic, Number: db.PartitionOf(m.Key, n)}
		placed[i] = relay.Placed{Partition: p.Number, Of: n, Err: failed[p]}
		if placed[i].Err == nil && l.Refuse != nil {
			placed[i].Err = l.Refuse(p, m)
			failed[p] = placed[i].Err
		}
		if placed[i].Err == nil {
			s := l.add(p, m)
			placed[i].Offset, placed[i].At = s.Offset, s.At
		}
	}
	return placed
}

// Restore implements relay.Log.
func (l *Log) Restore(context.Context) error { return nil }

// Bounds implements relay.Log.
func (l *Log) Bounds(_ context.Context, of []relay.Partition) (map[relay.Partition]relay.Bounds, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[relay.Partition]relay.Bounds{}
	for _, p := range of {
		out[p] = relay.Bounds{End: int64(len(l.stored[p]))}
	}
	return out, nil
}

// Read implements relay.Log.
func (l *Log) Read(_ context.Context, p relay.Partition, from int64, n int) (out []relay.Stored, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := from; i < int64(len(l.stored[p])) && len(out) < n; i++ {
		out = append(out, l.stored[p][i])
	}
	return out, nil
}

// Committed implements relay.Log.
func (l *Log) Committed(_ context.Context, group string, _ []relay.Partition) (map[relay.Partition]int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.groups[group], nil
}

// Connections implements relay.Log.
func (l *Log) Connections() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialled
}
