package engine

import (
	"sync"

	"github.com/google/uuid"
)

const (
	// laneMax is how many requests one webhook has in flight at a time in one process.
	laneMax = 16
	// hostMax is how many requests all webhooks of one host have in flight in one process.
	hostMax = 32
)

// lanes decide which webhooks claim deliveries now, and how many. They know neither the database nor the network: who dispatches a lane asks
// next how many deliveries to claim, says with claimed or failed how that ended, and goes on until next is 0. done says when requests have
// ended. No wake-up is lost: one that finds no room, or a claim under way, is made up for when there is room, or the claim has ended.
type lanes struct {
	begin func(webhook uuid.UUID) // has a lane dispatched, one at a time for each; called with mu held, so it must not block

	mu       sync.Mutex
	stopping bool
	all      map[uuid.UUID]*lane
	hosts    map[string]int            // requests in flight, or claimed just now
	waiting  map[string]map[*lane]bool // for room at a host; none of these is dispatched
}

// lane is a webhook that has had something to send in this process.
type lane struct {
	id          uuid.UUID
	host        string // empty until the first dispatch
	inFlight    int
	due         bool // there may be something to claim
	more        bool // the last claim left deliveries behind
	dispatching bool
}

func newLanes(begin func(webhook uuid.UUID)) *lanes {
	return &lanes{begin: begin, all: map[uuid.UUID]*lane{}, hosts: map[string]int{}, waiting: map[string]map[*lane]bool{}}
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
		l = &lane{id: webhook}
		s.all[webhook] = l
	}
	l.due = true
	s.start(l)
}

// resolved reports whether the host of a lane is known.
func (s *lanes) resolved(webhook uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[webhook].host != ""
}

// resolve says which host a lane sends to.
func (s *lanes) resolve(webhook uuid.UUID, host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.move(s.all[webhook], host)
}

// next is how many deliveries to claim; 0 if there is no room or nothing due, and the lane is then no longer dispatched.
func (s *lanes) next(webhook uuid.UUID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	most := s.room(l)
	if !l.due || most <= 0 || s.stopping {
		l.dispatching = false
		if l.due {
			s.wait(l)
		}
		return 0
	}
	l.due = false
	s.add(l, most)
	return most
}

// claimed says that of most deliveries got were claimed, for requests to a host, and whether more wait. The requests count until done.
func (s *lanes) claimed(webhook uuid.UUID, host string, most, got int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	s.add(l, got-most)
	s.move(l, host)
	// A claim that found nothing may have been held back by requests in flight.
	l.more = more || got == 0 && l.inFlight > 0
	if got == most && more {
		l.due = true
	}
}

// failed says that a claim of most deliveries failed. The lane is no longer dispatched, and has to be woken.
func (s *lanes) failed(webhook uuid.UUID, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	s.add(l, -most)
	l.more = l.inFlight > 0
	l.dispatching = false
}

// gone says that there is no such webhook. The lane is no longer dispatched.
func (s *lanes) gone(webhook uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	l.dispatching = false
	if l.inFlight == 0 {
		delete(s.all, webhook)
	}
}

// done ends n requests of a webhook whose results are written, and starts the lanes that waited for them.
func (s *lanes) done(webhook uuid.UUID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[webhook]
	if l == nil {
		return
	}
	s.add(l, -n)
	// A claim that runs at this moment may have read the deliveries before these were settled.
	l.due = l.due || l.more || l.dispatching
	s.start(l)
}

// start begins to dispatch a lane that is due and has room, and reports whether it did.
func (s *lanes) start(l *lane) bool {
	// With more than half of its requests in flight, others will complete in a moment: one claim for all costs less.
	if !l.due || l.dispatching || s.stopping || l.inFlight > laneMax/2 {
		return false
	}
	if s.room(l) <= 0 {
		s.wait(l)
		return false
	}
	s.leave(l)
	l.dispatching = true
	s.begin(l.id)
	return true
}

// wait has a lane wait until its host has room.
func (s *lanes) wait(l *lane) {
	if s.waiting[l.host] == nil {
		s.waiting[l.host] = map[*lane]bool{}
	}
	s.waiting[l.host][l] = true
}

// leave ends the wait of a lane.
func (s *lanes) leave(l *lane) {
	delete(s.waiting[l.host], l)
	if len(s.waiting[l.host]) == 0 {
		delete(s.waiting, l.host)
	}
}

// room is how many more requests a lane may make.
func (s *lanes) room(l *lane) int {
	most := laneMax - l.inFlight
	if l.host != "" {
		most = min(most, hostMax-s.hosts[l.host])
	}
	return most
}

// add counts n more requests of a lane, or fewer if n is negative; lanes that wait for the host then start in the room that is free.
func (s *lanes) add(l *lane, n int) {
	l.inFlight += n
	if l.host == "" || n == 0 {
		return
	}
	if s.hosts[l.host] += n; s.hosts[l.host] <= 0 {
		delete(s.hosts, l.host)
	}
	free := hostMax - s.hosts[l.host]
	for next := range s.waiting[l.host] {
		if n > 0 || free <= 0 {
			return
		}
		s.leave(next)
		if s.start(next) {
			free--
		}
	}
}

// move counts a lane's requests at another host.
func (s *lanes) move(l *lane, host string) {
	if l.host == host {
		return
	}
	n := l.inFlight
	s.add(l, -n)
	l.host = host
	s.add(l, n)
}
