package contacts

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
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
