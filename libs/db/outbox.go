package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/propagation"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// Event is a change of a record, or a command, as it goes to the other services.
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
	// Extra facts of this event, marshalled to JSON.
	Extra any
}

// Emit writes an event in the transaction; the relay sends it after the commit. Lock the record's row
// first: the order of rows with one key is the order in which consumers see them.
func (tx *Tx) Emit(ctx context.Context, e Event) error {
	env, err := tx.envelope(ctx, e)
	if err != nil {
		return err
	}
	return tx.EmitMessage(ctx, e.Topic, e.Key, env)
}

// Outgoing is the row of the outbox that Emit would write, for a statement that inserts it together with the
// record and saves a round trip. That statement must insert it, or nothing else of the change either.
func (tx *Tx) Outgoing(ctx context.Context, e Event) (Message, error) {
	env, err := tx.envelope(ctx, e)
	if err != nil {
		return Message{}, err
	}
	value, err := message(env)
	if err != nil {
		return Message{}, fmt.Errorf("db: message for %s: %w", e.Topic, err)
	}
	tx.emitted++
	return Message{Topic: e.Topic, Key: e.Key, Value: value}, nil
}

// EmitAll is Emit for many events at once, in one round trip.
func (tx *Tx) EmitAll(ctx context.Context, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	tx.emitted += len(events)
	if len(events) <= fewEvents {
		return tx.emitFew(ctx, events)
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"outbox"}, []string{"topic", "key", "value"}, pgx.CopyFromSlice(len(events), func(i int) ([]any, error) {
		env, err := tx.envelope(ctx, events[i])
		if err != nil {
			return nil, err
		}
		value, err := message(env)
		return []any{events[i].Topic, events[i].Key, value}, err
	}))
	return err
}

// fewEvents go in one statement, which the server has prepared; to copy costs it two more round trips.
const fewEvents = 50

func (tx *Tx) emitFew(ctx context.Context, events []Event) error {
	topics, keys, values := make([]string, len(events)), make([]string, len(events)), make([][]byte, len(events))
	for i, e := range events {
		env, err := tx.envelope(ctx, e)
		if err != nil {
			return err
		}
		topics[i], keys[i] = e.Topic, e.Key
		if values[i], err = message(env); err != nil {
			return fmt.Errorf("db: message for %s: %w", e.Topic, err)
		}
	}
	_, err := tx.Exec(ctx, `insert into outbox (topic, key, value)
		select topic, key, value from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as e (topic, key, value, n) order by n`, topics, keys, values)
	return err
}

func (tx *Tx) envelope(ctx context.Context, e Event) (*proto.Envelope, error) {
	env := &proto.Envelope{
		Id: NewID().String(), Kind: e.Kind, RecordId: e.Key, Version: e.Version,
		OccurredAt: timestamppb.New(tx.Now), Changed: e.Changed, Traceparent: traceparent(ctx),
		Actor: &proto.Actor{UserId: tx.Who.UserID, Label: tx.Who.Label, Channel: tx.Who.Channel},
	}
	var err error
	if m, ok := e.Data.(protobuf.Message); ok {
		env.Data, err = protobuf.Marshal(m)
	} else if e.Data != nil {
		env.Data, err = json.Marshal(e.Data)
	}
	if err == nil && e.Extra != nil {
		env.Extra, err = json.Marshal(e.Extra)
	}
	if err != nil {
		return nil, fmt.Errorf("db: event %s: %w", e.Kind, err)
	}
	return env, nil
}

// maxMessage is what brokers take in one message as they are delivered, with room for its header.
const maxMessage = 1_000_000

func message(m protobuf.Message) ([]byte, error) {
	value, err := protobuf.Marshal(m)
	if err == nil && len(value) > maxMessage {
		err = fault.TooLarge(maxMessage)
	}
	return value, err
}

// EmitMessage writes a bare message, for table topics that carry no envelope. One that no broker would take
// is 413 svc_too_large: in the outbox it would hold up all others for good.
func (tx *Tx) EmitMessage(ctx context.Context, topic, key string, m protobuf.Message) error {
	value, err := message(m)
	if err != nil {
		return fmt.Errorf("db: message for %s: %w", topic, err)
	}
	tx.emitted++
	_, err = tx.Exec(ctx, `insert into outbox (topic, key, value) values ($1, $2, $3)`, topic, key, value)
	return err
}

// Tombstone erases a record from its topic: what earlier transactions left waiting for the relay goes, and
// compaction takes the rest. What this transaction has emitted of the record is sent before the tombstone.
func (tx *Tx) Tombstone(ctx context.Context, topic, key string) error {
	tx.emitted++
	if _, err := tx.Exec(ctx, `delete from outbox where topic = $1 and key = $2 and xmin <> pg_current_xact_id()::xid`, topic, key); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into outbox (topic, key) values ($1, $2)`, topic, key)
	return err
}

// Audit records that the actor did, or was refused, an action.
func (tx *Tx) Audit(ctx context.Context, a *proto.Audit) error {
	return tx.Emit(ctx, Event{Topic: proto.AuditTopic, Kind: "audit", Key: NewID().String(), Data: a})
}

// Mail hands a message to the sender; it goes out once, after the commit.
func (tx *Tx) Mail(ctx context.Context, m *proto.Mail) error {
	return tx.Emit(ctx, Event{Topic: proto.MailTopic, Kind: "mail", Key: m.GetId(), Data: m})
}

// Message is a row of the outbox.
type Message struct {
	Seq   int64
	Topic string
	Key   string
	Value []byte
}

const relayBatch = 500

// Relay sends the outbox until ctx ends: send gets messages in order and returns when the broker has
// them all. One replica sends at a time.
func (d *DB) Relay(ctx context.Context, send func(context.Context, []Message) error, failed func(error)) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		n, err := d.relayOnce(ctx, send)
		if err != nil && ctx.Err() == nil {
			failed(err)
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
			continue
		}
		if n == relayBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-d.poke:
		case <-tick.C:
		}
	}
}

// Flush sends what is waiting once, for a stop.
func (d *DB) Flush(ctx context.Context, send func(context.Context, []Message) error) error {
	for {
		n, err := d.relayOnce(ctx, send)
		if err != nil || n < relayBatch {
			return err
		}
	}
}

func (d *DB) relayOnce(ctx context.Context, send func(context.Context, []Message) error) (n int, err error) {
	var waiting bool
	if err := d.Pool.QueryRow(ctx, `select exists (select from outbox)`).Scan(&waiting); err != nil || !waiting {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	err = pgx.BeginFunc(ctx, d.Pool, func(tx pgx.Tx) error {
		// Wait for a relay that is at work: it may not have seen the row that woke this one.
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended(current_schema() || '.outbox', 0))`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `select seq, topic, key, value from outbox order by seq limit $1`, relayBatch)
		if err != nil {
			return err
		}
		batch, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := send(ctx, batch); err != nil {
			return err
		}
		seqs := make([]int64, len(batch))
		for i, m := range batch {
			seqs[i] = m.Seq
		}
		n = len(batch)
		_, err = tx.Exec(ctx, `delete from outbox where seq = any($1)`, seqs)
		return err
	})
	return n, err
}

func traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
