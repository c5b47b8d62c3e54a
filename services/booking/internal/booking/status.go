package booking

import (
	"context"
	"strings"

	"github.com/google/uuid"

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
func (s *service) become(ctx context.Context, tx *db.Tx, a record, to, reason string, from ...string) (record, error) {
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
