package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/db"
	"frontdesk/libs/relay"
)

// Tail passes what is published on the topics from now on to handle, one event at a time, until ctx ends. It is for what lasts no
// longer than the process: it stores no position and joins no group, so every replica that calls it gets every event. Events of one
// key come in their order.
//
// Tail calls begin as soon as no later event can be missed, and again after each interruption, during which events may have been
// missed. A message that is no envelope is left out, and so is one that is not signed as its topic says.
func (b *Bus) Tail(ctx context.Context, topics []string, begin func(), handle func(Event)) {
	for ctx.Err() == nil {
		err := b.tail(ctx, topics, begin, handle)
		if ctx.Err() != nil {
			return
		}
		slog.WarnContext(ctx, "the ends of topics are read again", "error", err)
		db.Sleep(ctx, time.Second)
	}
}

func (b *Bus) tail(ctx context.Context, topics []string, begin func(), handle func(Event)) error {
	all, err := b.partitions(ctx, topics)
	if err != nil {
		return err
	}
	ends, err := b.Ends(ctx, all)
	if err != nil {
		return err
	}
	if len(ends) < len(all) {
		return fmt.Errorf("bus: %d of %d partitions have no leader", len(all)-len(ends), len(all))
	}
	reading, ctx := errgroup.WithContext(ctx)
	failed, fetched := make(chan error, 1), make(chan delivery, batchSize)
	for p, end := range ends {
		r, err := b.reader(p, end, func(err error) {
			select {
			case failed <- err:
			default:
			}
		})
		if err != nil {
			return err
		}
		defer leave(r)
		reading.Go(func() error { return b.checker(p.Topic).fetch(ctx, r, fetched) })
	}
	begin()
	reading.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case err := <-failed:
				return err
			case m := <-fetched:
				if m.refused {
					continue
				}
				e, err := decode(m.Message)
				if err = errors.Join(m.sealed, err); err != nil {
					slog.WarnContext(ctx, "message left out", "topic", m.Topic, "partition", m.Partition, "offset", m.Offset, "error", err)
					continue
				}
				handle(e)
			}
		}
	})
	return reading.Wait()
}

// partitions are all partitions of the topics.
func (b *Bus) partitions(ctx context.Context, topics []string) ([]relay.Partition, error) {
	meta, err := b.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, err
	}
	var all []relay.Partition
	for _, t := range meta.Topics {
		if t.Error != nil {
			return nil, fmt.Errorf("bus: topic %s: %w", t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			all = append(all, relay.Partition{Topic: t.Name, Number: p.ID})
		}
	}
	return all, nil
}
