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

// arrives is how long the copy of a record that was made just now may take to get here.
const arrives = 2 * time.Second

// arriving is svc_not_found for a record that may still be on its way: the transaction runs again until the record is here or
// two seconds are over.
func arriving(tx *db.Tx, what string) error { return tx.Later(fault.NotFound(what), arrives) }

// arrivingContact reads a contact that the caller may see and that is not in the trash, and locks it in share mode. The error
// is that of arriving.
func (s *service) arrivingContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (c client, err error) {
	// Held, so that a merge of this moment finds what is booked.
	err = tx.QueryRow(ctx, `select first_name, last_name, email, phone from contact
		where id = $1 and not trashed and ($2::bigint = 0 or owner_user_id = $2) for share`, id, ownUser(tx)).Scan(&c.firstName, &c.lastName, &c.email, &c.phone)
	if errors.Is(err, pgx.ErrNoRows) {
		err = arriving(tx, "contact")
	}
	return c, err
}

// missed reports whether err says that a record is not there.
func missed(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}
