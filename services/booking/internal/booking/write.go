package booking

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
)

// booking is what a new appointment holds.
type booking struct {
	service    uuid.UUID
	terms      Terms
	start      time.Time
	contact    uuid.UUID
	client     client
	newClient  bool // a contact that nobody has heard of yet
	place      place
	notes      string
	source     string
	status     string
	submission *uuid.UUID
	language   string
}

// insert writes a new appointment with the commit. The caller holds the calendar of its staff member. All appointments are
// made here. The commit's error is svc_slot_taken if the constraint finds an overlap.
func (s *service) insert(tx *db.Tx, who staffRow, b booking) (record, error) {
	terms, err := json.Marshal(b.terms)
	if err != nil {
		return record{}, err
	}
	a := record{address: b.terms.LocationDetails, staffLink: who.MeetingURL, language: b.language, timedAt: tx.Now, place: b.place, client: b.client, Appointment: Appointment{version: 1,
		ID: db.NewID(), Status: b.status, Service: Ref{b.service, b.terms.Name}, Staff: StaffRef{who.UserID, s.staffName(who.UserID, who.Name)},
		Contact: ContactRef{ID: b.contact, Name: b.client.label()}, StartsAt: b.start, EndsAt: b.start.Add(time.Duration(b.terms.DurationMin) * time.Minute),
		Notes: b.notes, Source: b.source, CreatedAt: tx.Now, UpdatedAt: tx.Now}}
	if b.submission != nil {
		a.Submission = opt.Of(SubmissionRef{*b.submission})
	}
	a.show()
	if b.newClient {
		addClient(tx, b.contact, b.client)
	}
	tx.Explain = overlap
	tx.Defer(`insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after,
		location_type, location, meeting_url, notes, source, submission_id, language, version, timed_at, created_at, updated_at)
		values (@id, @status, @service, @terms, @user, @contact, @starts_at, @ends_at, @buffer_before, @buffer_after,
		@location_type, @location, @meeting_url, @notes, @source, @submission, @language, @version, @now, @now, @now)`, pgx.NamedArgs{
		"id": a.ID, "status": a.Status, "service": b.service, "terms": terms, "user": who.UserID, "contact": b.contact, "starts_at": a.StartsAt,
		"ends_at": a.EndsAt, "buffer_before": b.terms.BufferBefore, "buffer_after": b.terms.BufferAfter, "location_type": b.place.kind,
		"location": b.place.location, "meeting_url": b.place.meetingURL, "notes": b.notes, "source": b.source, "submission": b.submission, "language": b.language,
		"version": a.version, "now": tx.Now})
	return a, nil
}

// overlap is svc_slot_taken for what only the database saw: somebody who held no calendar.
func overlap(err error) error {
	if db.Violates(err, "appointment_overlap") {
		return fault.SlotTaken([]any{})
	}
	return err
}

// save writes a locked appointment under its next version. The error is svc_slot_taken when it overlaps another one.
func save(ctx context.Context, tx *db.Tx, a *record) error {
	a.version++
	err := tx.QueryRow(ctx, `update appointment set status = @status, user_id = @user, contact_id = @contact, starts_at = @starts_at, ends_at = @ends_at,
		timed_at = @timed_at, reminded_at = @reminded_at, location_type = @location_type, location = @location, meeting_url = @meeting_url,
		notes = @notes, cancel_reason = @cancel_reason, sequence = @sequence, version = @version, updated_at = null where id = @id returning updated_at`, pgx.NamedArgs{
		"id": a.ID, "status": a.Status, "user": a.Staff.UserID, "contact": a.Contact.ID, "starts_at": a.StartsAt, "ends_at": a.EndsAt,
		"timed_at": a.timedAt, "reminded_at": a.remindedAt, "location_type": a.place.kind, "location": a.place.location,
		"meeting_url": a.place.meetingURL, "notes": a.Notes, "cancel_reason": a.CancelReason, "sequence": a.sequence, "version": a.version}).Scan(&a.UpdatedAt)
	return overlap(err)
}

// resave is save, and the appointment as it is then: with the staff member and the client that it has now.
func (s *service) resave(ctx context.Context, tx *db.Tx, a record) (record, error) {
	if err := save(ctx, tx, &a); err != nil {
		return a, err
	}
	return s.find(ctx, tx, a.ID)
}
