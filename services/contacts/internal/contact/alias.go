package contact

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// aliasLock is held shared while a record is stored under an id, and exclusively while the id's meaning changes.
const aliasLock = "contacts.alias"

// Pinned returns the contact that id stands for, or nil if that contact was erased. It locks this meaning until the
// transaction ends, so that a record stored under the contact stays with the person: the id, and the contact's own id, which is what a merge or
// an erasure of the contact locks. An id that never was a contact's stands for itself, because its contact may still come.
func Pinned(ctx context.Context, tx *db.Tx, id uuid.UUID) (contact *uuid.UUID, err error) {
	for locked := id; ; locked = *contact {
		b := &pgx.Batch{}
		db.QueueLockShared(b, aliasLock, locked)
		b.Queue(`select target from contact_alias where id = $1`, id).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&contact)
			if errors.Is(err, pgx.ErrNoRows) {
				contact, err = &id, nil
			}
			return err
		})
		if err := tx.SendBatch(ctx, b).Close(); err != nil || contact == nil || *contact == locked {
			return contact, err
		}
	}
}

// PinAlone blocks storing records under id until the transaction ends.
func PinAlone(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return tx.Lock(ctx, aliasLock, id)
}

// PinAll locks the meaning of the ids under which appointments or submissions will be stored, and of the contacts that these stand for, sorted, as
// Pinned does for one.
func PinAll(ctx context.Context, tx *db.Tx, events []bus.Event) error {
	var ids []uuid.UUID
	for _, e := range events {
		var record struct {
			Contact *struct {
				ID uuid.UUID `json:"id"`
			} `json:"contact"`
		}
		// The handler reports what cannot be read.
		if !e.Tombstone && e.Decode(&record) == nil && record.Contact != nil {
			ids = append(ids, record.Contact.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	contacts, err := IDsOf(ctx, tx, `select target from contact_alias where id = any($1) and target is not null`, ids)
	if err != nil {
		return err
	}
	return queuePins(ctx, tx, append(ids, contacts...), db.QueueLockShared)
}

// LockCommands locks the addresses in commands and the meaning of the ids that they ask for, each sorted, as LockAddresses and PinAlone do for one.
func LockCommands(ctx context.Context, tx *db.Tx, events []bus.Event) error {
	var ids []uuid.UUID
	var keys []string
	for _, e := range events {
		var m proto.EnsureContact
		if e.Kind != proto.KindEnsureContact || e.Decode(&m) != nil {
			continue
		}
		keys = append(keys, address.Key(m.GetEmail()))
		if id, err := uuid.Parse(m.GetContactId()); err == nil {
			ids = append(ids, id)
		}
	}
	if err := LockAddresses(ctx, tx, keys...); err != nil {
		return err
	}
	return queuePins(ctx, tx, ids, db.QueueLock)
}

func queuePins(ctx context.Context, tx *db.Tx, ids []uuid.UUID, lock func(b *pgx.Batch, name string, key any)) error {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	b := &pgx.Batch{}
	for _, id := range slices.Compact(ids) {
		lock(b, aliasLock, id)
	}
	if b.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, b).Close()
}

// RememberAddress keeps an address, by its key, as one that a contact had: its timeline still names it.
func RememberAddress(ctx context.Context, tx *db.Tx, contact uuid.UUID, key string) error {
	if key == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `insert into former_address (email_key, contact_id) values ($1, $2) on conflict do nothing`, key, contact)
	return err
}

// QueueAlias queues that id stands for target from now on, and so does what stood for id.
func QueueAlias(b *pgx.Batch, id, target uuid.UUID, now time.Time) {
	b.Queue(`insert into contact_alias (id, target, created_at) values ($1, $2, $3) on conflict (id) do update set target = excluded.target`, id, target, now)
	b.Queue(`update contact_alias set target = $2 where target = $1`, id, target)
}

// Absorb deletes loser, whose addresses become former ones of winner. What of other tables belonged to loser has moved before.
func Absorb(ctx context.Context, tx *db.Tx, winner uuid.UUID, loser Contact) error {
	b := &pgx.Batch{}
	b.Queue(`insert into former_address (email_key, contact_id) select email_key, $1 from former_address where contact_id = $2 on conflict do nothing`, winner, loser.ID)
	b.Queue(`delete from contact where id = $1`, loser.ID)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return RememberAddress(ctx, tx, winner, address.Key(loser.Email))
}

// MergedAway publishes that winner took over from loser, which stands for it by now, and from every contact that was merged into loser before.
func MergedAway(ctx context.Context, tx *db.Tx, loser, winner uuid.UUID) error {
	ids, err := IDsOf(ctx, tx, `update contact_alias set merged = true where id = $1 or target = $2 and merged and not lingers returning id`, loser, winner)
	if err != nil {
		return err
	}
	return emitMergedAway(ctx, tx, ids, winner)
}

// emitMergedAway publishes the last event of contacts that were merged into another. It stays in the topic for good, and so
// names nobody.
func emitMergedAway(ctx context.Context, tx *db.Tx, ids []uuid.UUID, into uuid.UUID) error {
	who := tx.Who
	defer func() { tx.Who = who }()
	tx.Who = db.Actor{Channel: db.ChannelSystem}
	for _, id := range ids {
		if err := tx.Emit(ctx, mergedAwayEvent(id, into)); err != nil {
			return err
		}
	}
	return nil
}

func mergedAwayEvent(id, into uuid.UUID) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactMergedAway, Key: id.String(), Data: map[string]any{"id": id},
		Extra: &proto.MergedAway{Into: into.String()}}
}

// endLingering publishes the last event of contacts that were merged away before merging itself did so.
func (r *Room) endLingering(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `update contact_alias set lingers = false where id in
			(select id from contact_alias where lingers limit 1000) returning id, target`)
		if err != nil {
			return err
		}
		into := map[uuid.UUID]uuid.UUID{}
		var id, target uuid.UUID
		if _, err := pgx.ForEachRow(rows, []any{&id, &target}, func() error {
			into[id] = target
			return nil
		}); err != nil {
			return err
		}
		for id, target := range into {
			if err := emitMergedAway(ctx, tx, []uuid.UUID{id}, target); err != nil {
				return err
			}
		}
		return nil
	})
}
