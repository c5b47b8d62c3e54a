package life

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
)

type withReason struct {
	ID     uuid.UUID `json:"id"`
	Reason string    `json:"reason" maxLength:"500" doc:"For the team only; never sent to the client."`
}

func (r *Room) confirmAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusConfirmed, "", appointments.StatusPending)
}

func (r *Room) declineAppointment(ctx context.Context, tx *db.Tx, in withReason) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusDeclined, in.Reason, appointments.StatusPending)
}

func (r *Room) cancelAppointment(ctx context.Context, tx *db.Tx, in withReason) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusCancelled, in.Reason, appointments.StatusPending, appointments.StatusConfirmed)
}

func (r *Room) completeAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusCompleted, "", appointments.StatusConfirmed)
}

func (r *Room) markNoShow(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusNoShow, "", appointments.StatusConfirmed)
}

// setStatus is Become for an appointment that the caller may see. What is over by its status must have started.
func (r *Room) setStatus(ctx context.Context, tx *db.Tx, id uuid.UUID, to, reason string, from ...string) (appointments.Appointment, error) {
	a, err := r.appointments.Lock(ctx, tx, id)
	if err != nil {
		return appointments.Appointment{}, err
	}
	over := to == appointments.StatusCompleted || to == appointments.StatusNoShow
	if over && a.Status == appointments.StatusConfirmed && a.StartsAt.After(tx.Now) {
		return appointments.Appointment{}, fault.InvalidStatus(a.Status, "The appointment has not started yet.")
	}
	a, err = r.Become(ctx, tx, a, to, reason, from...)
	return a.Whole(), err
}

// kindOf is the kind of the event of an appointment that becomes a status.
var kindOf = map[string]string{appointments.StatusConfirmed: proto.KindAppointmentConfirmed, appointments.StatusDeclined: proto.KindAppointmentDeclined,
	appointments.StatusCancelled: proto.KindAppointmentCancelled, appointments.StatusCompleted: proto.KindAppointmentCompleted, appointments.StatusNoShow: proto.KindAppointmentNoShow}

// Become gives a locked appointment the status to, publishes the change and mails the client. The error is
// svc_invalid_status when its status is not in from.
func (r *Room) Become(ctx context.Context, tx *db.Tx, a appointments.Record, to, reason string, from ...string) (appointments.Record, error) {
	if err := a.Must(from...); err != nil {
		return a, err
	}
	if a.Status == appointments.StatusPending && to == appointments.StatusConfirmed {
		// The time is certain only now: a reminder that would have been due is not sent.
		a.TimedAt = tx.Now
	}
	was := a
	a.Status = to
	if reason = strings.TrimSpace(reason); reason != "" {
		a.CancelReason = reason
	}
	a.Sequence++
	if err := appointments.Save(ctx, tx, &a); err != nil {
		return a, err
	}
	tx.Changed(appointments.Audited(was, a))
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return a, err
	}
	return a, r.mails.Publish(ctx, tx, a, settings, a.Change(kindOf[to], nil, "status"))
}

type changedNote struct {
	ID    uuid.UUID `json:"id"`
	Notes string    `json:"notes" required:"true" maxLength:"2000" doc:"Replaces the internal note."`
}

func (r *Room) updateNote(ctx context.Context, tx *db.Tx, in changedNote) (appointments.Appointment, error) {
	a, err := r.appointments.Lock(ctx, tx, in.ID)
	if err != nil {
		return appointments.Appointment{}, err
	}
	if err := tx.Match(a.RecordVersion()); err != nil {
		return appointments.Appointment{}, err
	}
	if a.Notes == in.Notes {
		return a.Whole(), nil
	}
	was := a
	a.Notes = in.Notes
	if err := appointments.Save(ctx, tx, &a); err != nil {
		return appointments.Appointment{}, err
	}
	tx.Changed(appointments.Audited(was, a))
	return a.Whole(), tx.EmitAll(ctx, []db.Event{a.Change(proto.KindAppointmentUpdated, nil, "notes")})
}

type changedPlace struct {
	ID           uuid.UUID         `json:"id"`
	LocationType string            `json:"location_type" enum:"in_person,client,phone,online" doc:"Where it takes place."`
	Location     opt.Value[string] `json:"location,omitzero" nullable:"true" maxLength:"255" doc:"The address or other words about the place."`
	MeetingURL   opt.Value[string] `json:"meeting_url,omitzero" nullable:"true" maxLength:"2048" doc:"The link of an online meeting."`
}

func (r *Room) changePlace(ctx context.Context, tx *db.Tx, in changedPlace) (appointments.Appointment, error) {
	a, err := r.appointments.Lock(ctx, tx, in.ID)
	if err != nil {
		return appointments.Appointment{}, err
	}
	p := a.Place
	if in.LocationType != "" && in.LocationType != p.Kind {
		// A place of another kind keeps nothing of the old one.
		p = appointments.Place{Kind: in.LocationType}
	}
	in.Location.Apply(&p.Location)
	in.MeetingURL.Apply(&p.MeetingURL)
	if p, err = p.Checked(); err != nil {
		return appointments.Appointment{}, err
	}
	if err := a.Must(appointments.StatusPending, appointments.StatusConfirmed); err != nil {
		return appointments.Appointment{}, err
	}
	if p == a.Place {
		return a.Whole(), nil
	}
	if err := p.Reachable(a.StaffLink); err != nil {
		return appointments.Appointment{}, err
	}
	was := a
	a.Place = p
	a.Sequence++
	if a, err = r.appointments.Resave(ctx, tx, a); err != nil {
		return appointments.Appointment{}, err
	}
	tx.Changed(appointments.Audited(was, a))
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return appointments.Appointment{}, err
	}
	return a.Whole(), r.mails.Publish(ctx, tx, a, settings, a.Change(proto.KindAppointmentPlaceChanged, nil, changedNames(in)...))
}

func changedNames(in changedPlace) []string {
	names := []string{"location"}
	if strings.TrimSpace(in.LocationType) != "" {
		names = append(names, "location_type")
	}
	return names
}
