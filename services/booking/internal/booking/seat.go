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
	terms Terms
	users []int64 // any of them will do
	start time.Time
	// public keeps notice and horizon; outside ignores hours, grid and the time now.
	public, outside bool
	// moving is the appointment that gives its own time up; nil for a new one.
	moving uuid.UUID
}

// queueSeat reads what seat needs to know beside the settings. Of an only candidate it holds the calendar at once.
func (s *service) queueSeat(b *pgx.Batch, w wish) *agenda {
	day := s.today(w.start)
	a := s.queueAgenda(b, w.users, day, day)
	if len(w.users) == 1 {
		a.held = w.queueCalendar(b, w.users[0])
	} else {
		a.queueHours(b)
		a.queueBusy(b, w.users, day, day, w.moving)
	}
	return a
}

func (s *service) readSeat(ctx context.Context, tx *db.Tx, w wish) (*agenda, error) {
	b := &pgx.Batch{}
	a := s.queueSeat(b, w)
	a.queueSettings(b)
	return a, tx.SendBatch(ctx, b).Close()
}

// seat finds the person who takes the appointment, the least busy of those who are free, and holds that
// person's calendar, which it gives, until the transaction ends. The error is svc_slot_taken with the nearest free times.
func (s *service) seat(ctx context.Context, tx *db.Tx, w wish, a *agenda) (*calendar, error) {
	rule := w.terms.rule(a.settings, w.public)
	free := func(p slots.Person) bool {
		if w.outside {
			return slots.Clear(rule, p, w.start)
		}
		return slots.Free(a.business, rule, p, w.start, tx.Now)
	}
	if a.held != nil {
		p := a.people[0]
		p.Hours = a.held.hours
		if held, err := a.held.keep(ctx, tx, p, free); err != nil || held {
			return a.held, err
		}
		return nil, s.taken(ctx, tx, w, rule)
	}
	people := slices.DeleteFunc(a.people, func(p slots.Person) bool { return !free(p) })
	for len(people) > 0 {
		i := slots.LeastBusy(a.business, people, w.start)
		b := &pgx.Batch{}
		c := w.queueCalendar(b, people[i].ID)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return nil, err
		}
		if held, err := c.keep(ctx, tx, people[i], free); err != nil || held {
			return c, err
		}
		people = slices.Delete(people, i, i+1)
	}
	return nil, s.taken(ctx, tx, w, rule)
}

// calendar is what a person has around a time, read while it was held.
type calendar struct {
	user             int64
	name, meetingURL string // as the person has chosen them
	removed          bool
	hours            slots.Week
	busy             []slots.Busy
}

// queueCalendar locks a person's calendar and looks at it.
func (w wish) queueCalendar(b *pgx.Batch, user int64) *calendar {
	begin := w.start.Add(-longest)
	end := w.start.Add(time.Duration(w.terms.DurationMin)*time.Minute + longest)
	c := calendar{user: user}
	b.Queue(`savepoint calendar`)
	db.QueueLock(b, calendarLock, user)
	b.Queue(`select name, meeting_url, removed_at is not null, hours from staff where user_id = $1`, user).QueryRow(func(row pgx.Row) error {
		return row.Scan(&c.name, &c.meetingURL, &c.removed, &c.hours)
	})
	b.Queue(selectBusy, []int64{user}, begin, end, w.moving).Query(func(rows pgx.Rows) error {
		return collectBusy(rows, func(_ int64, t slots.Busy) { c.busy = append(c.busy, t) })
	})
	return &c
}

// queueFree is queueCalendar for somebody whom the catalog knows. Most who lose a time come when it is taken
// already: they do not wait for the calendar, and taken is set.
func (w wish) queueFree(b *pgx.Batch, c *calendar, taken *bool) {
	end := w.start.Add(time.Duration(w.terms.DurationMin)*time.Minute + longest)
	b.Queue(`savepoint calendar`)
	b.Queue(`select taken, case when not taken then pg_advisory_xact_lock($3)::text end from (select exists (select from appointment where user_id = $1
		and status in `+open+` and starts_at > $2::timestamptz - interval '1 day' and starts_at <= $2 and ends_at > $2) as taken offset 0) x`,
		c.user, w.start, db.LockKey(calendarLock, c.user)).QueryRow(func(row pgx.Row) error { return row.Scan(taken, nil) })
	b.Queue(selectBusy, []int64{c.user}, w.start.Add(-longest), end, w.moving).Query(func(rows pgx.Rows) error {
		return collectBusy(rows, func(_ int64, t slots.Busy) { c.busy = append(c.busy, t) })
	})
}

// keep tells whether the time is free. When it is not it lets go at once, so that the next in line does not
// wait for this one's answer.
func (c *calendar) keep(ctx context.Context, tx *db.Tx, p slots.Person, free func(slots.Person) bool) (bool, error) {
	p.Busy = c.busy
	if !c.removed && free(p) {
		return true, nil
	}
	_, err := tx.Exec(ctx, `rollback to savepoint calendar`)
	return false, err
}

const (
	calendarLock = "booking.calendar"
)

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
		return err
	}
	return fault.SlotTaken(found)
}

// hints are free times near one that was lost. They hold for a moment, since whoever runs for the same time
// loses it within that.
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
	day := max(s.today(w.start), s.today(tx.Now))
	// Near days first: mostly they have what is needed.
	for _, reach := range []slots.Day{1, 14} {
		from, to := max(day-reach, s.today(tx.Now)), min(day+reach, lastDay)
		if from > to {
			break
		}
		a, err := s.readAgenda(ctx, tx, w.users, from, to, w.moving)
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
