package times

import (
	"cmp"
	"context"
	"slices"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// Audience says which times are offered.
type Audience int

const (
	ToVisitors   Audience = iota // what is free, with notice and horizon
	ToTeam                       // what is free
	OutsideHours                 // what is clear of other appointments, whatever the hours, the grid and the time now
)

// ToTeamOr returns the audience for the team: its own slots, or every time without a conflict if the request asks for that.
func ToTeamOr(outside bool) Audience {
	if outside {
		return OutsideHours
	}
	return ToTeam
}

// RuleOf returns the slots rule of a service for an audience.
func RuleOf(t services.Terms, s services.Settings, to Audience) slots.Rule {
	r := slots.Rule{Duration: t.DurationMin, Before: t.BufferBefore, After: t.BufferAfter, Step: s.SlotStep}
	if to == ToVisitors {
		r.Notice, r.Horizon = s.MinNoticeMin, s.MaxAdvanceDays
		if t.MinNoticeMin != nil {
			r.Notice = *t.MinNoticeMin
		}
		if t.MaxAdvanceDays != nil {
			r.Horizon = *t.MaxAdvanceDays
		}
	}
	return r
}

// rule is that of RuleOf, for as long as the appointment takes.
func (w Want) rule(s services.Settings) slots.Rule {
	r := RuleOf(w.Terms, s, w.Offered)
	if w.Length != 0 {
		r.Step, r.Duration = cmp.Or(r.Step, r.Duration), w.Length
	}
	return r
}

// able lists the people of the agenda who can have the appointment at some time.
func (w Want) able(a Agenda) []slots.Person {
	return slices.DeleteFunc(slices.Clone(a.People), func(p slots.Person) bool {
		s := a.Staff[p.ID]
		return s.Removed || w.Linked && p.ID != w.Moving.Staff && s.MeetingURL == ""
	})
}

// InTurn lists the people of the agenda who have the wanted time free, the one who should take it first.
func (w Wish) InTurn(a Agenda, now time.Time) []int64 {
	rule := w.rule(a.Settings)
	free := slices.DeleteFunc(w.able(a), func(p slots.Person) bool {
		if w.Offered == OutsideHours {
			return !slots.Clear(rule, p, w.Start)
		}
		return !slots.Free(a.Business, rule, p, w.Start, now)
	})
	order := make([]int64, 0, len(free))
	next := slices.IndexFunc(free, func(p slots.Person) bool { return p.ID == w.Moving.Staff })
	for len(free) > 0 {
		if next < 0 {
			next = slots.LeastBusy(a.Business, free, w.Start)
		}
		order = append(order, free[next].ID)
		free, next = slices.Delete(free, next, next+1), -1
	}
	return order
}

// Take gives the wanted time to whom it suits best of those who have it free, see Seat. It returns the settings that it decided by.
func (r *Room) Take(ctx context.Context, tx *db.Tx, w Wish) (who staff.Row, settings services.Settings, err error) {
	held := only(w.Users)
	a, err := r.readSeat(ctx, tx, w, held)
	if err != nil {
		return who, settings, err
	}
	who, err = r.Seat(ctx, tx, w, a, held, w.InTurn(a, tx.Now))
	return who, a.Settings, err
}

// only is the one of users if there are no others, else 0.
func only(users []int64) int64 {
	if len(users) == 1 {
		return users[0]
	}
	return 0
}

// readSeat reads what decides whether w can be had. The calendar of hold, unless that is 0, is held from then on.
func (r *Room) readSeat(ctx context.Context, tx *db.Tx, w Wish, hold int64) (Agenda, error) {
	day := slots.DayOf(w.Start, r.Config.Zone)
	return r.readAgenda(ctx, tx, reading{users: w.Users, from: day, to: day, except: w.Moving.ID, hold: hold})
}

// Seat gives the wanted time to the first person of order who still has it free, and holds that person's calendar until
// the transaction ends. held is the person whose calendar was held when a was read, 0 for nobody. The error is that of nobody, or
// svc_slot_taken with the nearest free times.
func (r *Room) Seat(ctx context.Context, tx *db.Tx, w Wish, a Agenda, held int64, order []int64) (staff.Row, error) {
	for _, user := range order {
		if user == held {
			return a.Staff[user], nil
		}
		one := w
		one.Users = []int64{user}
		now, err := r.readSeat(ctx, tx, one, user)
		if err != nil {
			return staff.Row{}, err
		}
		if len(one.InTurn(now, tx.Now)) > 0 {
			return now.Staff[user], nil
		}
		if err := letGo(ctx, tx); err != nil {
			return staff.Row{}, err
		}
	}
	if held != 0 {
		if err := letGo(ctx, tx); err != nil {
			return staff.Row{}, err
		}
	}
	if len(w.able(a)) == 0 {
		return staff.Row{}, w.nobody()
	}
	return staff.Row{}, r.taken(ctx, tx, w, w.rule(a.Settings))
}

// When operations are refused, see op.Fails.
const (
	FailNobody = "Nobody does the service, at least nobody whose calendar the caller may change."
	FailLeft   = "The person has left the team."
)

// nobody says why w can be had at no time: svc_conflict with the reason no_meeting_link or nobody.
func (w Want) nobody() error {
	if w.Linked && len(w.Users) > 0 {
		return appointments.NoLink()
	}
	return fault.Conflict("nobody", "Nobody does this service whose calendar can be booked here.")
}
