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
		select pg_notify(@channel, webhook::text) from made`,
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

// wake tells every process at commit that these webhooks have something to send.
func wake(ctx context.Context, tx *db.Tx, webhooks ...uuid.UUID) error {
	_, err := tx.Exec(ctx, `select pg_notify($1, w::text) from unnest($2::uuid[]) as w`, wakeChannel, webhooks)
	return err
}

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
