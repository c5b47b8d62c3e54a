package engine

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hook is a webhook of the simulation, as the database has it.
type hook struct {
	waiting map[int]int // deliveries by record: of each record one is sent at a time
	held    map[int]bool
	deleted bool
}

// claim is what delivery.Claim does: the first delivery of each record that is not being sent, most at a time.
func (h *hook) claim(most int) (records []int, more bool) {
	if h.deleted {
		return nil, false
	}
	unleased := 0 // the ones claimed included
	for _, record := range slices.Sorted(maps.Keys(h.waiting)) {
		unleased += h.waiting[record]
		if h.held[record] {
			unleased--
		} else if len(records) < most {
			records = append(records, record)
		}
	}
	for _, record := range records {
		h.held[record] = true
	}
	return records, len(records) > 0 && unleased > len(records)
}

// settle writes the result of a request.
func (h *hook) settle(record int) {
	delete(h.held, record)
	if h.waiting[record]--; h.waiting[record] == 0 {
		delete(h.waiting, record)
	}
}

// simulation runs lanes in steps whose order is drawn: each dispatch and each request goes on at any time, as goroutines do.
type simulation struct {
	*rapid.T
	lanes *lanes
	hooks map[uuid.UUID]*hook
	ids   []uuid.UUID
	steps []func()          // what may happen next
	sent  map[uuid.UUID]int // requests in flight
}

func (s *simulation) then(step func()) { s.steps = append(s.steps, step) }

// dispatch is Room.dispatch in steps.
func (s *simulation) dispatch(id uuid.UUID) {
	most, address := s.lanes.next(id)
	if most == 0 {
		return
	}
	s.then(func() {
		h := s.hooks[id]
		switch fails := rapid.IntRange(0, 9).Draw(s.T, "claim") == 0; {
		case fails:
			s.lanes.failed(id, most)
			s.then(func() { s.lanes.wake(id) })
			return
		case h.deleted:
			s.lanes.gone(id, most)
			return
		}
		room := rapid.IntRange(1, most).Draw(s.T, "room at the host")
		records, more := h.claim(room)
		require.Contains(s.T, []string{"", "address"}, address)
		s.then(func() {
			s.lanes.claimed(id, "address", most, room, len(records), more)
			for _, record := range records {
				s.sent[id]++
				s.then(func() { s.request(id, record) })
			}
			s.then(func() { s.dispatch(id) })
		})
	})
}

// request is a request that has ended: its result is written, and a moment later done is called.
func (s *simulation) request(id uuid.UUID, record int) {
	s.hooks[id].settle(record)
	s.then(func() {
		s.sent[id]--
		s.lanes.done(id, 1)
	})
}

func (s *simulation) holds() {
	for _, n := range s.sent {
		require.LessOrEqual(s.T, n, laneMax)
		require.GreaterOrEqual(s.T, n, 0)
	}
	for id := range s.hooks {
		if l := s.lanes.all[id]; l != nil {
			require.GreaterOrEqual(s.T, l.inFlight, s.sent[id], "what is sent is counted")
		}
	}
}

// In whatever order claims, results and new deliveries meet: no webhook has too many requests, and when nothing is under way
// any more nothing is left to send.
func TestNoWakeUpIsLostAndNobodyGetsTooManyRequests(t *testing.T) {
	t.Parallel()
	t.Run("few deliveries in many orders", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			for range 50 {
				simulate(t, 1, rapid.IntRange(1, 3).Draw(t, "events"), 2, 2)
			}
		})
	})
	t.Run("many deliveries", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			simulate(t, rapid.IntRange(1, 8).Draw(t, "webhooks"), rapid.IntRange(1, 60).Draw(t, "events"), 30, rapid.SampledFrom([]int{1, 3, 60}).Draw(t, "records"))
		})
	})
}

// simulate lets events happen, each of which adds deliveries at most to a webhook, about so many records of it.
func simulate(t *rapid.T, webhooks, events, deliveries, records int) {
	s := &simulation{T: t, hooks: map[uuid.UUID]*hook{}, sent: map[uuid.UUID]int{}}
	s.lanes = newLanes(func(id uuid.UUID) { s.then(func() { s.dispatch(id) }) })
	for i := range webhooks {
		id := uuid.UUID{15: byte(i)}
		s.ids = append(s.ids, id)
		s.hooks[id] = &hook{waiting: map[int]int{}, held: map[int]bool{}}
	}
	for range events {
		id := rapid.SampledFrom(s.ids).Draw(t, "webhook")
		h := s.hooks[id]
		if rapid.IntRange(0, 20).Draw(t, "event") == 0 {
			h.deleted = true
		} else {
			for range rapid.IntRange(1, deliveries).Draw(t, "deliveries") {
				h.waiting[rapid.IntRange(1, records).Draw(t, "record")]++
			}
			s.then(func() { s.lanes.wake(id) })
		}
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			s.step()
		}
	}
	for len(s.steps) > 0 {
		s.step()
	}
	for _, id := range s.ids {
		if h := s.hooks[id]; !h.deleted {
			require.Empty(t, h.waiting, "deliveries of %s", id)
		}
		if l := s.lanes.all[id]; l != nil {
			require.Zero(t, l.inFlight)
			require.False(t, l.dispatching)
		}
	}
}

// step does one of the steps that may happen next.
func (s *simulation) step() {
	if len(s.steps) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.steps)-1).Draw(s.T, "step")
	do := s.steps[i]
	s.steps = slices.Delete(s.steps, i, i+1)
	do()
	s.holds()
}
