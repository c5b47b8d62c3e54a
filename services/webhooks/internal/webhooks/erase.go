package webhooks

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// blank is a body with nothing of its record but the id.
const blank = `(select jsonb_build_object('event', m.event, 'id', p -> 'id', 'occurred_at', p -> 'occurred_at', 'data',
	coalesce((select jsonb_object_agg(key, case when jsonb_typeof(value) = 'object' then jsonb_build_object('id', value -> 'id') else value end)
		from jsonb_each(p -> 'data') where key <> 'changed'), '{}'))::text
	from (select m.payload::jsonb as p) as t)`

// scrubContact takes a person out of all that is stored, of waiting deliveries too, and remembers the id for
// events of other services that are still on their way.
func scrubContact(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	if _, err := tx.Exec(ctx, `insert into erased (contact) values ($1) on conflict do nothing`, contact); err != nil {
		return err
	}
	return scrub(ctx, tx, `contact = $1`, contact)
}

// scrubRecord does the same for a record that has gone for good.
func scrubRecord(ctx context.Context, tx *db.Tx, topic string, record uuid.UUID) error {
	if topic == proto.ContactTopic {
		return scrubContact(ctx, tx, record)
	}
	return scrub(ctx, tx, `record = $1`, record)
}

func scrub(ctx context.Context, tx *db.Tx, which string, id uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		with gone as (
			update message m set scrubbed = true, payload = `+blank+` where `+which+` returning id
		)
		update attempt set response_body = '' from gone where message = gone.id and response_body <> ''`, id)
	return err
}

// follow makes the bodies about a contact that was merged those of the one that it went into, so that
// they go when that one is erased.
func follow(ctx context.Context, tx *db.Tx, loser *uuid.UUID, winner uuid.UUID) error {
	if loser == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `update message set contact = $2 where contact = $1`, *loser, winner)
	return err
}
