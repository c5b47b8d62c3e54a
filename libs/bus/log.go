package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/db"
	"frontdesk/libs/relay"
)

const (
	// batchBytes is how much one request carries: brokers take 1 MiB by default, with a header for each message.
	batchBytes = 1_000_000
	// overhead is more than what surrounds a message, its signature and its seal take, in bytes.
	overhead = 200
	// atOnce is how many partitions are asked at the same time: kafka-go opens a connection for each request under way.
	atOnce = 4
	// sendTries is how often Send tries.
	sendTries = 3
	// askAgain is for how long Read does not ask the brokers again for a topic that they do not let this process read.
	askAgain = 10 * time.Minute
)

// Send writes messages that no transaction depends on, and returns when the brokers have acknowledged all of them. After an error any of
// them may have been written.
func (b *Bus) Send(ctx context.Context, batch []db.Message) error {
	for try := 1; ; try++ {
		var failed []db.Message
		var errs []error
		for i, p := range b.Append(ctx, batch) {
			if p.Err != nil {
				failed, errs = append(failed, batch[i]), append(errs, p.Err)
			}
		}
		if len(failed) == 0 {
			return nil
		}
		if try == sendTries || ctx.Err() != nil {
			return fmt.Errorf("bus: %d of %d messages were not sent: %w", len(failed), len(batch), errs[0])
		}
		db.Sleep(ctx, 100*time.Millisecond)
		batch = failed
	}
}

// Append implements relay.Log.
func (b *Bus) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	placed := make([]relay.Placed, len(batch))
	of := b.counts(ctx, batch)
	parts := map[relay.Partition][]int{}
	for i, m := range batch {
		t := of[m.Topic]
		if t.err != nil {
			placed[i] = relay.Placed{Partition: -1, Err: t.err}
			continue
		}
		placed[i] = relay.Placed{Partition: db.PartitionOf(m.Key, t.partitions), Of: t.partitions}
		p := relay.Partition{Topic: m.Topic, Number: placed[i].Partition}
		parts[p] = append(parts[p], i)
	}
	var appending sync.WaitGroup
	for p, at := range parts {
		appending.Go(func() { b.appendTo(ctx, p, batch, at, placed) })
	}
	appending.Wait()
	if slices.ContainsFunc(placed, func(p relay.Placed) bool { return p.Err != nil }) {
		b.refresh()
	}
	return placed
}

// counted is how many partitions a topic has.
type counted struct {
	partitions int
	err        error
}

// counts answers from what the brokers said in the last ten seconds.
func (b *Bus) counts(ctx context.Context, batch []db.Message) map[string]counted {
	out := map[string]counted{}
	var names []string
	for _, m := range batch {
		if _, ok := out[m.Topic]; !ok {
			names = append(names, m.Topic)
			out[m.Topic] = counted{err: kafka.UnknownTopicOrPartition}
		}
	}
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		for name := range out {
			out[name] = counted{err: err}
		}
		return out
	}
	for _, t := range res.Topics {
		if t.Error == nil && len(t.Partitions) > 0 {
			out[t.Name] = counted{partitions: len(t.Partitions)}
		} else if t.Error != nil {
			out[t.Name] = counted{err: t.Error}
		}
	}
	return out
}

// appendTo appends the messages batch[at...] to a partition, in requests of limited size, until one fails.
func (b *Bus) appendTo(ctx context.Context, p relay.Partition, batch []db.Message, at []int, placed []relay.Placed) {
	for len(at) > 0 {
		n, size := 0, 0
		var records []kafka.Record
		var failed error
		now := time.Now().Truncate(time.Millisecond)
		for n < len(at) {
			m := batch[at[n]]
			if size += len(m.Key) + len(m.Value) + overhead; n > 0 && size > batchBytes {
				break
			}
			if m.Stamp == 0 {
				m.Stamp = b.stamp()
			}
			r, err := b.record(m)
			if err != nil {
				failed = err
				break
			}
			r.Time = now
			records = append(records, r)
			n++
		}
		if n == 0 {
			for _, x := range at {
				placed[x].Err = failed
			}
			return
		}
		res, err := b.client.Produce(ctx, &kafka.ProduceRequest{Topic: p.Topic, Partition: p.Number, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(records...)})
		if err == nil {
			err = res.Error
		}
		for i, x := range at {
			switch {
			case err != nil:
				placed[x].Err = err
			case i < n:
				placed[x].Offset, placed[x].At = res.BaseOffset+int64(i), now
			}
		}
		if err != nil {
			return
		}
		at = at[n:]
	}
}

