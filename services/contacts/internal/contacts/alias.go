package contacts

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// aliasLock is held shared while a record is stored under an id, and exclusively while the id's meaning changes.
const aliasLock = "contacts.alias"

// pinned returns the contact that id stands for, or nil if that contact was erased. It locks this meaning until the
// transaction ends, so that a record stored under the contact stays with the person. An id that never was a contact's stands
// for itself, because its contact may still come.
func pinned(ctx context.Context, tx *db.Tx, id uuid.UUID) (contact *uuid.UUID, err error) {
	b := &pgx.Batch{}
	db.QueueLockShared(b, aliasLock, id)
	b.Queue(`select target from contact_alias where id = $1`, id).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&contact)
		if errors.Is(err, pgx.ErrNoRows) {
			contact, err = &id, nil
		}
		return err
	})
	err = tx.SendBatch(ctx, b).Close()
	return contact, err
}

// pinAlone blocks storing records under id until the transaction ends.
func pinAlone(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return tx.Lock(ctx, aliasLock, id)
}

// pinAll locks the meaning of the ids under which appointments or submissions will be stored, sorted, as pinned does for one.
func pinAll(ctx context.Context, tx *db.Tx, events []bus.Event) error {
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
	return queuePins(ctx, tx, ids, db.QueueLockShared)
}

// pinAllAlone locks the meaning of the ids that commands ask for, sorted, as pinAlone does for one.
func pinAllAlone(ctx context.Context, tx *db.Tx, events []bus.Event) error {
	var ids []uuid.UUID
	for _, e := range events {
		var m proto.EnsureContact
		if e.Kind != proto.KindEnsureContact || e.Decode(&m) != nil {
			continue
		}
		if id, err := uuid.Parse(m.GetContactId()); err == nil {
			ids = append(ids, id)
		}
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

// alias makes id stand for target from now on, and moves the records stored under id. An alias always leads to a contact in
// one step.
func alias(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	if err := pinAlone(ctx, tx, id); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`insert into contact_alias (id, target, created_at) values ($1, $2, $3) on conflict (id) do update set target = excluded.target`, id, target, tx.Now)
	b.Queue(`update contact_alias set target = $2 where target = $1`, id, target)
	b.Queue(`update activity set contact_id = $2 where contact_id = $1`, id, target)
	b.Queue(`update appointment set contact_id = $2 where contact_id = $1`, id, target)
	b.Queue(`update submission set contact_id = $2 where contact_id = $1`, id, target)
	b.Queue(`update contact set last_activity = greatest(last_activity,
		(select created_at from activity where contact_id = $1 order by created_at desc, id desc limit 1)) where id = $1`, target)
	return tx.SendBatch(ctx, b).Close()
}
