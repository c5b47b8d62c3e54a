package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/propagation"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Event is a change of a record, or a command, as it is published to the other services.
type Event struct {
	Topic string
	Kind  string
	// Key is the record's id.
	Key string
	// Version of the record after the change; 0 for commands.
	Version int64
	// Changed names the fields of an update.
	Changed []string
	// Data is the record, marshalled to the JSON that REST shows, or a protobuf message.
	Data any
	// Extra facts of this event: a message of proto/, or anything that is marshalled to JSON.
	Extra any
}

// Emit adds an event to the transaction; the relay sends it after the commit. Lock the record's row
// first: the order of events with one key is the order in which consumers see them.
func (tx *Tx) Emit(ctx context.Context, e Event) error {
	env, err := tx.envelope(ctx, e)
	if err != nil {
		return err
	}
	return tx.EmitMessage(e.Topic, e.Key, env)
}

// EmitAll is Emit for several events, in their order.
func (tx *Tx) EmitAll(ctx context.Context, events []Event) error {
	for _, e := range events {
		if err := tx.Emit(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// maxInserted is how many outbox rows are inserted in the commit's round trip. More are copied before: for so many rows,
// copying takes the server less time than one statement.
const maxInserted = 50

// commit runs the deferred statements, writes the outbox, checks the assumptions and ends the transaction.
func (tx *Tx) commit(ctx context.Context) error {
	n, b := len(tx.waiting), &tx.deferred
	switch {
	case n > maxInserted:
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"outbox"}, []string{"topic", "key", "value"}, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			m := tx.waiting[i]
			return []any{m.Topic, m.Key, m.Value}, nil
		}))
		if err != nil {
			return err
		}
	case n > 0:
		topics, keys, values := make([]string, n), make([]string, n), make([][]byte, n)
		for i, m := range tx.waiting {
			topics[i], keys[i], values[i] = m.Topic, m.Key, m.Value
		}
		b.Queue(`insert into outbox (topic, key, value)
			select topic, key, value from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as e (topic, key, value, n) order by n`, topics, keys, values)
	case tx.relaxed:
		b.Queue(`set local synchronous_commit = off`)
	}
	for _, a := range tx.assumed {
		a.queue(b)
	}
	if b.Len() == 0 {
		return tx.Commit(ctx)
	}
	b.Queue(`commit`)
	return tx.SendBatch(ctx, b).Close()
}

func (tx *Tx) envelope(ctx context.Context, e Event) (*proto.Envelope, error) {
	env := &proto.Envelope{
		Id: NewID().String(), Kind: e.Kind, RecordId: e.Key, Version: e.Version,
		OccurredAt: timestamppb.New(tx.Now), AppOff: tx.appOff, Changed: e.Changed, Traceparent: traceparent(ctx),
		Actor: &proto.Actor{UserId: tx.Who.UserID, Label: tx.Who.Label, Channel: tx.Who.Channel},
	}
	var err error
	if m, ok := e.Data.(protobuf.Message); ok {
		env.Data, err = protobuf.Marshal(m)
	} else if e.Data != nil {
		env.Data, err = json.Marshal(e.Data)
	}
	if err == nil && e.Extra != nil {
		env.Extra, err = extraJSON(e.Extra)
	}
	if err != nil {
		return nil, fmt.Errorf("db: event %s: %w", e.Kind, err)
	}
	return env, nil
}

// maxMessage is the size in bytes that brokers accept by default, less room for the header.
const maxMessage = 1_000_000

// EmitMessage is Emit for a bare message, for table topics that carry no envelope. One that no broker would accept is 413
// svc_too_large: in the outbox it would block all others for good.
func (tx *Tx) EmitMessage(topic, key string, m protobuf.Message) error {
	value, err := protobuf.Marshal(m)
	if err == nil && len(value) > maxMessage {
		err = fault.TooLarge(maxMessage)
	}
	if err != nil {
		return fmt.Errorf("db: message for %s: %w", topic, err)
	}
	tx.waiting = append(tx.waiting, Message{Topic: topic, Key: key, Value: value})
	return nil
}

