package booking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

type withReason struct {
	ID     uuid.UUID `json:"id"`
	Reason string    `json:"reason" maxLength:"500" doc:"For the team only; never sent to the client."`
}

func (s *service) confirmAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (Appointment, error) {
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = s.become(ctx, tx, a, statusConfirmed, "", statusPending)
	return a.whole(), err
}

func (s *service) declineAppointment(ctx context.Context, tx *db.Tx, in withReason) (Appointment, error) {
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = s.become(ctx, tx, a, statusDeclined, in.Reason, statusPending)
	return a.whole(), err
}

func (s *service) cancelAppointment(ctx context.Context, tx *db.Tx, in withReason) (Appointment, error) {
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = s.become(ctx, tx, a, statusCancelled, in.Reason, statusPending, statusConfirmed)
	return a.whole(), err
}

func (s *service) completeAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (Appointment, error) {
	return s.afterStart(ctx, tx, in.ID, statusCompleted)
}

func (s *service) markNoShow(ctx context.Context, tx *db.Tx, in op.ByID) (Appointment, error) {
	return s.afterStart(ctx, tx, in.ID, statusNoShow)
}

func (s *service) afterStart(ctx context.Context, tx *db.Tx, id uuid.UUID, to string) (Appointment, error) {
	a, err := s.lock(ctx, tx, id)
	if err != nil {
		return Appointment{}, err
	}
	if a.Status == statusConfirmed && a.StartsAt.After(tx.Now) {
		return Appointment{}, fault.InvalidStatus(a.Status, "The appointment has not started yet.")
	}
	a, err = s.become(ctx, tx, a, to, "", statusConfirmed)
	return a.whole(), err
}

// kindOf is the kind of the event of an appointment that becomes a status.
var kindOf = map[string]string{statusConfirmed: proto.KindAppointmentConfirmed, statusDeclined: proto.KindAppointmentDeclined,
	statusCancelled: proto.KindAppointmentCancelled, statusCompleted: proto.KindAppointmentCompleted, statusNoShow: proto.KindAppointmentNoShow}

// become gives a locked appointment the status to, publishes the change and mails the client. The error is
// svc_invalid_status when its status is none of from.
func (s *service) become(ctx context.Context, tx *db.Tx, a appointment, to, reason string, from ...string) (appointment, error) {
	if err := a.must(from...); err != nil {
		return a, err
	}
	if a.Status == statusPending && to == statusConfirmed {
		// The time is certain only now: a reminder that would have been due is not sent.
		a.timedAt = tx.Now
	}
	was := a
	a.Status = to
	if reason = strings.TrimSpace(reason); reason != "" {
		a.CancelReason = reason
	}
	a.sequence++
	if err := save(ctx, tx, &a); err != nil {
		return a, err
	}
	tx.Changed(audited(was, a))
	settings, err := readSettings(ctx, tx)
	if err != nil {
		return a, err
	}
	return a, s.publish(ctx, tx, a, settings, a.change(kindOf[to], nil, "status"))
}

// must returns nil when the status is one of allowed, else svc_invalid_status with the current status.
func (a appointment) must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}

// save writes a locked appointment under its next version. The error is svc_slot_taken when it overlaps another one.
func save(ctx context.Context, tx *db.Tx, a *appointment) error {
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
func (s *service) resave(ctx context.Context, tx *db.Tx, a appointment) (appointment, error) {
	if err := save(ctx, tx, &a); err != nil {
		return a, err
	}
	return s.find(ctx, tx, a.ID)
}
