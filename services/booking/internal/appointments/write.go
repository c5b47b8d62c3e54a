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
	"frontdesk/services/booking/internal/staff"
)

// QueueStamp reads, with a batch, the moment with which InsertLater stamps the row and its event. The table is locked from then on, as the
// stamps of a list of changes need it, see db.Tx.ChangesUntil.
func QueueStamp(b *pgx.Batch, stamp *time.Time) {
	b.Queue(`lock table appointment in row exclusive mode`)
	b.Queue(`select date_trunc('second', clock_timestamp())`).QueryRow(func(row pgx.Row) error { return row.Scan(stamp) })
}

// Insert writes a new appointment with a staff member whose calendar the caller holds, and gives it as it is then. What a holds is its id, and
// who wants which service, when, where and on which terms. The error is svc_slot_taken if the constraint finds an overlap.
func (r *Room) Insert(ctx context.Context, tx *db.Tx, who staff.Row, a Record) (Record, error) {
	a, values, err := r.begun(tx, who, a)
	if err != nil {
		return a, err
	}
	return a, overlap(tx.QueryRow(ctx, insert+` returning updated_at`, values).Scan(&a.UpdatedAt))
}

// InsertLater is Insert with the commit, at the moment that QueueStamp has read.
func (r *Room) InsertLater(tx *db.Tx, who staff.Row, a Record, stamp time.Time) (Record, error) {
	a, values, err := r.begun(tx, who, a)
	if err != nil {
		return a, err
	}
	a.UpdatedAt = stamp
	values["updated_at"] = stamp
	tx.Explain = overlap
	tx.Defer(insert, values)
	return a, nil
}

const insert = `insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after,
	location_type, location, meeting_url, notes, source, submission_id, language, version, read_as, timed_at, booked_for, created_at, updated_at)
	values (@id, @status, @service, @terms, @user, @contact, @starts_at, @ends_at, @buffer_before, @buffer_after,
	@location_type, @location, @meeting_url, @notes, @source, @submission, @language, @version, @read_as, @now, @booked_for, @now, @updated_at)`

// begun is a new appointment with all that it has from its beginning, and the values of its row. All appointments are made here.
func (r *Room) begun(tx *db.Tx, who staff.Row, a Record) (Record, db.Args, error) {
	terms, err := json.Marshal(a.Terms)
	a.Version, a.CreatedAt, a.TimedAt = 1, tx.Now, tx.Now
	if a.EndsAt.IsZero() {
		a.EndsAt = a.StartsAt.Add(time.Duration(a.Terms.DurationMin) * time.Minute)
	}
	a.UserID, a.StaffName, a.StaffLink = who.UserID, r.staff.Ref(who.UserID, who.Name).Name, who.MeetingURL
	return a, db.Args{
		"id": a.ID, "status": a.Status, "service": a.ServiceID, "terms": terms, "user": a.UserID, "contact": a.ContactID, "starts_at": a.StartsAt,
		"ends_at": a.EndsAt, "buffer_before": a.Terms.BufferBefore, "buffer_after": a.Terms.BufferAfter, "location_type": a.Place.Kind,
		"location": a.Place.Location, "meeting_url": a.Place.MeetingURL, "notes": a.Notes, "source": a.Source, "submission": a.SubmissionID, "language": a.Language,
		"version": a.Version, "read_as": erasure.Reading, "booked_for": a.BookedFor, "now": a.CreatedAt, "updated_at": nil}, err
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
		notes = @notes, cancel_reason = @cancel_reason, sequence = @sequence, booked_for = @booked_for, version = @version, updated_at = null,
		status_at = case when status <> @status then @now else status_at end where id = @id`, db.Args{
		"now": tx.Now,
		"id":  a.ID, "status": a.Status, "user": a.UserID, "contact": a.ContactID, "starts_at": a.StartsAt, "ends_at": a.EndsAt,
		"timed_at": a.TimedAt, "reminded_at": a.RemindedAt, "location_type": a.Place.Kind, "location": a.Place.Location,
		"meeting_url": a.Place.MeetingURL, "notes": a.Notes, "cancel_reason": a.CancelReason, "sequence": a.Sequence, "booked_for": a.BookedFor, "version": a.Version + 1})
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

// WaitingTold marks that the team was told of requests that wait.
func WaitingTold(ctx context.Context, tx *db.Tx, ids ...uuid.UUID) error {
	_, err := tx.Exec(ctx, `update appointment set waiting_told = $2 where id = any($1)`, ids, tx.Now)
	return err
}

// Audited are the changes of an appointment that the audit log shows. Values that may say something about the client are
// "…" there: notes, reasons and places.
func Audited(was, now Record) change.Set {
	s := change.Set{}
	s.Note("status", was.Status, now.Status)
	s.Note("starts_at", was.StartsAt.Format(time.RFC3339), now.StartsAt.Format(time.RFC3339))
	s.Note("ends_at", was.EndsAt.Format(time.RFC3339), now.EndsAt.Format(time.RFC3339))
	s.Note("staff", was.UserID, now.UserID)
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
