package appointments

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
)

// onContact lets the appointments follow their contact, whose copy is up to date by then.
func (r *Room) onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
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
		return r.repoint(ctx, tx, id, into)
	case proto.KindContactEnsured:
		var x proto.Ensured
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		if asked := x.GetRequestedId(); string(e.Data) != "null" && asked != "" && asked != e.Key {
			return r.ensured(ctx, tx, asked, id, &x)
		}
	case proto.KindContactMerged:
		var x proto.Merged
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		merged, err := uuid.Parse(x.GetMergedId())
		if err != nil {
			return fmt.Errorf("id of the contact that became %s: %w", id, err)
		}
		return r.repoint(ctx, tx, merged, id)
	}
	return nil
}

// origins are those of the commands to contacts about a client: an appointment, or the submission of its details.
var origins = []string{clients.Origin, "submission"}

// ensured hands over what was booked for a contact that turned out to be another one. An id that booking made up means the
// other from now on, with all its appointments. One that is a contact's stays that: only the appointment that asked is the other's.
func (r *Room) ensured(ctx context.Context, tx *db.Tx, asked string, contact uuid.UUID, x *proto.Ensured) error {
	requested, err := uuid.Parse(asked)
	if err != nil {
		return fmt.Errorf("id of the contact that became %s: %w", contact, err)
	}
	var known bool
	if err := tx.QueryRow(ctx, `select exists (select from contact where id = $1 and version > 0)`, requested).Scan(&known); err != nil {
		return fmt.Errorf("look for contact %s: %w", requested, err)
	}
	if !known {
		return r.repoint(ctx, tx, requested, contact)
	}
	if !slices.Contains(origins, x.GetOrigin()) {
		return nil
	}
	origin, err := uuid.Parse(x.GetOriginId())
	if err != nil {
		return fmt.Errorf("origin_id of %s: %w", proto.KindContactEnsured, err)
	}
	waits, err := db.Column[uuid.UUID](ctx, tx, `select id from appointment where contact_id = $2 and (id = $1 or submission_id = $1) for no key update`, origin, requested)
	if err != nil || len(waits) == 0 {
		return err // deleted, or handed over since
	}
	a, err := r.Lock(ctx, tx, waits[0])
	if err != nil {
		return err
	}
	return r.handTo(ctx, tx, a, contact, cmp.Or(a.BookedFor, a.Client.Name()))
}

// handTo makes a locked appointment that of another contact, booked for typed if that contact is called otherwise.
func (r *Room) handTo(ctx context.Context, tx *db.Tx, a Record, contact uuid.UUID, typed string) error {
	name, _, err := clients.NameOf(ctx, tx, contact)
	if err != nil {
		return err
	}
	a.ContactID, a.BookedFor = contact, clients.Other(typed, name)
	if a, err = r.Save(ctx, tx, a); err != nil {
		return err
	}
	return tx.Emit(ctx, a.Change(proto.KindAppointmentUpdated, nil, "contact"))
}

// repoint hands the appointments of one contact to another: the one that it turned out to be, or became.
// The contact goes first: a booking that holds it is waited for, and then found.
func (r *Room) repoint(ctx context.Context, tx *db.Tx, from, to uuid.UUID) error {
	typed, known, err := clients.NameOf(ctx, tx, from)
	if err != nil {
		return err
	}
	if known {
		typed = "" // a merge: both are one person
	}
	if err := clients.Delete(ctx, tx, from); err != nil {
		return err
	}
	ids, err := db.Column[uuid.UUID](ctx, tx, `select id from appointment where contact_id = $1 order by id for no key update`, from)
	if err != nil {
		return err
	}
	for _, id := range ids {
		a, err := r.Lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := r.handTo(ctx, tx, a, to, cmp.Or(a.BookedFor, typed)); err != nil {
			return err
		}
	}
	return nil
}

// forgetPerson deletes a person's contacts and appointments, and returns the ids of both. The contacts go first: a booking that holds
// one is waited for, and then found. From what is said about the appointments of others it strikes the person's addresses.
func (r *Room) forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	contacts, err := r.clients.Forget(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	appointments, err := forgetAppointments(ctx, tx, contacts)
	if err != nil {
		return nil, err
	}
	return append(contacts, appointments...), r.strike(ctx, tx, p)
}

// mayName is the condition that the words of an appointment may have somebody's address. The index appointment_names_read has the same one.
const mayName = `(notes || ' ' || location || ' ' || meeting_url || ' ' || cancel_reason)` + address.MayHaveSQL

// strike takes a person's addresses out of what was written about appointments until the erasure, and publishes these.
func (r *Room) strike(ctx context.Context, tx *db.Tx, p *erasure.Person) error {
	if len(p.Called()) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `select id, notes, location, meeting_url, cancel_reason from appointment where created_at < $1 and `+mayName, p.At)
	if err != nil {
		return err
	}
	var ids []uuid.UUID
	var id uuid.UUID
	var texts [4]string
	if _, err := pgx.ForEachRow(rows, []any{&id, &texts[0], &texts[1], &texts[2], &texts[3]}, func() error {
		for _, text := range texts {
			if _, named := p.StrikeFrom(text); named {
				ids = append(ids, id)
				break
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("find appointments that name somebody: %w", err)
	}
	found, err := r.Query(ctx, tx, `where a.id = any($1) order by a.id for no key update of a`, ids)
	if err != nil {
		return err
	}
	for _, a := range found {
		changed := a.strike(p)
		if a, err = r.Save(ctx, tx, a); err != nil {
			return err
		}
		if err := tx.Emit(ctx, a.Change(proto.KindAppointmentUpdated, nil, changed...)); err != nil {
			return err
		}
	}
	return nil
}

// reread publishes the appointments of clients whom contacts does not have yet under the hashes of their addresses. Booking itself finds
// a client by the address.
func (r *Room) reread() app.Reread {
	return app.Reread{
		Rows: `select id, array[(select email from contact where id = contact_id)] as texts, null::bytea[] as people from appointment
			where read_as < $1 and id <> all($2) and contact_id in (select id from contact where version = 0 and email <> '') order by read_as, id`,
		Store:   `update appointment set read_as = $3, version = version + 1 where id = $1 and $2::bytea[] is not null`,
		Changed: r.publishAppointments,
	}
}

// strike takes a person's addresses out of the record, and names the fields in which it found some.
func (a *Record) strike(p *erasure.Person) (changed []string) {
	for _, f := range []struct {
		name string
		text *string
	}{{"notes", &a.Notes}, {"location", &a.Place.Location}, {"meeting_url", &a.Place.MeetingURL}, {"cancel_reason", &a.CancelReason}} {
		var struck bool
		if *f.text, struck = p.StrikeFrom(*f.text); struck {
			changed = append(changed, f.name)
		}
	}
	return changed
}

// forgetAppointments deletes the appointments of contacts for good, and returns their ids.
func forgetAppointments(ctx context.Context, tx *db.Tx, contacts []uuid.UUID) ([]uuid.UUID, error) {
	ids, err := db.Column[uuid.UUID](ctx, tx, `delete from appointment where contact_id = any($1) returning id`, contacts)
	for _, id := range ids {
		tx.Tombstone(proto.AppointmentTopic, id.String())
	}
	return ids, err
}
