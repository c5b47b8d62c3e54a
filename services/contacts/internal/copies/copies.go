package copies

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// appointmentRecord is what of booking.appointment is kept here.
type appointmentRecord struct {
	ID      uuid.UUID `json:"id"`
	Status  string    `json:"status"`
	Service struct {
		ID   uuid.UUID `json:"id"`
		Name string    `json:"name"`
	} `json:"service"`
	Staff struct {
		UserID int64  `json:"user_id"`
		Name   string `json:"name"`
	} `json:"staff"`
	Contact   *contactID `json:"contact"`
	BookedFor string     `json:"booked_for"`
	StartsAt  time.Time  `json:"starts_at"`
	EndsAt    time.Time  `json:"ends_at"`
	CreatedAt time.Time  `json:"created_at"`
}

// keepAppointment stores an appointment unless a newer version is there. It gives the contact that the appointment is with,
// or nil if no contact has it or the person was erased.
func keepAppointment(ctx context.Context, tx *db.Tx, a appointmentRecord, e bus.Event) (*uuid.UUID, error) {
	contact, people, err := whose(ctx, tx, a.Contact, e)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		insert into appointment as a (id, version, contact_id, status, service_id, service_name, staff_id, staff_name, starts_at, ends_at, people, booked_for, arrived_at, made_by, requested)
		values (@id, @version, @contact, @status, nullif(@service, '00000000-0000-0000-0000-000000000000'::uuid), @service_name,
			nullif(@staff::bigint, 0), @staff_name, @starts_at, @ends_at, @people, @booked_for, coalesce(@arrived::timestamptz, clock_timestamp()), nullif(@made_by::bigint, 0), @requested)
		on conflict (id) do update set version = excluded.version, contact_id = excluded.contact_id, status = excluded.status,
			service_id = excluded.service_id, service_name = excluded.service_name, staff_id = excluded.staff_id, staff_name = excluded.staff_name,
			starts_at = excluded.starts_at, ends_at = excluded.ends_at, booked_for = excluded.booked_for,
			people = case when excluded.people = '{}' then a.people else excluded.people end -- only a visitor's booking names them
		where a.version < @below`,
		db.Args{"id": a.ID, "version": e.Version, "below": e.ReplacesBelow(), "contact": contact, "status": a.Status, "service": a.Service.ID, "service_name": a.Service.Name,
			"staff": a.Staff.UserID, "staff_name": a.Staff.Name, "starts_at": a.StartsAt, "ends_at": a.EndsAt, "people": people, "booked_for": a.BookedFor,
			"arrived": arrived(e, a.CreatedAt), "made_by": maker(e), "requested": a.Status == "pending"})
	return contact, err
}

// maker is the user who booked, where the event says so: 0 for visitors, and where the copy begins with a later event.
func maker(e bus.Event) int64 {
	if e.Kind == proto.KindAppointmentBooked {
		return e.Actor.UserID
	}
	return 0
}

// arrived is when a record became known here, nil for now: what is history was known before, and counts from when it was made. Now is not the
// transaction's, whose seconds are too coarse to say whether somebody looked before or after.
func arrived(e bus.Event, made time.Time) *time.Time {
	if e.History {
		return &made
	}
	return nil
}

// contactID names the contact of a record.
type contactID struct {
	ID uuid.UUID `json:"id"`
}

// whose gives the contact that a record is stored under, or nil if it has none or the person was erased, and the hashes of the addresses that its event
// names; none for a producer that sends none.
func whose(ctx context.Context, tx *db.Tx, c *contactID, e bus.Event) (contactOf *uuid.UUID, people [][]byte, err error) {
	m := &proto.PeopleNamed{}
	if len(e.Extra) > 0 {
		if err := e.DecodeExtra(m); err != nil {
			return nil, nil, err
		}
	}
	if c != nil && c.ID != uuid.Nil {
		contactOf, err = contact.Pinned(ctx, tx, c.ID)
	}
	return contactOf, append([][]byte{}, m.GetCalled()...), err
}

// appointmentSubjects are the subjects of timeline entries by the event of the appointment; other events make no entry.
var appointmentSubjects = map[string]string{
	proto.KindAppointmentBooked:       "Appointment booked",
	proto.KindAppointmentConfirmed:    "Appointment confirmed",
	proto.KindAppointmentDeclined:     "Appointment declined",
	proto.KindAppointmentRescheduled:  "Appointment moved",
	proto.KindAppointmentPlaceChanged: "Place of the appointment changed",
	proto.KindAppointmentCancelled:    "Appointment cancelled",
	proto.KindAppointmentCompleted:    "Appointment took place",
	proto.KindAppointmentNoShow:       "Client did not show up",
	proto.KindAppointmentReopened:     "Appointment opened again",
}

// logAppointment writes what happened into the client's timeline, in the name of who did it.
func logAppointment(ctx context.Context, tx *db.Tx, a appointmentRecord, client uuid.UUID, e bus.Event) error {
	subject, ok := appointmentSubjects[e.Kind]
	if !ok {
		return nil
	}
	if a.Service.Name != "" {
		subject += ": " + a.Service.Name
	}
	data := map[string]any{"event": e.Kind, "appointment": map[string]any{"id": a.ID, "status": a.Status, "starts_at": a.StartsAt, "ends_at": a.EndsAt,
		"service": a.Service, "staff": a.Staff}}
	return contact.LogEvent(ctx, tx, client, e, timeline.NewEntry{Kind: timeline.Appointment, Subject: subject, Data: data, Ref: &a.ID})
}

// drop deletes the copy of a record by a statement, and its timeline entries.
func drop(ctx context.Context, tx *db.Tx, deletion, key string) error {
	id, err := uuid.Parse(key)
	if err != nil {
		return nil
	}
	if _, err := tx.Exec(ctx, deletion, id); err != nil {
		return err
	}
	return timeline.DropRef(ctx, tx, id)
}

// submissionRecord is what of forms.submission is kept here.
type submissionRecord struct {
	ID   uuid.UUID `json:"id"`
	Form struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	} `json:"form"`
	Status    string     `json:"status"`
	Contact   *contactID `json:"contact"`
	CreatedAt time.Time  `json:"created_at"`
}

// keepSubmission stores a submission unless a newer version is there. It gives its contact, or nil.
func keepSubmission(ctx context.Context, tx *db.Tx, r submissionRecord, e bus.Event) (*uuid.UUID, error) {
	contact, people, err := whose(ctx, tx, r.Contact, e)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `
		insert into submission as s (id, version, contact_id, form_id, form_name, status, created_at, people, arrived_at)
		values (@id, @version, @contact, @form, @form_name, @status, @at, @people, coalesce(@arrived::timestamptz, clock_timestamp()))
		on conflict (id) do update set version = excluded.version, contact_id = excluded.contact_id, form_id = excluded.form_id,
			form_name = excluded.form_name, status = excluded.status, people = excluded.people
		where s.version < @below`,
		db.Args{"id": r.ID, "version": e.Version, "below": e.ReplacesBelow(), "contact": contact, "form": r.Form.ID, "form_name": r.Form.Name,
			"status": r.Status, "at": r.CreatedAt, "people": people, "arrived": arrived(e, r.CreatedAt)})
	return contact, err
}

func logSubmission(ctx context.Context, tx *db.Tx, r submissionRecord, sender uuid.UUID, e bus.Event) error {
	subject := "Form submitted"
	if r.Form.Name != "" {
		subject += ": " + r.Form.Name
	}
	data := map[string]any{"submission": map[string]any{"id": r.ID}, "form": r.Form}
	return contact.LogEvent(ctx, tx, sender, e, timeline.NewEntry{Kind: timeline.Submission, Subject: subject, Data: data, Ref: &r.ID})
}

// onAppointment keeps the copy of an appointment, and writes what happened to it into the client's timeline.
func onAppointment(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone {
		return drop(ctx, tx, `delete from appointment where id = $1`, e.Key)
	}
	var a appointmentRecord
	if err := e.Decode(&a); err != nil {
		return err
	}
	contact, err := keepAppointment(ctx, tx, a, e)
	if err != nil || contact == nil {
		return err
	}
	return logAppointment(ctx, tx, a, *contact, e)
}

// onSubmission keeps the copy of a submission, and writes a new one into the timeline of its contact.
func onSubmission(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone || e.Kind == proto.KindSubmissionDeleted {
		return drop(ctx, tx, `delete from submission where id = $1`, e.Key) // what its contact became stays
	}
	var r submissionRecord
	if err := e.Decode(&r); err != nil {
		return err
	}
	contact, err := keepSubmission(ctx, tx, r, e)
	if err != nil || contact == nil || e.Kind != proto.KindFormSubmitted {
		return err
	}
	return logSubmission(ctx, tx, r, *contact, e)
}

// forgetPerson deletes the copies of submissions that name the person and belong to no contact, and returns their ids. The
// transaction of the request has erased all else. If forms keeps a submission, because somebody else sent it, forms
// publishes it again without the address.
func forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	return contact.IDsOf(ctx, tx, `delete from submission where contact_id is null and people && $1 and created_at < $2 returning id`, p.Called(), p.At)
}

// QueueMove queues that what is stored under one contact belongs to another.
func QueueMove(b *pgx.Batch, from, to uuid.UUID) {
	b.Queue(`update appointment set contact_id = $2 where contact_id = $1`, from, to)
	b.Queue(`update submission set contact_id = $2 where contact_id = $1`, from, to)
}

// Erase deletes the submissions of a contact that is erased. Its appointments stay without it until booking ends them.
func Erase(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`delete from submission where contact_id = $1`, contact)
	b.Queue(`update appointment set contact_id = null where contact_id = $1`, contact)
	return tx.SendBatch(ctx, b).Close()
}
