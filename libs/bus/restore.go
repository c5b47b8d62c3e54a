package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// A schema that went back to a backup is behind the log: its own records, and its positions. What is here brings both
// together while no process of the service runs.

// Record is a message of a topic of the service's own, as far as the owner needs it to go on from there.
type Record struct {
	Key     string
	Version int64
	// Kind is empty for a tombstone.
	Kind string
	At   time.Time
}

// Records calls f for each message that a topic keeps, per key in their order, but not for those that nobody takes.
func (b *Bus) Records(ctx context.Context, topic string, f func(Record) error) error {
	partitions, err := b.partitions(ctx, []string{topic})
	if err != nil {
		return err
	}
	for _, p := range partitions {
		log, err := b.bounds(ctx, p)
		if err != nil {
			return err
		}
		check := b.checker(topic)
		err = b.scan(ctx, p, log.First, log.End, func(m kafka.Message) error {
			if _, _, err := check.check(ctx, m); err != nil {
				return nil // nobody takes it
			}
			r := Record{Key: string(m.Key), At: m.Time}
			switch {
			case m.Value == nil:
			case topic == proto.IdentityTopic:
				var v proto.Identity
				if err := protobuf.Unmarshal(m.Value, &v); err != nil {
					return err
				}
				r.Version, r.Kind = v.GetVersion(), "identity"
			default:
				env, err := OpenEnvelope(m.Value, nil)
				if err != nil {
					return err
				}
				r.Version, r.Kind, r.At = env.GetVersion(), env.GetKind(), env.GetOccurredAt().AsTime()
			}
			return f(r)
		})
		if err != nil {
			return fmt.Errorf("read topic %s: %w", topic, err)
		}
	}
	return nil
}

// mostAnswer is how much scan asks for while an answer holds no message: more than the largest batch.
const mostAnswer = 16 * answerBytes

// scan calls f for the messages of a partition from one offset to before another, and does not wait for any.
func (b *Bus) scan(ctx context.Context, p relay.Partition, from, end int64, f func(kafka.Message) error) error {
	for most := int64(answerBytes); from < end; {
		asked := from
		some, err := b.fetch(ctx, p, from, most, func(m kafka.Message) (bool, error) {
			if m.Offset >= end {
				return false, nil
			}
			from = m.Offset + 1
			return from < end, f(m)
		})
		if err != nil {
			return err
		}
		switch {
		case from > asked:
			most = answerBytes
		case some:
			from++ // the end of this batch was compacted away, and it is answered until the offset behind it is asked for
		case most < mostAnswer:
			most *= 2 // the batch behind one that was compacted away whole may have been cut off
		default:
			return nil // the rest was compacted away
		}
	}
	return nil
}

// Members is how many replicas of a service are in its consumer group.
func (b *Bus) Members(ctx context.Context, group string) (int, error) {
	res, err := b.client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, g := range res.Groups {
		if errors.Is(g.Error, kafka.GroupIdNotFound) {
			continue
		}
		if g.Error != nil {
			return 0, g.Error
		}
		n += len(g.Members)
	}
	return n, nil
}

// TakeAsHistory makes all messages history that the service has consumed before its schema went back to a backup: those
// before the offsets that its group has committed. In a partition without one, all messages until now are history. No
// replica may run.
func (c *Consumer) TakeAsHistory(ctx context.Context) error {
	for _, f := range c.Follows {
		all, err := c.Bus.partitions(ctx, []string{f.Topic})
		if err != nil {
			return err
		}
		consumed, err := c.Bus.Committed(ctx, c.DB.Schema, all)
		if err != nil {
			return fmt.Errorf("ask what %s has consumed: %w", c.DB.Schema, err)
		}
		for _, p := range all {
			log, err := c.Bus.bounds(ctx, p)
			if err != nil {
				return err
			}
			history, ok := consumed[p]
			if !ok || history > log.End {
				history = log.End
			}
			if err := c.takeAsHistory(ctx, p, log, history); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeAsHistory stores that messages before the offset history are history. It is an offset of the log as it is now: where the backup was
// made of another one, that is read from its first message.
func (c *Consumer) takeAsHistory(ctx context.Context, p relay.Partition, log relay.Bounds, history int64) error {
	stored, _, err := c.stored(ctx, p, log.First)
	if err != nil {
		return err
	}
	lost, err := c.Bus.lost(ctx, p, stored, log)
	if err != nil {
		return err
	}
	at := stored
	if lost != "" {
		at = stand{next: log.First}
	}
	_, err = c.DB.Pool.Exec(ctx, `update position set next = $3, anchor = nullif($4, '00000000-0000-0000-0000-000000000000'::uuid), stamp = $6, history = $5 where (topic, partition) = ($1, $2)`,
		p.Topic, p.Number, at.next, at.anchor, history, at.stamp)
	return err
}

// CatchUp handles the history that this schema has not handled, one topic after the other in the order of Follows. A message
// that cannot be handled is parked. No replica may run.
func (c *Consumer) CatchUp(ctx context.Context) error {
	c.prepare()
	for _, f := range c.Follows {
		partitions, err := c.Bus.partitions(ctx, []string{f.Topic})
		if err != nil {
			return err
		}
		for _, p := range partitions {
			if err := c.catchUp(ctx, f, p); err != nil {
				return fmt.Errorf("catch up with topic %s: %w", f.Topic, err)
			}
		}
	}
	return nil
}

func (c *Consumer) catchUp(ctx context.Context, f Follow, p relay.Partition) error {
	l := &line{Consumer: c, follow: f}
	since, err := l.since(ctx)
	if err != nil {
		return err
	}
	log, err := c.Bus.bounds(ctx, p)
	if err != nil {
		return err
	}
	from, err := l.position(ctx, p, log)
	if err != nil {
		return err
	}
	var history int64
	if err := c.DB.Pool.QueryRow(ctx, `select history from position where (topic, partition) = ($1, $2)`, p.Topic, p.Number).Scan(&history); err != nil {
		return err
	}
	at := stands{p.Number: from}
	var batch []delivery
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := l.handle(ctx, since, at, batch)
		batch = nil
		return err
	}
	check := c.Bus.checker(f.Topic)
	check.begin(from)
	err = c.Bus.scan(ctx, p, from.next, history, func(m kafka.Message) error {
		if batch = append(batch, check.deliver(ctx, m)); len(batch) < batchSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return err
}
