package appointments

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// Booking is what a new appointment holds.
type Booking struct {
	Service    uuid.UUID
	Terms      services.Terms
	Start      time.Time
	Contact    uuid.UUID
	Client     clients.Client
	NewClient  bool // a contact that nobody has heard of yet
	BookedFor  string
	Place      Place
	Notes      string
	Source     string
	Status     string
	Submission *uuid.UUID
	Language   string
}

// Insert writes a new appointment, whose updated_at is the row's. The caller holds the calendar of its staff member. The error is
// svc_slot_taken if the constraint finds an overlap.
func (r *Room) Insert(ctx context.Context, tx *db.Tx, who staff.Row, b Booking) (Record, error) {
	a, values, err := r.begun(tx, who, b)
	if err != nil {
		return a, err
	}
	return a, overlap(tx.QueryRow(ctx, insert+` returning updated_at`, values).Scan(&a.UpdatedAt))
}

// InsertLater is Insert with the commit, for answers that say nothing of updated_at: the event has the time of the process.
func (r *Room) InsertLater(tx *db.Tx, who staff.Row, b Booking) (Record, error) {
	a, values, err := r.begun(tx, who, b)
	if err != nil {
		return a, err
	}
	tx.Explain = overlap
	tx.Defer(insert, values)
	return a, nil
}

const insert = `insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after,
	location_type, location, meeting_url, notes, source, submission_id, language, version, read_as, timed_at, booked_for, created_at, updated_at)
	values (@id, @status, @service, @terms, @user, @contact, @starts_at, @ends_at, @buffer_before, @buffer_after,
	@location_type, @location, @meeting_url, @notes, @source, @submission, @language, @version, @read_as, @now, @booked_for, @now, @now)`

// begun is a new appointment, with the values of its row. All appointments are made here.
func (r *Room) begun(tx *db.Tx, who staff.Row, b Booking) (Record, pgx.NamedArgs, error) {
	terms, err := json.Marshal(b.Terms)
	if err != nil {
		return Record{}, nil, err
	}
	a := Record{Terms: b.Terms, StaffLink: who.MeetingURL, Language: b.Language, TimedAt: tx.Now, Place: b.Place, Client: b.Client, Appointment: Appointment{version: 1,
		ID: db.NewID(), Status: b.Status, Service: Ref{b.Service, b.Terms.Name}, Staff: r.staff.Ref(who.UserID, who.Name),
		Contact: ContactRef{ID: b.Contact, Name: b.Client.Label()}, StartsAt: b.Start, EndsAt: b.Start.Add(time.Duration(b.Terms.DurationMin) * time.Minute),
		Notes: b.Notes, Source: b.Source, CreatedAt: tx.Now, UpdatedAt: tx.Now}}
	if b.Submission != nil {
		a.Submission = opt.Of(submissionRef{*b.Submission})
	}
	a.bookFor(b.BookedFor)
	a.show()
	if b.NewClient {
		clients.Add(tx, b.Contact, b.Client)
	}
	return a, pgx.NamedArgs{
		"id": a.ID, "status": a.Status, "service": b.Service, "terms": terms, "user": who.UserID, "contact": b.Contact, "starts_at": a.StartsAt,
		"ends_at": a.EndsAt, "buffer_before": b.Terms.BufferBefore, "buffer_after": b.Terms.BufferAfter, "location_type": b.Place.Kind,
		"location": b.Place.Location, "meeting_url": b.Place.MeetingURL, "notes": b.Notes, "source": b.Source, "submission": b.Submission, "language": b.Language,
		"version": a.version, "read_as": erasure.Reading, "booked_for": b.BookedFor, "now": tx.Now}, nil
}

// overlap is svc_slot_taken for what only the database saw: somebody who held no calendar.
func overlap(err error) error {
	if db.Violates(err, "appointment_overlap") {
		return fault.SlotTaken([]any{})
	}
	return err
}

// Save writes a locked appointment under its next version, and gives it as it is then: with the staff member and the client that it has
// now. The error is svc_slot_taken when it overlaps another one.
func (r *Room) Save(ctx context.Context, tx *db.Tx, a Record) (Record, error) {
	_, err := tx.Exec(ctx, `update appointment set status = @status, user_id = @user, contact_id = @contact, starts_at = @starts_at, ends_at = @ends_at,
		timed_at = @timed_at, reminded_at = @reminded_at, location_type = @location_type, location = @location, meeting_url = @meeting_url,
		notes = @notes, cancel_reason = @cancel_reason, sequence = @sequence, booked_for = @booked_for, version = @version, updated_at = null where id = @id`, pgx.NamedArgs{
		"id": a.ID, "status": a.Status, "user": a.Staff.UserID, "contact": a.Contact.ID, "starts_at": a.StartsAt, "ends_at": a.EndsAt,
		"timed_at": a.TimedAt, "reminded_at": a.RemindedAt, "location_type": a.Place.Kind, "location": a.Place.Location,
		"meeting_url": a.Place.MeetingURL, "notes": a.Notes, "cancel_reason": a.CancelReason, "sequence": a.Sequence, "booked_for": a.For(), "version": a.version + 1})
	if err != nil {
		return a, overlap(err)
	}
	return r.Find(ctx, tx, a.ID)
}

// Reminded marks the reminders of appointments as sent.
func Reminded(ctx context.Context, tx *db.Tx, ids ...uuid.UUID) error {
	_, err := tx.Exec(ctx, `update appointment set reminded_at = $2 where id = any($1)`, ids, tx.Now)
	return err
}

// GiveTo hands a coming appointment to another staff member, and publishes it.
func (r *Room) GiveTo(ctx context.Context, tx *db.Tx, id uuid.UUID, user int64) (Record, error) {
	a, err := r.Lock(ctx, tx, id)
	if err != nil {
		return a, err
	}
	a.Staff.UserID = user
	a.Sequence++
	if a, err = r.Save(ctx, tx, a); err != nil {
		return a, err
	}
	return a, tx.Emit(ctx, a.Change(proto.KindAppointmentUpdated, nil, "staff"))
}

// Audited are the changes of an appointment that the audit log shows. Values that may say something about the client are
// "…" there: notes, reasons and places.
func Audited(was, now Record) change.Set {
	s := change.Set{}
	s.Note("status", was.Status, now.Status)
	s.Note("starts_at", was.StartsAt.Format(time.RFC3339), now.StartsAt.Format(time.RFC3339))
	s.Note("ends_at", was.EndsAt.Format(time.RFC3339), now.EndsAt.Format(time.RFC3339))
	s.Note("staff", was.Staff.UserID, now.Staff.UserID)
	s.Note("location_type", was.Place.Kind, now.Place.Kind)
	veil(s, "location", was.Place.Location, now.Place.Location)
	veil(s, "meeting_url", was.Place.MeetingURL, now.Place.MeetingURL)
	veil(s, "notes", was.Notes, now.Notes)
	veil(s, "cancel_reason", was.CancelReason, now.CancelReason)
	return s
}

// veil notes that a text changed, and whether there was one before and is one now.
func veil(s change.Set, field, old, new string) {
	if old != new {
		s[field] = change.Change{Old: veiled(old), New: veiled(new)}
	}
}

func veiled(text string) string {
	if text == "" {
		return ""
	}
	return "…"
}
