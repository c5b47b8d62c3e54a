package booking

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
	"frontdesk/services/booking/internal/slots"
)

// wish is a time that somebody wants.
type wish struct {
	terms   Terms
	users   []int64 // any of them will do
	start   time.Time
	offered audience
	// moving is the appointment that gives its own time up; uuid.Nil for a new one.
	moving uuid.UUID
}

// fits reports whether a person has the wanted time free.
func (w wish) fits(a agenda, p slots.Person, now time.Time) bool {
	if a.staff[p.ID].Removed {
		return false
	}
	rule := ruleOf(w.terms, a.settings, w.offered)
	if w.offered == outsideHours {
		return slots.Clear(rule, p, w.start)
	}
	return slots.Free(a.business, rule, p, w.start, now)
}

// inTurn lists the people of the agenda who have the wanted time free, the one who should take it first.
func (w wish) inTurn(a agenda, now time.Time) []int64 {
	free := slices.DeleteFunc(slices.Clone(a.people), func(p slots.Person) bool { return !w.fits(a, p, now) })
	order := make([]int64, 0, len(free))
	for len(free) > 0 {
		i := slots.LeastBusy(a.business, free, w.start)
		order = append(order, free[i].ID)
		free = slices.Delete(free, i, i+1)
	}
	return order
}

const (
	calendarLock  = "booking.calendar"
	holdSavepoint = `savepoint calendar`
)

// queueHold holds, with a batch, the calendar of a user from then on, unless an appointment is running at start already. It sets taken
// if one is.
func queueHold(b *pgx.Batch, user int64, start, now time.Time, taken *bool) {
	b.Queue(holdSavepoint)
	b.Queue(`select taken, case when not taken then pg_advisory_xact_lock(@lock)::text end from (select exists (select from appointment
		where user_id = @user and `+takesTime+` and starts_at > @start::timestamptz - interval '1 day' and starts_at <= @start and ends_at > @start) as taken offset 0) x`,
		pgx.NamedArgs{"lock": db.LockKey(calendarLock, user), "user": user, "start": start, "now": now}).QueryRow(func(row pgx.Row) error { return row.Scan(taken, nil) })
}

// lockCalendars holds the calendars of users until the transaction ends.
func lockCalendars(ctx context.Context, tx *db.Tx, users ...int64) error {
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

// readSeat reads what decides whether w can be had. The calendar of an only candidate is held from then on.
func (s *service) readSeat(ctx context.Context, tx *db.Tx, w wish) (agenda, error) {
	day := slots.DayOf(w.start, s.Config.Zone)
	return s.readAgenda(ctx, tx, reading{users: w.users, from: day, to: day, except: w.moving, hold: len(w.users) == 1})
}

// seat gives the wanted time to the first person of order who still has it free, and holds that person's calendar until
// the transaction ends. The error is svc_slot_taken with the nearest free times.
func (s *service) seat(ctx context.Context, tx *db.Tx, w wish, a agenda, order []int64) (staffRow, error) {
	for _, user := range order {
		if user == a.held {
			return a.staff[user], nil
		}
		one := w
		one.users = []int64{user}
		now, err := s.readSeat(ctx, tx, one)
		if err != nil {
			return staffRow{}, err
		}
		if one.fits(now, now.people[0], tx.Now) {
			return now.staff[user], nil
		}
		if err := letGo(ctx, tx); err != nil {
			return staffRow{}, err
		}
	}
	if a.held != 0 {
		if err := letGo(ctx, tx); err != nil {
			return staffRow{}, err
		}
	}
	return staffRow{}, s.taken(ctx, tx, w, ruleOf(w.terms, a.settings, w.offered))
}

// Alternative is a free time near one that was not.
type Alternative struct {
	StartsAt time.Time `json:"starts_at"`
	Staff    []int64   `json:"staff"`
}

// taken is svc_slot_taken with up to five free times. They are a hint: callers who lost the same time
// at once share them.
func (s *service) taken(ctx context.Context, tx *db.Tx, w wish, rule slots.Rule) error {
	found, err := s.hints.of(fmt.Sprint(w.users, rule, w.start.Unix(), w.moving), func() ([]Alternative, error) { return s.nearest(ctx, tx, w, rule) })
	if err != nil && ctx.Err() == nil {
		// Whoever worked them out has gone.
		found, err = s.nearest(ctx, tx, w, rule)
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
	times []Alternative
	until time.Time
}

const (
	hintFor  = 200 * time.Millisecond
	mostHint = 1000
)

// of gives the hints that are kept under key, or those that work finds.
func (h *hints) of(key string, work func() ([]Alternative, error)) ([]Alternative, error) {
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
	times, _ := found.([]Alternative)
	return times, err
}

func (s *service) nearest(ctx context.Context, tx *db.Tx, w wish, rule slots.Rule) ([]Alternative, error) {
	out := []Alternative{}
	today := slots.DayOf(tx.Now, s.Config.Zone)
	day := max(slots.DayOf(w.start, s.Config.Zone), today)
	// Near days first: mostly they have what is needed.
	for _, reach := range []slots.Day{1, 14} {
		from, to := max(day-reach, today), min(day+reach, slots.LastDay)
		if from > to {
			break
		}
		a, err := s.readAgenda(ctx, tx, reading{users: w.users, from: from, to: to, except: w.moving})
		if err != nil {
			return nil, err
		}
		near := slots.Nearest(a.business, rule, a.people, w.start, from, to, tx.Now, 5)
		out = out[:0]
		for _, t := range near {
			out = append(out, Alternative{t.Start, t.Staff})
		}
		if len(out) == 5 {
			break
		}
	}
	return out, nil
}