// Tombstone erases a record from its topic: messages of earlier transactions that wait for the relay are deleted, and
// compaction removes the others. What this transaction has emitted of the record is sent before the tombstone. A record with a
// UUID never comes back, so its tombstone is sent a second time after eight days, see Clean.
func (tx *Tx) Tombstone(ctx context.Context, topic, key string) error {
	tx.waiting = append(tx.waiting, Message{Topic: topic, Key: key})
	if id, err := uuid.Parse(key); err == nil {
		tx.Defer(`insert into ended (topic, key, at) values ($1, $2, $3) on conflict (topic, key) do update set at = excluded.at`, topic, id, tx.Now)
	}
	_, err := tx.Exec(ctx, `delete from outbox where topic = $1 and key = $2`, topic, key)
	return err
}

// Audit records that the actor did, or was refused, an action.
func (tx *Tx) Audit(ctx context.Context, a *proto.Audit) error {
	return tx.Emit(ctx, Event{Topic: proto.AuditTopic, Kind: proto.KindAudit, Key: NewID().String(), Data: a})
}

// Mail hands a message to the sender; it goes out once, after the commit.
func (tx *Tx) Mail(ctx context.Context, m *proto.Mail) error {
	return tx.Emit(ctx, Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: m.GetId(), Data: m})
}

// Message is a row of the outbox. Without a value it is a tombstone.
type Message struct {
	Topic string
	Key   string
	Value []byte
}

const (
	relayBatch = 500
	// Under load the relay sends larger batches, because a batch costs it and the broker as much as many messages. It
	// pauses pausePerSent for each message of the last batch, relayPause at most.
	relayPause   = 15 * time.Millisecond
	pausePerSent = 2 * time.Millisecond
)

// Relay sends the outbox until ctx ends: send gets messages in order and returns once the broker has them all. failed gets
// each error, after which the relay tries again. One replica sends at a time. A message may be sent twice after a crash.
func (d *DB) Relay(ctx context.Context, send func(context.Context, []Message) error, failed func(error)) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var sent time.Time
	for ctx.Err() == nil {
		n, err := d.relayOnce(ctx, send)
		if err != nil && ctx.Err() == nil {
			failed(err)
			wait(ctx, 200*time.Millisecond)
			continue
		}
		if n == relayBatch {
			continue
		}
		if n > 0 {
			if pause := min(relayPause, time.Duration(n)*pausePerSent); time.Since(sent) < pause {
				wait(ctx, pause)
			}
			sent = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-d.woken:
		case <-tick.C:
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Flush sends all that waits in the outbox, before the process stops.
func (d *DB) Flush(ctx context.Context, send func(context.Context, []Message) error) error {
	for {
		n, err := d.relayOnce(ctx, send)
		if err != nil || n < relayBatch {
			return err
		}
	}
}

func (d *DB) relayOnce(ctx context.Context, send func(context.Context, []Message) error) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	var seqs []int64
	var batch []Message
	take := &pgx.Batch{}
	take.BeginTx(pgx.TxOptions{})
	// A crash may bring deleted rows back. They are sent again, so the commit need not wait for the disk.
	take.Queue(`set local synchronous_commit = off`)
	// Wait for a relay that is sending: it may not have seen the row that woke this one.
	QueueLock(take, d.Schema+".outbox", "")
	take.Queue(`select seq, topic, key, value from outbox order by seq limit $1`, relayBatch).Query(func(rows pgx.Rows) error {
		var seq int64
		var m Message
		_, err := pgx.ForEachRow(rows, []any{&seq, &m.Topic, &m.Key, &m.Value}, func() error {
			seqs, batch = append(seqs, seq), append(batch, m)
			return nil
		})
		return err
	})
	taken := conn.SendBatch(ctx, take)
	tx := taken.Tx()
	defer func() { _ = tx.Rollback(ctx) }()
	if err := taken.Close(); err != nil || len(batch) == 0 {
		return 0, err
	}
	if err := send(ctx, batch); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `delete from outbox where seq = any($1)`, seqs); err != nil {
		return 0, err
	}
	return len(batch), tx.Commit(ctx)
}

func traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
