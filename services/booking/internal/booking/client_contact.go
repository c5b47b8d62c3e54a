package booking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// contactRecord is what booking keeps of a contact.
type contactRecord struct {
	ID          uuid.UUID  `json:"id"`
	FirstName   string     `json:"first_name"`
	LastName    string     `json:"last_name"`
	Email       string     `json:"email"`
	Phone       string     `json:"phone"`
	OwnerUserID *int64     `json:"owner_user_id"`
	DeletedAt   *time.Time `json:"deleted_at"`
}

// keepContact brings the copy of a contact up to date. Rooms above follow the topic as well, for what is theirs of the contact: the
// contact goes first, so that a booking that holds it is waited for, and then found.
func (s *service) keepContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone || e.Kind == proto.KindContactErased || e.Kind == proto.KindContactMergedAway {
		return deleteContacts(ctx, tx, id)
	}
	if string(e.Data) == "null" {
		// Asked for, and not made: there is no record to keep, and no other answer to ask for.
		_, err := tx.Exec(ctx, `update contact set asked_at = 'infinity' where id = $1 and version = 0`, id)
		return err
	}
	var c contactRecord
	if err := e.Decode(&c); err != nil {
		return err
	}
	var moved bool
	err = tx.QueryRow(ctx, `with before as (select from contact where id = @id and version < @below and email_key not in ('', @email_key))
		insert into contact as c (id, version, first_name, last_name, email, email_key, phone, owner_user_id, trashed)
		values (@id, @version, @first_name, @last_name, @email, @email_key, @phone, @owner, @trashed)
		on conflict (id) do update set version = excluded.version, first_name = excluded.first_name, last_name = excluded.last_name,
			email = excluded.email, email_key = excluded.email_key, phone = excluded.phone, owner_user_id = excluded.owner_user_id, trashed = excluded.trashed
			where c.version < @below
		returning exists (select from before)`,
		pgx.NamedArgs{"id": id, "version": e.Version, "below": e.ReplacesBelow(), "first_name": c.FirstName, "last_name": c.LastName, "email": c.Email,
			"email_key": address.Key(c.Email), "phone": c.Phone, "owner": c.OwnerUserID, "trashed": c.DeletedAt != nil}).Scan(&moved)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // no row: the copy is newer
		return err
	}
	if moved {
		// Links in mails to the address before.
		if err := s.readdressed(ctx, tx, id, e.At); err != nil {
			return err
		}
	}
	return dropOther(ctx, tx, e, id)
}

// dropOther deletes the contact that this one turned out to be, or took in. One that contacts had before it answered stays.
func dropOther(ctx context.Context, tx *db.Tx, e bus.Event, id uuid.UUID) error {
	switch e.Kind {
	case proto.KindContactEnsured:
		var x proto.Ensured
		if err := e.DecodeExtra(&x); err != nil || x.GetRequestedId() == "" || x.GetRequestedId() == e.Key {
			return err
		}
		requested, err := otherID(x.GetRequestedId(), id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `delete from contact where id = $1 and version = 0`, requested)
		return err
	case proto.KindContactMerged:
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		merged, err := otherID(x.GetMergedId(), id)
		if err != nil {
			return err
		}
		return deleteContacts(ctx, tx, merged)
	}
	return nil
}

// otherID reads the id of a contact that became another one.
func otherID(text string, became uuid.UUID) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return id, fmt.Errorf("id of the contact that became %s: %w", became, err)
	}
	return id, nil
}

func deleteContacts(ctx context.Context, tx *db.Tx, ids ...uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from contact where id = any($1)`, ids)
	return err
}
