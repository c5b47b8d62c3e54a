package contact

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// Leavers are the people whom one transaction erases. Their ids, addresses and full names are published as one ForgetPerson.
type Leavers struct {
	*erasure.Person
	Keys  []string // addresses as address.Key has them
	Names []FullName
	// Labels are what the people were called as visitors.
	Labels []string
}

// FullName is a first and a last name, of which neither is empty.
type FullName struct{ First, Last string }

// NewLeavers returns nobody yet; hash is that of addresses and names in messages.
func NewLeavers(hash erasure.Hasher, tx *db.Tx) *Leavers {
	// Work is timed in whole seconds: all of this one is before the erasure.
	return &Leavers{Person: erasure.New(hash, tx.Now.Add(time.Second), nil, nil)}
}

// Learn adds the addresses and names of a contact.
func (l *Leavers) Learn(ctx context.Context, tx *db.Tx, c Contact) error {
	rows, err := tx.Query(ctx, `select email_key from former_address where contact_id = $1 union select $2::text where $2 <> ''`, c.ID, address.Key(c.Email))
	if err != nil {
		return err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	// Visitors stand in the audit log with the names they gave.
	if rows, err = tx.Query(ctx, `select distinct actor_label from activity where contact_id = $1 and user_id is null and actor_label <> ''`, c.ID); err != nil {
		return err
	}
	labels, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if name := strings.TrimSpace(c.FirstName + " " + c.LastName); name != "" {
		labels = append(labels, name)
	}
	if c.FirstName != "" && c.LastName != "" {
		l.Names = append(l.Names, FullName{First: c.FirstName, Last: c.LastName})
	}
	l.Keys = append(l.Keys, keys...)
	for _, label := range labels {
		if strings.Contains(label, "@") {
			l.Keys = append(l.Keys, address.Key(label)) // a visitor without a name is called by the address
		} else {
			l.Labels = append(l.Labels, label)
		}
	}
	return nil
}

// AddNames adds addresses and names by which the people are known.
func (l *Leavers) AddNames(texts ...string) {
	hashes := make([][]byte, len(texts))
	for i, text := range texts {
		hashes[i] = l.Hash(text)
	}
	l.AddCalled(hashes...)
}

// LockToErase locks the contacts whose ids a query gives, sorted, and gives those that are still there. Whoever files
// something under an id locks the id first, then the contact; so does this.
func LockToErase(ctx context.Context, tx *db.Tx, query string, args ...any) ([]uuid.UUID, error) {
	ids, err := IDsOf(ctx, tx, query, args...)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	for _, id := range ids {
		db.QueueLock(b, aliasLock, id)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	return IDsOf(ctx, tx, `select id from contact where id = any($1) order by id for update`, ids)
}

// erasedEvent is the last event of an id that meant a person who was erased.
func erasedEvent(id uuid.UUID) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: id.String(), Data: map[string]any{"id": id}}
}

// Erase deletes a contact that LockToErase locked, after what other rooms keep of it. It publishes the end of every id that means the person, and
// gives these ids: contacts that were merged into this one, ids that were given out for it, and its own.
func Erase(ctx context.Context, tx *db.Tx, id uuid.UUID) ([]uuid.UUID, error) {
	aliases, err := IDsOf(ctx, tx, `select id from contact_alias where target = $1`, id)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	b.Queue(`update contact_alias set target = null, merged = false, lingers = false where target = $1`, id)
	b.Queue(`delete from contact where id = $1`, id)
	b.Queue(`insert into contact_alias (id, created_at) values ($1, $2)`, id, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if err := tx.End(ctx, erasedEvent(id)); err != nil {
		return nil, err
	}
	for _, one := range aliases {
		// The person left once: of the other ids it is state.
		e := erasedEvent(one)
		e.State = true
		if err := tx.End(ctx, e); err != nil {
			return nil, err
		}
	}
	return append(aliases, id), nil
}

// ForgetAddresses makes addresses, by their keys, former ones of nobody.
func ForgetAddresses(ctx context.Context, tx *db.Tx, keys []string) error {
	_, err := tx.Exec(ctx, `delete from former_address where email_key = any($1)`, keys)
	return err
}
