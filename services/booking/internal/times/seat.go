package times

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// Wish is a time that somebody wants.
type Wish struct {
	Terms   services.Terms
	Users   []int64 // any of them will do
	Start   time.Time
	Offered Audience
	// Moving is the appointment that gives its own time up; uuid.Nil for a new one.
	Moving uuid.UUID
}

// fits reports whether a person has the wanted time free.
func (w Wish) fits(a Agenda, p slots.Person, now time.Time) bool {
	if a.Staff[p.ID].Removed {
		return false
	}
	rule := RuleOf(w.Terms, a.Settings, w.Offered)
	if w.Offered == OutsideHours {
		return slots.Clear(rule, p, w.Start)
	}
	return slots.Free(a.Business, rule, p, w.Start, now)
}

// InTurn lists the people of the agenda who have the wanted time free, the one who should take it first.
func (w Wish) InTurn(a Agenda, now time.Time) []int64 {
	free := slices.DeleteFunc(slices.Clone(a.People), func(p slots.Person) bool { return !w.fits(a, p, now) })
	order := make([]int64, 0, len(free))
	for len(free) > 0 {
		i := slots.LeastBusy(a.Business, free, w.Start)
		order = append(order, free[i].ID)
		free = slices.Delete(free, i, i+1)
	}
	return order
}

const (
	calendarLock  = "booking.calendar"
	holdSavepoint = `savepoint calendar`
)

// QueueHold holds, with a batch, the calendar of a user from then on, unless an appointment is running at start already. It sets taken
// if one is.
func QueueHold(b *pgx.Batch, user int64, start, now time.Time, taken *bool) {
	b.Queue(holdSavepoint)
	b.Queue(`select taken, case when not taken then pg_advisory_xact_lock(@lock)::text end from (select exists (select from appointment
		where user_id = @user and `+appointments.TakesTime+` and starts_at > @start::timestamptz - interval '1 day' and starts_at <= @start and ends_at > @start) as taken offset 0) x`,
		pgx.NamedArgs{"lock": db.LockKey(calendarLock, user), "user": user, "start": start, "now": now}).QueryRow(func(row pgx.Row) error { return row.Scan(taken, nil) })
}

// LockCalendars holds the calendars of users until the transaction ends.
func LockCalendars(ctx context.Context, tx *db.Tx, users ...int64) error {
	slices.Sort(users)
	for _, user := range users {
		if err := tx.Lock(ctx, calendarLock, user); err != nil {
			return err
		}
	}
	return nil
}

// letGo gives up the calendar that was held last, so that the next in line does not wait for this transaction's answer.
func letGo(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `rollback to savepoint calendar`)
	return err
}

// Take gives the wanted time to whom it suits best of those who have it free, see Seat. It returns the settings that it decided by.
func (r *Room) Take(ctx context.Context, tx *db.Tx, w Wish) (who staff.Row, settings services.Settings, err error) {
	a, err := r.readSeat(ctx, tx, w)
	if err != nil {
		return who, settings, err
	}
	who, err = r.Seat(ctx, tx, w, a, w.InTurn(a, tx.Now))
	return who, a.Settings, err
}

// readSeat reads what decides whether w can be had. The calendar of an only candidate is held from then on.
func (r *Room) readSeat(ctx context.Context, tx *db.Tx, w Wish) (Agenda, error) {
	day := slots.DayOf(w.Start, r.Config.Zone)
	return r.readAgenda(ctx, tx, reading{users: w.Users, from: day, to: day, except: w.Moving, hold: len(w.Users) == 1})
}

// Seat gives the wanted time to the first person of order who still has it free, and holds that person's calendar until
// the transaction ends. The error is svc_slot_taken with the nearest free times.
func (r *Room) Seat(ctx context.Context, tx *db.Tx, w Wish, a Agenda, order []int64) (staff.Row, error) {
	for _, user := range order {
		if user == a.Held {
			return a.Staff[user], nil
		}
		one := w
		one.Users = []int64{user}
		now, err := r.readSeat(ctx, tx, one)
		if err != nil {
			return staff.Row{}, err
		}
		if one.fits(now, now.People[0], tx.Now) {
			return now.Staff[user], nil
		}
		if err := letGo(ctx, tx); err != nil {
			return staff.Row{}, err
		}
	}
	if a.Held != 0 {
		if err := letGo(ctx, tx); err != nil {
			return staff.Row{}, err
		}
	}
	return staff.Row{}, r.taken(ctx, tx, w, RuleOf(w.Terms, a.Settings, w.Offered))
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
		a, err := r.readAgenda(ctx, tx, reading{users: w.Users, from: from, to: to, except: w.Moving})
		if err != nil {
			return nil, err
		}
		near := slots.Nearest(a.Business, rule, a.People, w.Start, from, to, tx.Now, 5)
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
