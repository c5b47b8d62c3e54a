package delivery

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// Queue adds, at the commit, a delivery of an event for each active webhook that subscribed it and that is not narrowed down to others,
// and wakes their lanes.
func Queue(tx *db.Tx, m message.Stored) {
	tx.Defer(`
		with queued as (
			insert into delivery (id, webhook, message, record, status, next_attempt_at, created_at)
			select new_id(), id, @message, @record, 'queued', @now, @now from webhook where active and events @> array[@event::text]
				and not exists (select from jsonb_each(only_keys) as o(key, wanted) where @keys::jsonb ? o.key
					and not o.wanted ?| array(select jsonb_array_elements_text(@keys::jsonb -> o.key)))
			returning webhook
		), counted as (
			insert into tally select webhook, 'queued', 1 from queued
		)
		`+endpoint.Notify+`from queued having count(*) > 0`,
		db.Args{"message": m.ID, "record": m.Record, "event": m.Event, "keys": m.Keys, "now": tx.Now, "channel": endpoint.WakeChannel})
}

// QueueTest adds the delivery of a test event with its lease held: one attempt, by the caller.
func QueueTest(ctx context.Context, tx *db.Tx, webhook uuid.UUID, m message.Test) (Job, error) {
	j := Job{ID: db.NewID(), Lease: uuid.New(), Event: m.Event, Message: m.ID, Payload: m.Payload, Status: statusQueued, Next: &tx.Now, Once: true}
	_, err := tx.Exec(ctx, `
		with counted as (
			insert into tally values (@webhook, 'queued', 1)
		), leased as (
			insert into lease values (@id, @webhook, @lease, now() + @for::interval)
		)
		insert into delivery (id, webhook, message, record, status, once, next_attempt_at, created_at)
		values (@id, @webhook, @message, @message, 'queued', true, @now, @now)`,
		db.Args{"id": j.ID, "webhook": webhook, "message": j.Message, "now": tx.Now, "lease": j.Lease, "for": LeaseFor})
	return j, err
}
