package webhooks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// take makes the deliveries of an event, and keeps what is stored clear of erased people.
func (s *service) take(ctx context.Context, tx *db.Tx, e bus.Event) error {
	record, err := uuid.Parse(e.Key)
	if err != nil {
		return fmt.Errorf("webhooks: key of a record: %w", err)
	}
	if e.Tombstone {
		return scrubRecord(ctx, tx, e.Topic, record)
	}
	b := newBody(e, record)
	switch e.Kind {
	case "contact.erased":
		if err := scrubContact(ctx, tx, record); err != nil {
			return err
		}
	case "contact.merged":
		if err := follow(ctx, tx, b.mergedID, record); err != nil {
			return err
		}
	}
	kind, ok := eventNamed(e.Kind)
	if !ok || !s.Apps.On(kind.App) || b.spam {
		return nil
	}
	return fanOut(ctx, tx, e, b)
}

// fanOut adds one delivery for each active webhook that subscribed the event, and wakes them at commit. Of a
// contact that was erased meanwhile no more than the id goes in.
func fanOut(ctx context.Context, tx *db.Tx, e bus.Event, b body) error {
	text, err := b.text()
	if err != nil {
		return err
	}
	var bare *string
	if b.contact != nil {
		b.strip()
		t, err := b.text()
		if err != nil {
			return err
		}
		bare = &t
	}
	_, err = tx.Exec(ctx, `
		with wanted as (
			select id from webhook where active and events @> array[@event::text]
		), told as (
			insert into message (id, event, record, contact, payload, scrubbed, created_at)
			select @id, @event, @record, @contact, case when gone then @bare else @payload end, gone, @now
			from (select @contact::uuid is not null and exists (select from erased where contact = @contact) as gone) as e
			where exists (select from wanted)
		), made as (
			insert into delivery (id, webhook, message, record, status, next_attempt_at, created_at)
			select new_id(), id, @id, @record, 'queued', @now, @now from wanted
			returning webhook
		), counted as (
			insert into tally select webhook, 'queued', 1 from made
		)
		`+notify+`from made having count(*) > 0`,
		pgx.NamedArgs{"event": e.Kind, "id": e.ID, "record": b.record, "contact": b.contact, "bare": bare, "payload": text, "now": tx.Now, "channel": wakeChannel})
	return err
}

// The key of the record inside data, by topic.
var keys = map[string]string{
	proto.ContactTopic:      "contact",
	proto.OrganizationTopic: "organization",
	proto.AppointmentTopic:  "appointment",
	proto.SubmissionTopic:   "submission",
}

// wake tells every process at commit that a webhook has something to send.
func wake(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error {
	_, err := tx.Exec(ctx, notify+`from (select @webhook::uuid as webhook) as w`, pgx.NamedArgs{"channel": wakeChannel, "webhook": webhook})
	return err
}

// notify names all webhooks in one notification: those of a whole transaction are then one and the same. A
// payload holds some 200 of them; past that they are told to look for themselves.
const notify = `select pg_notify(@channel, case when count(*) <= 200 then string_agg(webhook::text, ',' order by webhook) else '' end) `

const wakeChannel = "webhooks_due"

// idOf reads the id of a nested record.
func idOf(raw json.RawMessage) *uuid.UUID {
	var v struct {
		ID *uuid.UUID `json:"id"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v.ID
}
