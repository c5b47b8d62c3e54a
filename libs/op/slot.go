package op

import (
	"sync"
	"time"

	"frontdesk/libs/fault"
)

// Slots count what is open in a process: Most in all, and Each for one holder.
type Slots struct {
	Most, Each int
	// Wait is how long a holder who has too many is asked to wait.
	Wait time.Duration

	mu     sync.Mutex
	all    int
	holder map[string]int
}

// Enter takes a slot, and returns the function that gives it back. The error is svc_rate_limited if the holder is limited and has too
// many, and svc_unavailable if the process has.
func (s *Slots) Enter(holder string, limited bool) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case limited && s.holder[holder] >= s.Each:
		return nil, fault.RateLimited(s.Wait)
	case s.all >= s.Most:
		return nil, fault.Unavailable()
	}
	if s.holder == nil {
		s.holder = map[string]int{}
	}
	s.all++
	s.holder[holder]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.holder[holder]--; s.holder[holder] == 0 {
			delete(s.holder, holder)
		}
	}, nil
}
