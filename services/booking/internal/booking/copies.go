package booking

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

const awaitFor = 2 * time.Second

// await gives a copy a moment to arrive: asks found again until it holds, for up to two seconds, and then
// says that there is no such thing. Few may wait at once; the others are told at once.
func (d *desk) await(ctx context.Context, what string, found func() (bool, error)) error {
	ok, err := found()
	if err != nil || ok {
		return err
	}
	select {
	case d.waiting <- struct{}{}:
		defer func() { <-d.waiting }()
	default:
		return fault.NotFound(what)
	}
	for until := time.Now().Add(awaitFor); time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if ok, err := found(); err != nil || ok {
			return err
		}
	}
	return fault.NotFound(what)
}

// awaitContact makes sure that the contact is there, out of the trash, and one that the caller may see.
func (d *desk) awaitContact(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return d.await(ctx, "contact", func() (bool, error) {
		// Held, so that a merge of this moment finds what is booked.
		tag, err := tx.Exec(ctx, `select from contact where id = $1 and not trashed and ($2::bigint = 0 or owner_user_id = $2) for share`, id, ownUser(tx))
		return tag.RowsAffected() > 0, err
	})
}

// missed tells whether err says that a record is not there.
func missed(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}