// refresh makes the client ask for the leaders of partitions again, at most once in half a second. kafka-go asks by itself
// only when its answer is old.
func (b *Bus) refresh() {
	now, last := time.Now().UnixNano(), b.refreshed.Load()
	if now-last > int64(500*time.Millisecond) && b.refreshed.CompareAndSwap(last, now) {
		b.transport.CloseIdleConnections()
	}
}

// Bounds implements relay.Log.
func (b *Bus) Bounds(ctx context.Context, of []relay.Partition) (map[relay.Partition]relay.Bounds, error) {
	var mu sync.Mutex
	out, failed := map[relay.Partition]relay.Bounds{}, error(nil)
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, p := range of {
		g.Go(func() error {
			log, err := b.bounds(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				out[p] = log
			} else {
				failed = err
			}
			return nil
		})
	}
	_ = g.Wait() // no function fails
	if failed == nil {
		return out, nil
	}
	b.refresh()
	if len(out) == 0 {
		return nil, fmt.Errorf("bus: no broker answers where its partitions end: %w", failed)
	}
	return out, ctx.Err()
}

// answerBytes is how much one Fetch asks for. kafka-go keeps a page of 64 KB for each batch of the answer, and most batches hold
// one message.
const answerBytes = 256 << 10

// Read implements relay.Log.
func (b *Bus) Read(ctx context.Context, p relay.Partition, from int64, n int) ([]relay.Stored, error) {
	if at, ok := b.unreadable.Load(p.Topic); ok && time.Since(at.(time.Time)) < askAgain {
		return nil, relay.ErrUnreadable
	}
	most := int64(answerBytes)
	if n == 1 {
		most = 1 // a broker sends at least one batch, however little is asked for
	}
	var out []relay.Stored
	_, err := b.fetch(ctx, p, from, most, func(m kafka.Message) (bool, error) {
		out = append(out, relay.Stored{Message: db.Message{Topic: p.Topic, Key: string(m.Key), Value: m.Value}, Offset: m.Offset, At: m.Time, Digest: header(m.Headers, digestHeader)})
		return len(out) < n, nil
	})
	switch {
	case errors.Is(err, kafka.OffsetOutOfRange):
		return nil, nil
	case errors.Is(err, kafka.TopicAuthorizationFailed):
		// Brokers log each refusal, and among many of ours another one would go unseen.
		b.unreadable.Store(p.Topic, time.Now())
		return nil, relay.ErrUnreadable
	case err != nil:
		return nil, fmt.Errorf("bus: read %s/%d: %w", p.Topic, p.Number, err)
	}
	return out, nil
}

// Committed implements relay.Log.
func (b *Bus) Committed(ctx context.Context, group string, of []relay.Partition) (map[relay.Partition]int64, error) {
	req := &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{}}
	for _, p := range of {
		req.Topics[p.Topic] = append(req.Topics[p.Topic], p.Number)
	}
	res, err := b.client.OffsetFetch(ctx, req)
	if err == nil {
		err = res.Error
	}
	out := map[relay.Partition]int64{}
	if errors.Is(err, kafka.GroupIdNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for topic, partitions := range res.Topics {
		for _, p := range partitions {
			if p.Error == nil && p.CommittedOffset >= 0 {
				out[relay.Partition{Topic: topic, Number: p.Partition}] = p.CommittedOffset
			}
		}
	}
	return out, nil
}

// Connections implements relay.Log.
func (b *Bus) Connections() int64 { return b.dialed.Load() }
