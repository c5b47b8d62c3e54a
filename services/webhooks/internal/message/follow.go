package message

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

// onContact stores the event, and keeps stored bodies clear of people who were erased. A tombstone says that
// the contact is gone, which erases no person: the stored bodies stay.
func (r *Room) onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	record, err := recordID(e)
	if err != nil || e.Tombstone {
		return err
	}
	b, err := newBody(e, record)
	if err != nil {
		return err
	}
	switch e.Kind {
	case proto.KindContactErased:
		if err = besideErasures(ctx, tx); err == nil {
			_, err = r.scrubContacts(ctx, tx, []uuid.UUID{record})
		}
	case proto.KindContactMerged:
		err = follow(ctx, tx, *b.mergedID, record)
	case proto.KindContactMergedAway:
		var x proto.MergedAway
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		into, err := uuid.Parse(x.GetInto())
		if err != nil {
			return fmt.Errorf("webhooks: the contact that %s went into: %w", record, err)
		}
		return follow(ctx, tx, record, into)
	}
	if err != nil {
		return err
	}
	return r.store(ctx, tx, e, b)
}

// keep stores the event. An organization that was merged into another, and a task that was deleted, ends in a tombstone. Neither
// erases a person, so the stored bodies stay.
func (r *Room) keep(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone {
		return nil
	}
	return r.onRecord(ctx, tx, e)
}

// onRecord stores the event. The end of a record removes it from stored bodies.
func (r *Room) onRecord(ctx context.Context, tx *db.Tx, e bus.Event) error {
	record, err := recordID(e)
	if err != nil {
		return err
	}
	if e.Tombstone {
		return r.scrubRecord(ctx, tx, record)
	}
	b, err := newBody(e, record)
	if err != nil {
		return err
	}
	return r.store(ctx, tx, e, b)
}

func recordID(e bus.Event) (uuid.UUID, error) {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return id, fmt.Errorf("webhooks: key of a record: %w", err)
	}
	return id, nil
}

// Stored is an event that was stored.
type Stored struct {
	ID     uuid.UUID
	Event  string
	Record uuid.UUID
	Keys   map[string][]string // what narrows it down, see Only
}

// store keeps the event for GET /events and has its deliveries queued. An event that cannot be subscribed is left out, as are spam,
// history, and one that happened while its app was off. If its contact, or somebody whose address it holds, was erased meanwhile, the
// body holds nothing but ids.
func (r *Room) store(ctx context.Context, tx *db.Tx, e bus.Event, b body) error {
	if _, ok := EventNamed(e.Kind); !ok || e.AppOff || e.History || b.spam {
		return nil
	}
	text, err := b.text()
	if err != nil {
		return err
	}
	bare, err := b.stripped().text()
	if err != nil {
		return err
	}
	keys, err := webhook.KeysOf(b.data)
	if err != nil {
		return err
	}
	add := &pgx.Batch{}
	db.QueueLockShared(add, erasing, "")
	add.Queue(`
		insert into message (id, event, record, contact, payload, scrubbed, people, read_as, traceparent, created_at, occurred_at)
		select @id, @event, @record, @contact, case when gone then @bare else @payload end, gone, case when gone then '{}' else @people end, @read_as, @trace, @now, @at
		from (select exists (select from erased where contact = @contact)
			or exists (select from forgotten_person where called = any(@people::bytea[]) and at > @at) as gone) as e`,
		db.Args{"event": e.Kind, "id": e.ID, "record": b.record, "contact": b.contact, "bare": bare, "payload": text, "now": tx.Now,
			"people": tx.PeopleNamed([]byte(text)), "read_as": erasure.Reading, "at": e.At, "trace": db.Traceparent(ctx)})
	if err = tx.SendBatch(ctx, add).Close(); err == nil {
		r.stored(tx, Stored{e.ID, e.Kind, b.record, keys})
	}
	return err
}

// StoreTest keeps a test event, which GET /events does not list.
func StoreTest(ctx context.Context, tx *db.Tx, t Test) error {
	_, err := tx.Exec(ctx, `insert into message (id, event, record, payload, read_as, created_at) values ($1, $2, $1, $3, $4, $5)`, t.ID, t.Event, t.Payload,
		erasure.Reading, tx.Now)
	return err
}
