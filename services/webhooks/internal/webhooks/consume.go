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
		if err := follow(ctx, tx, b.MergedID, record); err != nil {
			return err
		}
	}
	kind, ok := eventNamed(e.Kind)
	if !ok || !s.Apps.On(kind.App) {
		return nil
	}
	return fanOut(ctx, tx, e, b)
}

// fanOut adds one delivery for each active webhook that subscribed the event.
func fanOut(ctx context.Context, tx *db.Tx, e bus.Event, b body) error {
	rows, err := tx.Query(ctx, `select id from webhook where active and events @> array[$1::text] order by id`, e.Kind)
	if err != nil {
		return err
	}
	to, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(to) == 0 {
		return err
	}
	if b.contact != nil {
		var gone bool
		if err := tx.QueryRow(ctx, `select exists (select from erased where contact = $1)`, *b.contact).Scan(&gone); err != nil {
			return err
		}
		if gone {
			b.strip()
		}
	}
	text, err := b.text()
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(to))
	for i := range ids {
		ids[i] = db.NewID()
	}
	_, err = tx.Exec(ctx, `
		insert into delivery (id, webhook, event, event_id, record, contact, payload, status, next_attempt_at, created_at)
		select id, webhook, $3, $4, $5, $6, $7, 'queued', $8, $8 from unnest($1::uuid[], $2::uuid[]) as t(id, webhook)
		on conflict (webhook, event_id) do nothing`,
		ids, to, e.Kind, e.ID, b.record, b.contact, text, tx.Now)
	if err != nil {
		return err
	}
	return wake(ctx, tx, to...)
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
