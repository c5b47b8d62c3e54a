package times

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/slots"
)

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
