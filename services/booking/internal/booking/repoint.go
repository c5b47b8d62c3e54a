package booking

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// onContact lets the appointments follow their contact. The copy of the contact is up to date by then, and that of one that is gone
// is deleted: a booking that held it is over.
func (s *service) onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil || e.Tombstone { // the contact is gone, for whatever reason; the appointments are booking's own
		return err
	}
	switch e.Kind {
	case proto.KindContactErased:
		_, err := forgetAppointments(ctx, tx, []uuid.UUID{id})
		return err
	case proto.KindContactMergedAway:
		var x proto.MergedAway
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		into, err := uuid.Parse(x.GetInto())
		if err != nil {
			return fmt.Errorf("the contact that %s went into: %w", id, err)
		}
		return s.repoint(ctx, tx, id, into)
	case proto.KindContactEnsured:
		var x proto.Ensured
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		if asked := x.GetRequestedId(); string(e.Data) != "null" && asked != "" && asked != e.Key {
			return s.ensured(ctx, tx, asked, id, &x)
		}
	case proto.KindContactMerged:
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		merged, err := uuid.Parse(x.GetMergedId())
		if err != nil {
			return err
		}
		return s.repoint(ctx, tx, merged, id)
	}
	return nil
}

// ensured hands over what was booked for a contact that turned out to be another one. An id that booking made up means the
// other from now on, with all its appointments. One that is a contact's stays that: only the appointment that asked is the other's.
func (s *service) ensured(ctx context.Context, tx *db.Tx, asked string, contact uuid.UUID, x *proto.Ensured) error {
	requested, err := uuid.Parse(asked)
	if err != nil {
		return err
	}
	known, err := knownContact(ctx, tx, requested)
	if err != nil {
		return err
	}
	if !known {
		return s.repoint(ctx, tx, requested, contact)
	}
	if x.GetOrigin() != originAppointment {
		return nil
	}
	id, err := uuid.Parse(x.GetOriginId())
	if err != nil {
		return fmt.Errorf("origin_id of %s: %w", proto.KindContactEnsured, err)
	}
	var waits bool
	err = tx.QueryRow(ctx, `select exists (select from appointment where id = $1 and contact_id = $2 for no key update)`, id, requested).Scan(&waits)
	if err != nil || !waits {
		return err // deleted, or handed over since
	}
	a, err := s.lock(ctx, tx, id)
	if err != nil {
		return err
	}
	return s.handTo(ctx, tx, a, contact)
}

// handTo makes a locked appointment that of another contact.
func (s *service) handTo(ctx context.Context, tx *db.Tx, a record, contact uuid.UUID) error {
	a.Contact.ID = contact
	a, err := s.resave(ctx, tx, a)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, nil, "contact"))
}

// giveTo hands a coming appointment to another staff member, and publishes it.
func (s *service) giveTo(ctx context.Context, tx *db.Tx, id uuid.UUID, user int64) (record, error) {
	a, err := s.lock(ctx, tx, id)
	if err != nil {
		return a, err
	}
	a.Staff.UserID = user
	a.sequence++
	if a, err = s.resave(ctx, tx, a); err != nil {
		return a, err
	}
	return a, tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, nil, "staff"))
}

// repoint hands the appointments of one contact to another: the one that it turned out to be, or became.
func (s *service) repoint(ctx context.Context, tx *db.Tx, from, to uuid.UUID) error {
	rows, err := tx.Query(ctx, `select id from appointment where contact_id = $1 order by id for no key update`, from)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := s.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.handTo(ctx, tx, a, to); err != nil {
			return err
		}
	}
	return nil
}
