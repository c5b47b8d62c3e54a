package booking

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
)

// client is the copy of a contact, as far as appointments and mails need it.
type client struct{ firstName, lastName, email, phone string }

func (c client) name() string {
	return strings.TrimSpace(c.firstName + " " + c.lastName)
}

// label names the client in logs: by name, else by address.
func (c client) label() string {
	if n := c.name(); n != "" {
		return n
	}
	if c.email != "" {
		return c.email
	}
	return c.phone
}

// arrivingContact reads a contact that the caller may see and that is not in the trash, and locks it in share mode. The error
// is svc_not_found; the transaction waits for a contact that may still be on its way, see db.Tx.Arriving.
func (s *service) arrivingContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (c client, err error) {
	// Held, so that a merge of this moment finds what is booked.
	err = tx.QueryRow(ctx, `select first_name, last_name, email, phone from contact
		where id = $1 and not trashed and ($2::bigint = 0 or owner_user_id = $2) for share`, id, tx.Who.OwnUser()).Scan(&c.firstName, &c.lastName, &c.email, &c.phone)
	if errors.Is(err, pgx.ErrNoRows) {
		err = tx.Arriving("contact")
	}
	return c, err
}

// queueClient reads, with a batch, the contact that has an address, and locks it in share mode, so that a merge of this moment finds what
// is booked. Both values stay as they are if no contact has it.
func queueClient(b *pgx.Batch, key string, contact *uuid.UUID, c *client) {
	b.Queue(`select id, first_name, last_name, email, phone from contact where email_key = $1 and email_key <> '' and not trashed
		order by version desc, id limit 1 for share`, key).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{contact, &c.firstName, &c.lastName, &c.email, &c.phone}, func() error { return nil })
		return err
	})
}

// addClient inserts, with the commit, a client whom contacts does not have yet.
func addClient(tx *db.Tx, id uuid.UUID, c client) {
	tx.Defer(`insert into contact (id, version, first_name, last_name, email, email_key, phone) values ($1, 0, $2, $3, $4, $5, $6)`,
		id, c.firstName, c.lastName, c.email, address.Key(c.email), c.phone)
}

// knownContact reports whether contacts has, or had, published the contact.
func knownContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (known bool, err error) {
	if err := tx.QueryRow(ctx, `select exists (select from contact where id = $1 and version > 0)`, id).Scan(&known); err != nil {
		return false, fmt.Errorf("look for contact %s: %w", id, err)
	}
	return known, nil
}

// owns reports whether a user owns contacts or organizations.
func owns(ctx context.Context, tx *db.Tx, user int64) (has bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from contact where owner_user_id = $1) or exists (select from organization where owner_user_id = $1)`,
		user).Scan(&has)
	return has, err
}
