package webhooks

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func (s *service) follows() []bus.Follow {
	return []bus.Follow{
		{Topic: proto.ContactTopic, Handle: onContact},
		{Topic: proto.OrganizationTopic, Handle: onOrganization},
		{Topic: proto.AppointmentTopic, Handle: onRecord},
		{Topic: proto.SubmissionTopic, Handle: onRecord},
	}
}

// onContact queues the event's deliveries, and keeps stored bodies clear of people who were erased. A tombstone says that
// the contact is gone, which erases no person: the stored bodies stay.
func onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
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
		err = scrubContact(ctx, tx, record)
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
	return queue(ctx, tx, e, b)
}

// onOrganization queues the event's deliveries. An organization that was merged into another ends in a tombstone. Merging
// erases no person, so the stored bodies stay.
func onOrganization(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone {
		return nil
	}
	return onRecord(ctx, tx, e)
}

// onRecord queues the event's deliveries. The end of a record removes it from stored bodies.
func onRecord(ctx context.Context, tx *db.Tx, e bus.Event) error {
	record, err := recordID(e)
	if err != nil {
		return err
	}
	if e.Tombstone {
		return scrubRecord(ctx, tx, record)
	}
	b, err := newBody(e, record)
	if err != nil {
		return err
	}
	return queue(ctx, tx, e, b)
}

func recordID(e bus.Event) (uuid.UUID, error) {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return id, fmt.Errorf("webhooks: key of a record: %w", err)
	}
	return id, nil
}

// queue stores the event for GET /events, adds one delivery for each active webhook that subscribed it, and wakes their lanes at
// commit. An event that cannot be subscribed is left out, as are spam, history, and one that happened while its app was off. If its
// contact, or somebody whose address it holds, was erased meanwhile, the body holds nothing but ids.
func queue(ctx context.Context, tx *db.Tx, e bus.Event, b body) error {
	if _, ok := eventNamed(e.Kind); !ok || e.AppOff || e.History || b.spam {
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
	_, err = tx.Exec(ctx, `
		with subscribed as (
			select id from webhook where active and events @> array[@event::text]
		), stored as (
			insert into message (id, event, record, contact, payload, scrubbed, people, traceparent, created_at, occurred_at)
			select @id, @event, @record, @contact, case when gone then @bare else @payload end, gone, case when gone then '{}' else @people end, @trace, @now, @at
			from (select exists (select from erased where contact = @contact)
				or exists (select from forgotten_person where called = any(@people::bytea[]) and at > @at) as gone) as e
		), queued as (
			insert into delivery (id, webhook, message, record, status, next_attempt_at, created_at)
			select new_id(), id, @id, @record, 'queued', @now, @now from subscribed
			returning webhook
		), counted as (
			insert into tally select webhook, 'queued', 1 from queued
		)
		`+notify+`from queued having count(*) > 0`,
		pgx.NamedArgs{"event": e.Kind, "id": e.ID, "record": b.record, "contact": b.contact, "bare": bare, "payload": text, "now": tx.Now,
			"people": tx.PeopleNamed([]byte(text)), "at": e.At, "trace": db.Traceparent(ctx), "channel": dueChannel})
	return err
}

// notifyDue wakes the webhook's lane in every process, once the transaction commits.
func notifyDue(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error {
	_, err := tx.Exec(ctx, notify+`from (select @webhook::uuid as webhook) as w`, pgx.NamedArgs{"channel": dueChannel, "webhook": webhook})
	return err
}

// notify names the webhooks of a statement in one notification, sorted: Postgres then sends equal notifications of a
// transaction once. A payload has room for some 200 ids; an empty one asks for a sweep of all webhooks.
const notify = `select pg_notify(@channel, case when count(*) <= 200 then string_agg(webhook::text, ',' order by webhook) else '' end) `

const dueChannel = "webhooks_due"
