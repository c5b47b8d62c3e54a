package times

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// Want is an appointment for which a time is looked for: on which terms, with any of some people, and for whom its times are offered.
type Want struct {
	Terms   services.Terms
	Users   []int64 // any of them will do
	Offered Audience
	Linked  bool // it is online without a link: only people who have one will do, and who has it already
	Moving  Moving
}

// Moving is the appointment that gives its own time up; the zero value for a new one.
type Moving struct {
	ID    uuid.UUID
	Staff int64 // keeps the appointment where that is possible
}

// Wish is a time that somebody wants.
type Wish struct {
	Want
	Start time.Time
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
	rule := RuleOf(w.Terms, a.Settings, w.Offered)
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
	return staff.Row{}, r.taken(ctx, tx, w, RuleOf(w.Terms, a.Settings, w.Offered))
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

func staffLeft() error {
	return fault.Conflict("staff_left", "The person has left the team. Choose somebody else.")
}

// alternative is a free time near one that was not.
type alternative struct {
	StartsAt time.Time `json:"starts_at"`
	Staff    []int64   `json:"staff"`
}

// taken is svc_slot_taken with up to five free times. They are a hint: callers who lost the same time
// at once share them.
func (r *Room) taken(ctx context.Context, tx *db.Tx, w Wish, rule slots.Rule) error {
	found, err := r.hints.of(fmt.Sprint(w.Users, rule, w.Start.Unix(), w.Moving), func() ([]alternative, error) { return r.nearest(ctx, tx, w, rule) })
	if err != nil && ctx.Err() == nil {
		// Whoever worked them out has gone.
		found, err = r.nearest(ctx, tx, w, rule)
	}
	if err != nil {
		return fmt.Errorf("free times near one that is taken: %w", err)
	}
	return fault.SlotTaken(found)
}

// hints are free times near one that was lost, kept for a moment: most who want the same time lose it within that.
type hints struct {
	working singleflight.Group
	mu      sync.Mutex
	recent  map[string]hint
}

type hint struct {
	times []alternative
	until time.Time
}

const (
	hintFor  = 200 * time.Millisecond
	mostHint = 1000
)

// of gives the hints that are kept under key, or those that work finds.
func (h *hints) of(key string, work func() ([]alternative, error)) ([]alternative, error) {
	h.mu.Lock()
	have, ok := h.recent[key]
	h.mu.Unlock()
	if ok && time.Now().Before(have.until) {
		return have.times, nil
	}
	found, err, _ := h.working.Do(key, func() (any, error) {
		times, err := work()
		if err == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.recent == nil || len(h.recent) >= mostHint {
				h.recent = map[string]hint{}
			}
			h.recent[key] = hint{times, time.Now().Add(hintFor)}
		}
		return times, err
	})
	times, _ := found.([]alternative)
	return times, err
}

func (r *Room) nearest(ctx context.Context, tx *db.Tx, w Wish, rule slots.Rule) ([]alternative, error) {
	out := []alternative{}
	today := slots.DayOf(tx.Now, r.Config.Zone)
	day := max(slots.DayOf(w.Start, r.Config.Zone), today)
	// Near days first: mostly they have what is needed.
	for _, reach := range []slots.Day{1, 14} {
		from, to := max(day-reach, today), min(day+reach, slots.LastDay)
		if from > to {
			break
		}
		a, err := r.readAgenda(ctx, tx, reading{users: w.Users, from: from, to: to, except: w.Moving.ID})
		if err != nil {
			return nil, err
		}
		near := slots.Nearest(a.Business, rule, w.able(a), w.Start, from, to, tx.Now, 5)
		out = out[:0]
		for _, t := range near {
			out = append(out, alternative{t.Start, t.Staff})
		}
		if len(out) == 5 {
			break
		}
	}
	return out, nil
}
