package message

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// erasing is the lock that transactions which store events share, and that an erasure has alone: so it sees what they stored, or they see
// the erasure. It is taken before messages are locked.
const erasing = "webhooks.erasing"

// LockErasure waits for the transactions that store events, and has later ones wait until tx ends.
func LockErasure(ctx context.Context, tx *db.Tx) error { return tx.Lock(ctx, erasing, "") }

// besideErasures is for a transaction that locks messages and may store events later.
func besideErasures(ctx context.Context, tx *db.Tx) error {
	b := &pgx.Batch{}
	db.QueueLockShared(b, erasing, "")
	return tx.SendBatch(ctx, b).Close()
}

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

// scrubContacts removes people from all that is stored, waiting deliveries included, and keeps the ids of the contacts for events of
// other services that arrive later. It answers with the ids of the records whose bodies are blank now.
func (r *Room) scrubContacts(ctx context.Context, tx *db.Tx, contacts []uuid.UUID) ([]uuid.UUID, error) {
	if _, err := tx.Exec(ctx, `insert into erased (contact) select unnest($1::uuid[]) on conflict do nothing`, contacts); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select id, payload from message where contact = any($1) order by id for update`, contacts)
	if err != nil {
		return nil, err
	}
	return r.rewrite(ctx, tx, rows, blank)
}

// scrubRecord removes a record that has gone for good from all that is stored.
func (r *Room) scrubRecord(ctx context.Context, tx *db.Tx, record uuid.UUID) error {
	if err := besideErasures(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select id, payload from message where record = $1 order by id for update`, record)
	if err != nil {
		return err
	}
	_, err = r.rewrite(ctx, tx, rows, blank)
	return err
}

// strike gives a body without the addresses of a person, as it is when it holds none or happened after the erasure.
func strike(p *erasure.Person) func(string) (string, error) {
	return func(payload string) (string, error) {
		var b sent
		if err := json.Unmarshal([]byte(payload), &b); err != nil {
			return "", err
		}
		if at, err := time.Parse(time.RFC3339, b.OccurredAt); err == nil && !at.Before(p.At) {
			return payload, nil
		}
		any := false
		for key, value := range b.Data {
			left, struck := p.StrikeFromJSON(value)
			b.Data[key], any = left, any || struck
		}
		if !any {
			return payload, nil
		}
		return b.text()
	}
}

// rewrite replaces the bodies of locked messages and blanks the answers to those that change, because an answer may repeat
// what was sent. It answers with the ids of their records.
func (r *Room) rewrite(ctx context.Context, tx *db.Tx, rows pgx.Rows, change func(payload string) (string, error)) ([]uuid.UUID, error) {
	var ids, named []uuid.UUID
	var payloads []string
	var people [][]byte // of the messages in named
	var message uuid.UUID
	var payload string
	if _, err := pgx.ForEachRow(rows, []any{&message, &payload}, func() error {
		text, err := change(payload)
		if err != nil {
			return fmt.Errorf("webhooks: body of message %s: %w", message, err)
		}
		if text != payload {
			ids, payloads = append(ids, message), append(payloads, text)
			for _, hash := range tx.PeopleNamed([]byte(text)) {
				named, people = append(named, message), append(people, hash)
			}
		}
		return nil
	}); err != nil || len(ids) == 0 {
		return nil, err
	}
	changed, err := tx.Query(ctx, `update message m set scrubbed = true, payload = t.payload,
			people = array(select called from unnest($3::uuid[], $4::bytea[]) as n(id, called) where n.id = m.id), read_as = $5
		from unnest($1::uuid[], $2::text[]) as t(id, payload) where m.id = t.id returning m.record`, ids, payloads, named, people, erasure.Reading)
	if err != nil {
		return nil, err
	}
	records, err := pgx.CollectRows(changed, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, err
	}
	return records, r.struck(ctx, tx, ids)
}

// follow makes the bodies about a contact that was merged those of the one that it went into, so that
// they go when that one is erased.
func follow(ctx context.Context, tx *db.Tx, loser, winner uuid.UUID) error {
	if err := besideErasures(ctx, tx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `update message set contact = $2 where contact = $1`, loser, winner)
	return err
}

// reread makes the hashes of addresses in bodies anew.
var reread = app.Reread{
	Rows:  `select id, array[payload] as texts, people from message where read_as < $1 and id <> all($2) order by read_as, id`,
	Store: `update message set people = $2, read_as = $3 where id = $1`,
}

// forget blanks the bodies about a person's records, and strikes their addresses from bodies about others.
func (r *Room) forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	if err := LockErasure(ctx, tx); err != nil {
		return nil, err
	}
	records, err := r.scrubContacts(ctx, tx, p.IDs())
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select id, payload from message where people && $1 or read_as < $2 order by id for update`, p.Called(), erasure.Reading)
	if err != nil {
		return nil, err
	}
	others, err := r.rewrite(ctx, tx, rows, strike(p))
	return append(records, others...), err
}
