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
func (s *service) await(ctx context.Context, what string, found func() (bool, error)) error {
	ok, err := found()
	if err != nil || ok {
		return err
	}
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
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

// awaitContact is the contact, which is there, out of the trash, and one that the caller may see.
func (s *service) awaitContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (c client, err error) {
	return c, s.await(ctx, "contact", func() (bool, error) {
		// Held, so that a merge of this moment finds what is booked.
		err := tx.QueryRow(ctx, `select first_name, last_name, email, phone from contact
			where id = $1 and not trashed and ($2::bigint = 0 or owner_user_id = $2) for share`, id, ownUser(tx)).Scan(&c.firstName, &c.lastName, &c.email, &c.phone)
		if errors.Is(err, pgx.ErrNoRows) {
			return false, nil
		}
		return err == nil, err
	})
}

// missed tells whether err says that a record is not there.
func missed(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}
