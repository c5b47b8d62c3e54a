package life

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/change"
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

type confirmed struct {
	ID           uuid.UUID `json:"id"`
	OutsideHours bool      `json:"outside_hours" doc:"true confirms it also over a time that the person's own calendar takes."`
}

func (r *Room) confirmAppointment(ctx context.Context, tx *db.Tx, in confirmed) (appointments.Appointment, error) {
	a, err := r.setStatus(ctx, tx, in.ID, appointments.StatusConfirmed, "", appointments.StatusPending)
	if err != nil || in.OutsideHours {
		return a, err
	}
	over, err := appointments.IsOverExternal(ctx, tx, in.ID)
	if err == nil && over {
		err = fault.SlotTaken([]any{})
	}
	return a, err
}

func (r *Room) declineAppointment(ctx context.Context, tx *db.Tx, in withReason) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusDeclined, in.Reason, appointments.StatusPending)
}

// cancelAppointment cancels what is requested or confirmed. A request does not come back as one, so nothing takes that back.
func (r *Room) cancelAppointment(ctx context.Context, tx *db.Tx, in withReason) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusCancelled, in.Reason, appointments.StatusPending, appointments.StatusConfirmed)
}

func (r *Room) completeAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusCompleted, "", appointments.StatusConfirmed)
}

func (r *Room) markNoShow(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	return r.setStatus(ctx, tx, in.ID, appointments.StatusNoShow, "", appointments.StatusConfirmed)
}

// reopenFor is how long an appointment that is over by its status can be taken back.
const reopenFor = 24 * time.Hour

// reopenAppointment takes back that an appointment was completed, missed or cancelled. One that was cancelled still has to come, and its time has to be free;
// its client, who was told of the end, is mailed.
func (r *Room) reopenAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	a, err := r.appointments.Lock(ctx, tx, in.ID)
	if err != nil {
		return appointments.Appointment{}, err
	}
	if err := a.Must(appointments.StatusCompleted, appointments.StatusNoShow, appointments.StatusCancelled); err != nil {
		return appointments.Appointment{}, err
	}
	cancelled := a.Status == appointments.StatusCancelled
	if tx.Now.Sub(a.StatusAt) > reopenFor || cancelled && a.StartsAt.Before(tx.Now) {
		return appointments.Appointment{}, fault.Conflict("too_late", "The appointment has been over for more than a day, or its time has come.")
	}
	tx.TakeBack(endedBy[a.Status], map[string]any{"id": a.ID})
	next, mail, settings := a, "", services.Settings{}
	next.Status = appointments.StatusConfirmed
	if cancelled {
		if settings, err = services.ReadSettings(ctx, tx); err != nil {
			return appointments.Appointment{}, err
		}
		next.CancelReason, next.TimedAt, mail = "", tx.Now, proto.KindAppointmentConfirmed
	}
	a, err = r.Commit(ctx, tx, Change{a, next, proto.KindAppointmentReopened, mail, nil, []string{"status"}}, settings)
	if err != nil || !cancelled {
		return a.Whole(), err
	}
	over, err := appointments.IsOverExternal(ctx, tx, in.ID)
	if err == nil && over {
		err = fault.SlotTaken([]any{})
	}
	return a.Whole(), err
}

// endedBy are the operations by which an appointment gets a status that reopening takes back.
var endedBy = map[string]string{appointments.StatusCompleted: "complete-appointment", appointments.StatusNoShow: "mark-no-show", appointments.StatusCancelled: "cancel-appointment"}

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
	if to == appointments.StatusCancelled && a.Status == appointments.StatusConfirmed {
		tx.TakeBack("reopen-appointment", map[string]any{"id": id})
	}
	a, err = r.Become(ctx, tx, a, to, reason, from...)
	return a.Whole(), err
}

