package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

type movedAppointment struct {
	ID           uuid.UUID `json:"id"`
	StartsAt     time.Time `json:"starts_at" required:"true"`
	Staff        int64     `json:"staff" minimum:"1" doc:"Left out: the same person."`
	OutsideHours bool      `json:"outside_hours"`
}

func (s *service) rescheduleAppointment(ctx context.Context, tx *db.Tx, in movedAppointment) (Appointment, error) {
	if err := checkStart(in.StartsAt); err != nil {
		return Appointment{}, err
	}
	a, err := s.lock(ctx, tx, in.ID)
	if err != nil {
		return Appointment{}, err
	}
	a, err = s.move(ctx, tx, a, in.StartsAt, in.Staff, toTeamOr(in.OutsideHours))
	return a.whole(), err
}

// move takes a locked appointment to another free time, and to another person when one is named. It keeps
// the length, the buffers and the status that it has.
func (s *service) move(ctx context.Context, tx *db.Tx, a appointment, start time.Time, staff int64, offered audience) (appointment, error) {
	if err := a.must(statusPending, statusConfirmed); err != nil {
		return a, err
	}
	w := wish{start: start.UTC(), users: []int64{a.Staff.UserID}, offered: offered, moving: a.ID}
	if err := tx.QueryRow(ctx, `select terms from appointment where id = $1`, a.ID).Scan(&w.terms); err != nil {
		return a, err
	}
	if staff != 0 && staff != a.Staff.UserID {
		bookable, err := getService(ctx, tx, op.ByID{ID: a.Service.ID})
		if err != nil {
			return a, err
		}
		if w.users, err = s.candidates(tx, bookable, staff); err != nil {
			return a, err
		}
	}
	if w.terms.DurationMin = int(a.EndsAt.Sub(a.StartsAt) / time.Minute); !s.Identity.OnTeam(w.users[0]) {
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
	was := movedFrom{a.StartsAt, a.EndsAt, a.Staff}
	a.StartsAt, a.EndsAt, a.Staff.UserID = w.start, w.start.Add(a.EndsAt.Sub(a.StartsAt)), who.UserID
	if err := save(ctx, tx, &a); err != nil {
		return a, err
	}
	if a, err = s.find(ctx, tx, a.ID); err != nil {
		return a, err
	}
	changed := []string{"starts_at", "ends_at"}
	if a.Staff.UserID != was.Staff.UserID {
		changed = append(changed, "staff")
	}
	return a, s.publish(ctx, tx, a, a.change(proto.KindAppointmentRescheduled, map[string]any{"from": was}, changed...))
}

type movedFrom struct {
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	Staff    StaffRef  `json:"staff"`
}
