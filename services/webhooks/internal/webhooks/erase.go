package webhooks

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// blank is a body with nothing of its record but the id.
func blank(payload string) (string, error) {
	var b sent
	if err := json.Unmarshal([]byte(payload), &b); err != nil {
		return "", err
	}
	delete(b.Data, "changed")
	for key, value := range b.Data {
		if !bytes.HasPrefix(value, []byte("{")) {
			continue
		}
		var err error
		if b.Data[key], err = json.Marshal(map[string]any{"id": idOf(value)}); err != nil {
			return "", err
		}
	}
	return b.text()
}

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
	rows, err := tx.Query(ctx, `select id, payload from message where `+which+` order by id for update`, id)
	if err != nil {
		return err
	}
	var ids []uuid.UUID
	var payloads []string
	var message uuid.UUID
	var payload string
	_, err = pgx.ForEachRow(rows, []any{&message, &payload}, func() error {
		text, err := blank(payload)
		ids, payloads = append(ids, message), append(payloads, text)
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `update message m set scrubbed = true, payload = t.payload from unnest($1::uuid[], $2::text[]) as t(id, payload) where m.id = t.id`, ids, payloads)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update attempt set response_body = '' where message = any($1) and response_body <> ''`, ids)
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
