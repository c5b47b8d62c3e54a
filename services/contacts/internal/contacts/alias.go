package contacts

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// pinned is currentID while what id means is held until the transaction ends, so that nothing is filed under
// an id while that becomes another. Who changes the meaning takes it alone.
func pinned(ctx context.Context, tx *db.Tx, id uuid.UUID) (current *uuid.UUID, err error) {
	b := &pgx.Batch{}
	db.QueueLockShared(b, aliasLock, id)
	b.Queue(selectAlias, id).QueryRow(func(row pgx.Row) error {
		current, err = meaning(row, id)
		return err
	})
	return current, tx.SendBatch(ctx, b).Close()
}

func pinAlone(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return tx.Lock(ctx, aliasLock, id)
}

// aliasLock is held while something is filed under an id, and alone while what the id means changes.
const aliasLock = "contacts.alias"

const selectAlias = `select target from contact_alias where id = $1`

func meaning(row pgx.Row, id uuid.UUID) (*uuid.UUID, error) {
	var target *uuid.UUID
	err := row.Scan(&target)
	if errors.Is(err, pgx.ErrNoRows) {
		return &id, nil
	}
	return target, err
}

// alias makes id mean target from now on, and moves what came for id before. Aliases always lead to a
// contact in one step.
func alias(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	if err := pinAlone(ctx, tx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `insert into contact_alias (id, target, created_at) values ($1, $2, $3) on conflict (id) do update set target = excluded.target`,
		id, target, tx.Now); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update contact_alias set target = $2 where target = $1`, id, target); err != nil {
		return err
	}
	for _, table := range []string{"activity", "appointment", "submission"} {
		if _, err := tx.Exec(ctx, `update `+table+` set contact_id = $2 where contact_id = $1`, id, target); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `update contact set last_activity = greatest(last_activity,
		(select created_at from activity where contact_id = $1 order by created_at desc, id desc limit 1)) where id = $1`, target)
	return err
}