// markSpam ends a visitor's booking as if it had never been: its time is free, and the address, which may be anybody's, gets no mail.
func (r *Room) markSpam(ctx context.Context, tx *db.Tx, in op.ByID) (appointments.Appointment, error) {
	a, err := r.appointments.Lock(ctx, tx, in.ID)
	if err != nil {
		return appointments.Appointment{}, err
	}
	if a.Source != db.ChannelBooking {
		return appointments.Appointment{}, fault.Conflict("not_by_visitor", "The team has booked this appointment. Cancel it instead.")
	}
	if err := a.Must(appointments.Manageable...); err != nil {
		return appointments.Appointment{}, err
	}
	next := a
	next.Status, next.CancelReason = appointments.StatusCancelled, "spam"
	if a.Status == appointments.StatusPending {
		next.Status = appointments.StatusDeclined
	}
	next.Sequence++
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return appointments.Appointment{}, err
	}
	a, err = r.Commit(ctx, tx, Change{a, next, kindOf[next.Status], "", nil, []string{"status"}}, settings)
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
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return a, err
	}
	next := a
	next.Status = to
	if a.Status == appointments.StatusPending && to == appointments.StatusConfirmed {
		// The time is certain only now: a reminder that would have been due is not sent.
		next.TimedAt = tx.Now
	}
	if reason = strings.TrimSpace(reason); reason != "" {
		next.CancelReason = reason
	}
	return r.Commit(ctx, tx, Change{a, next, kindOf[to], kindOf[to], nil, []string{"status"}}, settings)
}

// Change is what becomes of an appointment.
type Change struct {
	Was, Now appointments.Record
	Kind     string // of the event
	Mail     string // that the client gets, see mails; "" for none
	Extra    any    // of the event
	Fields   []string
}

// Commit writes what becomes of a locked appointment, and tells audit log, listeners, client and team of it. The error is svc_slot_taken if it
// overlaps another one, and svc_conflict with the reason no_meeting_link if the team takes it to a place or person online without a link.
func (r *Room) Commit(ctx context.Context, tx *db.Tx, c Change, settings services.Settings) (appointments.Record, error) {
	if c.Mail != "" {
		c.Now.Sequence++
	}
	now, err := r.appointments.Save(ctx, tx, c.Now)
	if err != nil {
		return c.Was, err
	}
	// A visitor is not refused: the team adds the link.
	if moved := now.Place != c.Was.Place || now.UserID != c.Was.UserID; moved && tx.Who.Channel != db.ChannelBooking {
		if err := now.Reachable(now.StaffLink); err != nil {
			return c.Was, err
		}
	}
	tx.Changed(appointments.Audited(c.Was, now))
	return now, r.Publish(ctx, tx, c.Was, now, c.Mail, settings, now.Change(c.Kind, c.Extra, c.Fields...))
}

// Publish emits the event of what an appointment became, and what else belongs to it, mails its client unless mail is "", and tells the team. Of
// a new appointment was and now are the same.
func (r *Room) Publish(ctx context.Context, tx *db.Tx, was, now appointments.Record, mail string, settings services.Settings, change db.Event, more ...db.Event) error {
	if err := tx.EmitAll(ctx, append([]db.Event{change}, more...)); err != nil {
		return err
	}
	if err := r.mails.Notify(ctx, tx, now, mail, settings); err != nil {
		return err
	}
	return r.notices.Changed(ctx, tx, was, now, change.Kind, settings)
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
	if err := tx.Match(a.Version); err != nil {
		return appointments.Appointment{}, err
	}
	if a.Notes == in.Notes {
		return a.Whole(), nil
	}
	tx.Was(change.Set{"notes": {Old: a.Notes}})
	next := a
	next.Notes = in.Notes
	a, err = r.Commit(ctx, tx, Change{a, next, proto.KindAppointmentUpdated, "", nil, []string{"notes"}}, services.Settings{})
	return a.Whole(), err
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
	settings, err := services.ReadSettings(ctx, tx)
	if err != nil {
		return appointments.Appointment{}, err
	}
	tx.Was(change.Set{"location_type": {Old: a.Place.Kind}, "location": {Old: a.Place.Location}, "meeting_url": {Old: a.Place.MeetingURL}})
	next := a
	next.Place = p
	a, err = r.Commit(ctx, tx, Change{a, next, proto.KindAppointmentPlaceChanged, proto.KindAppointmentPlaceChanged, nil, changedNames(in)}, settings)
	return a.Whole(), err
}

func changedNames(in changedPlace) []string {
	names := []string{"location"}
	if strings.TrimSpace(in.LocationType) != "" {
		names = append(names, "location_type")
	}
	return names
}
