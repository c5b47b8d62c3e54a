package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

type movedAppointment struct {
	ID           uuid.UUID `json:"id"`
	StartsAt     time.Time `json:"starts_at" required:"true" doc:"The new begin."`
	Staff        int64     `json:"staff" minimum:"1" doc:"Left out: the same person."`
	OutsideHours bool      `json:"outside_hours" doc:"true also takes a time outside of working hours."`
}

func (s *service) rescheduleAppointment(ctx context.Context, tx *db.Tx, in movedAppointment) (Appointment, error) {
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return Appointment{}, err
	}
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = s.move(ctx, tx, a, in.StartsAt, in.Staff, toTeamOr(in.OutsideHours))
	return a.whole(), err
}

// move takes a locked appointment to another free time, and to another person when one is named (staff is not 0). It keeps
// the length, the buffers and the status, and changes nothing when time and person are those it has. The errors are
// svc_invalid_status, svc_slot_taken and those of candidates.
func (s *service) move(ctx context.Context, tx *db.Tx, a record, start time.Time, staff int64, offered audience) (record, error) {
	if err := a.must(statusPending, statusConfirmed); err != nil {
		return a, err
	}
	if staff == 0 {
		staff = a.Staff.UserID
	}
	if staff == a.Staff.UserID && start.Equal(a.StartsAt) {
		return a, nil
	}
	w := wish{start: start.UTC(), users: []int64{staff}, offered: offered, moving: a.ID}
	if err := tx.QueryRow(ctx, `select terms from appointment where id = $1`, a.ID).Scan(&w.terms); err != nil {
		return a, err
	}
	w.terms.DurationMin = int(a.EndsAt.Sub(a.StartsAt) / time.Minute)
	if staff != a.Staff.UserID {
		b, err := getService(ctx, tx, op.ByID{ID: a.Service.ID})
		if err != nil {
			return a, err
		}
		if w.users, err = s.candidates(tx, b, staff); err != nil {
			return a, err
		}
	}
	if !s.Identity.OnTeam(staff) {
		w.users = nil
	}
	agenda, err := s.readSeat(ctx, tx, w)
	if err != nil {
		return a, err
	}
	who, err := s.seat(ctx, tx, w, agenda, w.inTurn(agenda, tx.Now))
	if err != nil {
		return a, err
	}
	if offered != toVisitors && staff != a.Staff.UserID {
		if err := a.place.reachable(who.MeetingURL); err != nil {
			return a, err
		}
	}
	was := a
	kind, changed := proto.KindAppointmentRescheduled, []string{}
	if by := w.start.Sub(a.StartsAt); by != 0 {
		changed = append(changed, "starts_at", "ends_at")
		a.timedAt = tx.Now
		if by.Abs() > time.Duration(agenda.settings.ReminderHours)*time.Hour {
			a.remindedAt = nil
		}
	}
	if staff != a.Staff.UserID {
		changed = append(changed, "staff")
	}
	a.StartsAt, a.EndsAt, a.Staff.UserID = w.start, w.start.Add(a.EndsAt.Sub(a.StartsAt)), staff
	a.sequence++
	if a, err = s.resave(ctx, tx, a); err != nil {
		return a, err
	}
	tx.Changed(audited(was, a))
	from := movedFrom{was.StartsAt, was.EndsAt, was.Staff}
	if err := tx.EmitAll(ctx, []db.Event{a.change(kind, map[string]any{"from": from}, changed...)}); err != nil {
		return a, err
	}
	if a.StartsAt.Equal(was.StartsAt) {
		kind = mailHandedOver
	}
	return a, s.notify(ctx, tx, a, kind, agenda.settings)
}

type movedFrom struct {
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Staff    StaffRef  `json:"staff"`
}
