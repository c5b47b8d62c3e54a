package engine

import (
	"sync"

	"github.com/google/uuid"
)

// laneMax is how many requests one webhook has in flight at a time in one process.
const laneMax = 16

// lanes decide which webhooks claim deliveries now, and how many at most. They know neither the database nor the network: who dispatches a
// lane asks next how many deliveries to claim, says with claimed or failed how that ended, and goes on until next is 0. done says when
// requests have ended. No wake-up is lost: one that finds no room, or a claim under way, is made up for when there is room, or the claim
// has ended.
type lanes struct {
	begin func(webhook uuid.UUID) // has a lane dispatched, one at a time for each; called with mu held, so it must not block

	mu       sync.Mutex
	stopping bool
	all      map[uuid.UUID]*lane
}

// lane is a webhook that has had something to send in this process.
type lane struct {
	inFlight    int  // requests, or claimed just now
	due         bool // there may be something to claim
	more        bool // the last claim left deliveries behind
	dispatching bool
	address     string // where the last claim's requests go; empty before the first
}

func newLanes(begin func(webhook uuid.UUID)) *lanes {
	return &lanes{begin: begin, all: map[uuid.UUID]*lane{}}
}

// stop lets no lane begin any more. What dispatches ends at its next step.
func (s *lanes) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
}

// admit runs f, which must not block, and reports true, unless the lanes have stopped.
func (s *lanes) admit(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	f()
	return true
}

// wake has the webhook's lane look for due deliveries.
func (s *lanes) wake(webhook uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	if l == nil {
		l = &lane{}
		s.all[webhook] = l
	}
	l.due = true
	s.start(webhook, l)
}

// next is how many deliveries to claim at most, and where the last ones went; 0 if there is no room or nothing due, and the lane is then no
// longer dispatched.
func (s *lanes) next(webhook uuid.UUID) (most int, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	most = laneMax - l.inFlight
	if !l.due || most == 0 || s.stopping {
		l.dispatching = false
		return 0, ""
	}
	l.due = false
	l.inFlight += most
	return most, l.address
}

// claimed says that of next's most deliveries got were claimed, for requests to an address, and whether more wait. asked is for how many the
// host had room. The requests count until done.
func (s *lanes) claimed(webhook uuid.UUID, address string, most, asked, got int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	l.inFlight += got - most
	l.address = address
	// A claim that found nothing may have been held back by requests in flight.
	l.more = more || got == 0 && l.inFlight > 0
	if got == asked && more {
		l.due = true
	}
}

// failed says that a claim of most deliveries failed. The lane is no longer dispatched, and has to be woken.
func (s *lanes) failed(webhook uuid.UUID, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	l.inFlight -= most
	l.more = l.inFlight > 0
	l.dispatching = false
}

// gone says that there is no such webhook, of which most deliveries were to be claimed. The lane is no longer dispatched.
func (s *lanes) gone(webhook uuid.UUID, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	l.inFlight -= most
	l.dispatching = false
	if l.inFlight == 0 {
		delete(s.all, webhook)
	}
}

// done ends n requests of a webhook whose results are written.
func (s *lanes) done(webhook uuid.UUID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	if l == nil {
		return
	}
	l.inFlight -= n
	// A claim that runs at this moment may have read the deliveries before these were settled.
	l.due = l.due || l.more || l.dispatching
	s.start(webhook, l)
}

// start begins to dispatch a lane that is due and has room.
func (s *lanes) start(webhook uuid.UUID, l *lane) {
	// With more than half of its requests in flight, others will complete in a moment: one claim for all costs less.
	if l.due && !l.dispatching && !s.stopping && l.inFlight <= laneMax/2 {
		l.dispatching = true
		s.begin(webhook)
	}
}
