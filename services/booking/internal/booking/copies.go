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

// await waits up to two seconds until found reports true, because the copy of a record may still be on its way. The error is
// svc_not_found if the record has not arrived by then. Few calls wait at the same time; the others get the error at once.
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

// awaitContact reads a contact that the caller may see and that is not in the trash, and locks it in share mode. It waits
// as await does; the error is svc_not_found.
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

// missed reports whether err says that a record is not there.
func missed(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}
