package booking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
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

// become takes a locked appointment from one of the statuses from to another, or tells the status it has.
func (s *service) become(ctx context.Context, tx *db.Tx, a appointment, to, reason string, from ...string) (appointment, error) {
	if err := a.must(from...); err != nil {
		return a, err
	}
	a.Status = to
	if reason = strings.TrimSpace(reason); reason != "" {
		a.CancelReason = reason
	}
	if err := s.save(ctx, tx, &a, ``); err != nil {
		return a, err
	}
	return a, s.tell(ctx, tx, a, a.change(to, nil, "status"))
}

// must refuses what the status does not allow.
func (a appointment) must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}

// save writes a locked appointment under its next version. also sets further columns from args, the first
// of which is $14.
func (s *service) save(ctx context.Context, tx *db.Tx, a *appointment, also string, args ...any) error {
	a.version++
	a.sequence++
	a.UpdatedAt = tx.Now
	_, err := tx.Exec(ctx, `update appointment set status = $2, user_id = $3, contact_id = $4, starts_at = $5, ends_at = $6, location_type = $7, location = $8,
		meeting_url = $9, notes = $10, cancel_reason = $11, sequence = $12, version = version + 1, updated_at = $13`+also+` where id = $1`,
		append([]any{a.ID, a.Status, a.Staff.UserID, a.Contact.ID, a.StartsAt, a.EndsAt, a.place.kind, a.place.location, a.place.meetingURL, a.Notes,
			a.CancelReason, a.sequence, a.UpdatedAt}, args...)...)
	return overlap(err)
}
