package db

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/proto"
)

const (
	// endsAgain is when the end of a record is sent for the second time: once brokers may compact the first.
	endsAgain = 8 * 24 * time.Hour
	// cleanSlice is how many rows one transaction deletes, or ends it sends.
	cleanSlice = 500
)

// Clean removes rows of the mechanism that have no use any more: stored answers after a day, how calls are taken back, the ids of handled events and
// of erased people after thirty (longer than a topic can repeat a message), rate limits that are empty again. It sends
// the second tombstones, and the second last events, that are due. It goes in slices, and leaves rows that are in use to the next run.
func (d *DB) Clean(ctx context.Context) error {
	for _, old := range []string{
		`delete from idempotency where ctid = any(array(select ctid from idempotency where created_at < now() - interval '24 hours' limit $1 for update skip locked))`,
		`delete from inbox where ctid = any(array(select ctid from inbox where handled_at < now() - interval '30 days' limit $1 for update skip locked))`,
		`delete from forgotten_person where ctid = any(array(select ctid from forgotten_person where at < now() - interval '30 days' limit $1 for update skip locked))`,
		`delete from rate where ctid = any(array(select ctid from rate where full_at < now() limit $1 for update skip locked))`,
		fmt.Sprintf(`delete from deed where ctid = any(array(select ctid from deed where at < now() - interval '%d days' limit $1 for update skip locked))`, DeedsKept),
	} {
		if err := d.ExecSlices(ctx, cleanSlice, old, cleanSlice); err != nil {
			return err
		}
	}
	if err := d.Slices(ctx, cleanSlice, func(tx *Tx) (int, error) { return tx.endAgain(ctx) }); err != nil {
		return fmt.Errorf("send the ends of records again: %w", err)
	}
	return nil
}

// End publishes e as the last event of its record, whose key is a UUID. Unlike a tombstone it stays in the topic for good, so
// it must hold nothing but ids. Messages of earlier transactions about the record that wait for the relay are deleted. The
// event is sent a second time after eight days, as State and without its actor, so that brokers compact the values before it.
func (tx *Tx) End(ctx context.Context, e Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return fmt.Errorf("db: end of a record: %w", err)
	}
	tx.ended = append(tx.ended, Message{Topic: e.Topic, Key: e.Key})
	if err := tx.Emit(ctx, e); err != nil {
		return err
	}
	e.State = true
	again, err := tx.envelope(ctx, e)
	if err != nil {
		return err
	}
	again.Actor, again.Traceparent = &proto.Actor{Channel: ChannelSystem}, ""
	value, err := protobuf.Marshal(again)
	if err != nil {
		return err
	}
	tx.Defer(`insert into ended (topic, key, at, value) values ($1, $2, $3, $4)
		on conflict (topic, key) do update set at = excluded.at, value = excluded.value`, e.Topic, id, tx.Now, value)
	return nil
}

// endAgain sends a slice of the second ends that are due, and returns how many.
func (tx *Tx) endAgain(ctx context.Context) (n int, err error) {
	rows, err := tx.Query(ctx, `delete from ended where (topic, key) in (select topic, key from ended where at < $1 limit $2) returning topic, key, value`,
		tx.Now.Add(-endsAgain), cleanSlice)
	if err != nil {
		return 0, err
	}
	var m Message
	var key uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&m.Topic, &key, &m.Value}, func() error {
		n++
		tx.waiting = append(tx.waiting, Message{Topic: m.Topic, Key: key.String(), Value: m.Value})
		return nil
	})
	return n, err
}
