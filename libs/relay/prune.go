package relay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/proto"
)

// prune deletes rows that were sent to these partitions, once they are old enough and the readers have consumed them. Rows that readers
// leave for long wait again instead, before the topic drops the messages.
func (r *Relay) prune(ctx context.Context, partitions []Partition) error {
	of := map[string][]Partition{}
	for _, p := range partitions {
		of[p.Topic] = append(of[p.Topic], p)
	}
	for name, partitions := range of {
		readers := proto.TopicNamed(name).Readers
		consumed, err := consumedBefore(ctx, r.Log, readers, partitions)
		if err != nil {
			return err
		}
		if len(readers) > 0 {
			if partitions, err = r.still(ctx, partitions); err != nil {
				return err
			}
		}
		for _, p := range partitions {
			if err := r.prunePartition(ctx, p, consumed[p]); err != nil {
				return fmt.Errorf("prune topic %s, partition %d: %w", p.Topic, p.Number, err)
			}
		}
	}
	return nil
}

// consumedBefore returns the offsets before which all readers have consumed everything. Without readers it is the end of time.
func consumedBefore(ctx context.Context, log Log, readers []string, partitions []Partition) (map[Partition]int64, error) {
	consumed := map[Partition]int64{}
	for _, p := range partitions {
		consumed[p] = math.MaxInt64
	}
	for _, reader := range readers {
		committed, err := log.Committed(ctx, reader, partitions)
		if err != nil {
			return nil, fmt.Errorf("ask what %s has consumed: %w", reader, err)
		}
		for _, p := range partitions {
			consumed[p] = min(consumed[p], committed[p])
		}
	}
	return consumed, nil
}

// still are those partitions that have their newest message yet, and of which no loss is being repaired. What readers have consumed since a loss, in
// the places of what was lost, says nothing about the rows.
func (r *Relay) still(ctx context.Context, partitions []Partition) (still []Partition, err error) {
	bounds, err := r.Log.Bounds(ctx, partitions)
	if err != nil {
		return nil, err
	}
	for _, p := range partitions {
		x := own{place: place{Partition: p}}
		if err := r.DB.Pool.QueryRow(ctx, `select "offset", coalesce(appended_at, 'epoch'), digest, sent_at from published where (topic, partition) = ($1, $2) and next_sent_at is null`, p.Topic, p.Number).
			Scan(&x.Offset, &x.At, &x.Digest, &x.SentAt); errors.Is(err, pgx.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, err
		}
		b, led := bounds[p]
		if there, err := stands(ctx, r.Log, x, b, time.Now()); err != nil {
			return nil, err
		} else if led && there {
			still = append(still, p)
		}
	}
	return still, nil
}

// prunePartition sends old rows again before it deletes any: a topic may have dropped a message before its reader came by, and what the
// reader has consumed since lies behind it.
func (r *Relay) prunePartition(ctx context.Context, p Partition, consumed int64) error {
	if consumed < math.MaxInt64 {
		if err := r.DB.ExecSlices(ctx, sliceRows, unsend+`topic = $1 and partition = $2 and ctid = any(array(select ctid from outbox where topic = $1 and partition = $2
			and sent_at < now() - $3::interval order by sent_at limit $4))`, p.Topic, p.Number, sendAgain, sliceRows); err != nil {
			return err
		}
	}
	return r.DB.ExecSlices(ctx, sliceRows, `delete from outbox where ctid = any(array(select ctid from outbox where topic = $1 and partition = $2
		and sent_at < now() - $3::interval and "offset" < $4 order by sent_at limit $5 for update skip locked))`, p.Topic, p.Number, keepSent, consumed, sliceRows)
}
