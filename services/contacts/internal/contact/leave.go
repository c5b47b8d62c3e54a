package contact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// Leavers are the people whom one transaction erases. The value is complete before anything is struck: what a contact who remains has
// too, an address or a name, is that contact's and not in it. Its ids, addresses and full names are published as one ForgetPerson.
type Leavers struct {
	*erasure.Person
	Keys  []string // addresses as address.Key has them
	Names []FullName
	// Labels are full names, and what the people were called as visitors.
	Labels []string
}

// FullName is a first and a last name, of which neither is empty.
type FullName struct {
	First string `db:"first_name"`
	Last  string `db:"last_name"`
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

// LockToErase locks the contacts whose ids a query gives, sorted, with their addresses and further ones, by their keys, and gives the ids and
// who is erased with them. Whoever files something under an id locks the id first, then the contact; so does this. If a merge or a write
// changed meanwhile whom the query means or which addresses they have, the unit of work runs again.
func LockToErase(ctx context.Context, tx *db.Tx, hash erasure.Hasher, further []string, query string, args ...any) (*Leavers, []uuid.UUID, error) {
	ids, keys, err := leaving(ctx, tx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	if err := LockAddresses(ctx, tx, slices.Concat(keys, further)...); err != nil {
		return nil, nil, err
	}
	b := &pgx.Batch{}
	for _, id := range ids {
		db.QueueLock(b, aliasLock, id)
	}
	b.Queue(`select from contact where id = any($1) order by id for update`, ids)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, nil, err
	}
	locked, known, err := leaving(ctx, tx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Equal(ids, locked) || !slices.Equal(keys, known) {
		// Locks taken now would be out of order. Whoever changed it has committed, so there is nothing to wait for.
		return nil, nil, db.RunAgainAfter(context.Context.Err)
	}
	l, err := leavers(ctx, tx, hash, ids, sortedKeys(slices.Concat(keys, further)))
	return l, ids, err
}

// leavers are the people of locked contacts and of locked addresses.
func leavers(ctx context.Context, tx *db.Tx, hash erasure.Hasher, contacts []uuid.UUID, keys []string) (l *Leavers, err error) {
	l = &Leavers{}
	if l.Keys, err = db.Column[string](ctx, tx, `select k from unnest($1::text[]) k where not exists (select from contact where email_key = k and id <> all($2))`,
		keys, contacts); err != nil {
		return nil, fmt.Errorf("addresses that nobody else has: %w", err)
	}
	// Visitors stand in the audit log with the names they gave; without a name they are called by the address.
	labels, err := db.Column[string](ctx, tx, `select actor_label from activity where contact_id = any($1) and user_id is null and actor_label <> '' and actor_label not like '%@%'
		union select btrim(first_name || ' ' || last_name) from contact where id = any($1) and first_name || last_name <> ''`, contacts)
	if err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	patterns := make([]string, len(labels))
	for i, label := range labels {
		patterns[i] = db.LikeWord(label)
	}
	// The index of the search finds the few contacts that can have the name.
	if l.Labels, err = db.Column[string](ctx, tx, `select label from unnest($1::text[], $2::text[]) n(label, pattern) where not exists (select from contact
		where search like fold(pattern) and lower(btrim(first_name || ' ' || last_name)) = lower(label) and id <> all($3))`, labels, patterns, contacts); err != nil {
		return nil, fmt.Errorf("names that nobody else has: %w", err)
	}
	rows, err := tx.Query(ctx, `select distinct first_name, last_name from contact where id = any($1) and first_name <> '' and last_name <> ''
		and first_name || ' ' || last_name = any($2)`, contacts, l.Labels)
	if err != nil {
		return nil, err
	}
	if l.Names, err = pgx.CollectRows(rows, pgx.RowToStructByName[FullName]); err != nil {
		return nil, err
	}
	ids, err := IDsOf(ctx, tx, `select unnest($1::uuid[]) union select id from contact_alias where target = any($1)`, contacts)
	if err != nil {
		return nil, fmt.Errorf("ids: %w", err)
	}
	var called [][]byte
	for _, text := range slices.Concat(l.Keys, l.Labels) {
		called = append(called, hash(text))
	}
	// Work is timed in whole seconds: all of this one is before the erasure.
	l.Person = erasure.New(hash, tx.Now.Add(time.Second), nil, called)
	l.AddID(ids...)
	return l, nil
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

// Erase deletes a contact that LockToErase locked, after what other rooms keep of it. It publishes the end of every id that means the person:
// contacts that were merged into this one, ids that were given out for it, and its own.
func Erase(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	aliases, err := IDsOf(ctx, tx, `select id from contact_alias where target = $1`, id)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`update contact_alias set target = null, merged = false, lingers = false where target = $1`, id)
	b.Queue(`delete from contact where id = $1`, id)
	b.Queue(`insert into contact_alias (id, created_at) values ($1, $2)`, id, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if err := tx.End(ctx, erasedEvent(id)); err != nil {
		return err
	}
	for _, one := range aliases {
		// The person left once: of the other ids it is state.
		e := erasedEvent(one)
		e.State = true
		if err := tx.End(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// ForgetAddresses makes addresses, by their keys, former ones of nobody.
func ForgetAddresses(ctx context.Context, tx *db.Tx, keys []string) error {
	_, err := tx.Exec(ctx, `delete from former_address where email_key = any($1)`, keys)
	return err
}
