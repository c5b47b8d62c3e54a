package contact

import (
	"context"
	"slices"
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

// Learn adds the names of a contact, and what it was called as a visitor.
func (l *Leavers) Learn(ctx context.Context, tx *db.Tx, c Contact) error {
	// Visitors stand in the audit log with the names they gave.
	rows, err := tx.Query(ctx, `select distinct actor_label from activity where contact_id = $1 and user_id is null and actor_label not like '%@%'
		and actor_label <> ''`, c.ID)
	if err != nil {
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
	l.Labels = append(l.Labels, labels...)
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

// addressLock is held while an address is forgotten, and while a command finds or makes the contact that has it.
const addressLock = "contacts.address"

// LockAddresses locks addresses, by their keys, until the transaction ends: what a command of before their erasure does is done when the erasure
// looks for it, or sees that they were erased. It comes before locks of ids.
func LockAddresses(ctx context.Context, tx *db.Tx, keys ...string) error {
	b := &pgx.Batch{}
	for _, key := range sortedKeys(keys) {
		db.QueueLock(b, addressLock, key)
	}
	if b.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, b).Close()
}

// sortedKeys is keys sorted, each once, without the empty one.
func sortedKeys(keys []string) []string {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// LockToErase locks the contacts whose ids a query gives, sorted, with their addresses and those in l.Keys, and gives the ids. It adds the addresses
// to l. Whoever files something under an id locks the id first, then the contact; so does this. If a merge or a write changed meanwhile whom the
// query means or which addresses they have, the unit of work runs again.
func LockToErase(ctx context.Context, tx *db.Tx, l *Leavers, query string, args ...any) ([]uuid.UUID, error) {
	ids, keys, err := leaving(ctx, tx, query, args...)
	if err != nil {
		return nil, err
	}
	if err := LockAddresses(ctx, tx, slices.Concat(keys, l.Keys)...); err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	for _, id := range ids {
		db.QueueLock(b, aliasLock, id)
	}
	b.Queue(`select from contact where id = any($1) order by id for update`, ids)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	locked, known, err := leaving(ctx, tx, query, args...)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(ids, locked) || !slices.Equal(keys, known) {
		// Locks taken now would be out of order. Whoever changed it has committed, so there is nothing to wait for.
		return nil, db.RunAgainAfter(context.Context.Err)
	}
	l.Keys = append(l.Keys, keys...)
	return ids, nil
}

// leaving gives the contacts whose ids a query gives, and the keys of all addresses that they have, had, or acted under, sorted.
func leaving(ctx context.Context, tx *db.Tx, query string, args ...any) (ids []uuid.UUID, keys []string, err error) {
	if ids, err = IDsOf(ctx, tx, query, args...); err != nil || len(ids) == 0 {
		return nil, nil, err
	}
	// A visitor without a name is called by the address.
	rows, err := tx.Query(ctx, `select email_key from contact where id = any($1) union select email_key from former_address where contact_id = any($1)
		union select actor_label from activity where contact_id = any($1) and user_id is null and actor_label like '%@%'`, ids)
	if err != nil {
		return nil, nil, err
	}
	if keys, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, nil, err
	}
	for i := range keys {
		keys[i] = address.Key(keys[i])
	}
	return ids, sortedKeys(keys), nil
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
