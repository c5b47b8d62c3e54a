package db

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
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
	// State marks a record that is published again as it is: nothing happened. Consumers update their copies by it and react
	// in no other way.
	State bool
}

// Emit adds an event to the transaction; the relay sends it after the commit. Lock the record's row
// first: the order of events with one key is the order in which consumers see them.
func (tx *Tx) Emit(ctx context.Context, e Event) error {
	env, err := tx.envelope(ctx, e)
	if err != nil {
		return err
	}
	tx.touch(e)
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

// maxInserted is how many outbox rows are inserted in the commit's round trip, by a statement for each number of rows. More are copied before, in a
// round trip of their own.
const maxInserted = 8

var insertOutbox = func() (statements [maxInserted + 1]string) {
	rows := ""
	for n := 1; n <= maxInserted; n++ {
		at := 4 * n
		rows += fmt.Sprintf(", ($%d, $%d, $%d, $%d)", at-3, at-2, at-1, at)
		statements[n] = `insert into outbox (topic, key, value, hash) values ` + rows[2:]
	}
	return statements
}()

// commit runs the deferred statements, writes the outbox, checks the assumptions and ends the transaction.
func (tx *Tx) commit(ctx context.Context) error {
	if err := tx.keepConsequence(); err != nil {
		return err
	}
	n, b := len(tx.waiting), &tx.deferred
	deletes := tx.queueDeletions(b)
	switch {
	case n > maxInserted:
		if deletes {
			if err := tx.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			b = &pgx.Batch{}
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"outbox"}, []string{"topic", "key", "value", "hash"}, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			m := tx.waiting[i]
			return []any{m.Topic, m.Key, m.Value, KeyHash(m.Key)}, nil
		}))
		if err != nil {
			return err
		}
	case n > 0:
		rows := make([]any, 0, 4*n)
		for _, m := range tx.waiting {
			rows = append(rows, m.Topic, m.Key, m.Value, KeyHash(m.Key))
		}
		b.Queue(insertOutbox[n], rows...)
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
		OccurredAt: timestamppb.New(tx.Now), AppOff: tx.appOff, State: e.State || tx.History, Changed: e.Changed, Traceparent: Traceparent(ctx),
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

// Tombstone erases a record from its topic: messages of earlier transactions are deleted here, sent or not, and compaction
// removes those that were sent from the topic. What this transaction has emitted of the record is sent before the tombstone. A record with a
// UUID never comes back, so its tombstone is sent a second time after eight days, see Clean.
func (tx *Tx) Tombstone(topic, key string) {
	tx.waiting = append(tx.waiting, Message{Topic: topic, Key: key})
	if id, err := uuid.Parse(key); err == nil {
		tx.Defer(`insert into ended (topic, key, at) values ($1, $2, $3) on conflict (topic, key) do update set at = excluded.at, value = null`, topic, id, tx.Now)
	}
	tx.ended = append(tx.ended, Message{Topic: topic, Key: key})
}

// Tick returns a number that is higher than all before: the version of a message that belongs to no record. It grows with the
// clock, so it does after an older backup was restored too, and also when the clock is set back. The relay waits from then on, so the
// transaction must wait for nobody else, as one that deletes messages does not, see queueDeletions.
func (tx *Tx) Tick(ctx context.Context) (n int64, err error) {
	err = tx.QueryRow(ctx, `update relay set ticked = `+NextTick+` returning ticked`).Scan(&n)
	return n, err
}

// NextTick is the SQL of the next number that Tick gives, in an update of the table relay.
const NextTick = `greatest(ticked + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)`

// Audit records that the actor did, or was refused, an action, by which credential, from which address, and who approved it.
func (tx *Tx) Audit(ctx context.Context, a *proto.Audit) error {
	_, err := tx.AuditEntry(ctx, a)
	return err
}

// AuditEntry is Audit that gives the id of the entry.
func (tx *Tx) AuditEntry(ctx context.Context, a *proto.Audit) (uuid.UUID, error) {
	a.Address, a.Credential = tx.Who.Address, tx.Who.KeyID()
	a.ApprovalId, a.ApprovedBy = tx.Who.Approved.ID, tx.Who.Approved.By
	id := NewID()
	var err error
	if a.Changes, err = tx.changed.Brief(); err != nil {
		return id, err
	}
	tx.changed = nil
	env, err := tx.envelope(ctx, Event{Kind: proto.KindAudit, Key: id.String(), Data: a})
	if err != nil {
		return id, err
	}
	env.Id = id.String()
	return id, tx.EmitMessage(proto.AuditTopic, id.String(), env)
}

// Mail hands a message to the sender; it goes out once, after the commit, and after those about the same. It returns nil without effect while tx.History is
// set: a mail about history would come again, or too late.
func (tx *Tx) Mail(ctx context.Context, m *proto.Mail) error {
	if tx.History {
		return nil
	}
	return tx.Emit(ctx, Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: cmp.Or(m.GetAbout(), m.GetId()), Data: m})
}

// Tell hands a notice to settings, which mails it to people of the team as each of them has chosen. about names the record that it is about: notices
// about one record keep their order. Like Mail it has no effect while tx.History is set, nor for a notice to nobody.
func (tx *Tx) Tell(ctx context.Context, about string, n *proto.Notice) error {
	if tx.History || len(n.GetTo()) == 0 {
		return nil
	}
	n.Id = NewID().String()
	return tx.Emit(ctx, Event{Topic: proto.MailTopic, Kind: proto.KindTellTeam, Key: about, Data: n})
}

// LockRelay comes before every statement that locks several rows of the outbox, in whatever order it meets them.
const LockRelay = `select from relay for update`

// queueDeletions adds the deletion of messages of earlier transactions to the commit's batch, and reports whether there are any. The relay's row is
// the last one that a transaction waits for: who holds it waits for nobody but the disk.
func (tx *Tx) queueDeletions(b *pgx.Batch) bool {
	if len(tx.ended)+len(tx.forgotten) == 0 {
		return false
	}
	b.Queue(LockRelay)
	if len(tx.ended) > 0 {
		topics, keys, hashes := make([]string, len(tx.ended)), make([]string, len(tx.ended)), make([]int32, len(tx.ended))
		for i, m := range tx.ended {
			topics[i], keys[i], hashes[i] = m.Topic, m.Key, KeyHash(m.Key)
		}
		// The index has hashes only, because a key's text would cost each row a wide entry when it is written and another one when it is sent.
		b.Queue(`delete from outbox where (hash = any($3) or hash is null) and (topic, key) in (select * from unnest($1::text[], $2::text[]))`, topics, keys, hashes)
	}
	if len(tx.forgotten) > 0 {
		seqs, hashes := make([]int64, len(tx.forgotten)), make([]int32, len(tx.forgotten))
		for i, m := range tx.forgotten {
			seqs[i], hashes[i] = m.id, KeyHash(m.key)
		}
		b.Queue(`delete from outbox where (hash = any($2) or hash is null) and seq = any($1)`, seqs, hashes)
	}
	return true
}
