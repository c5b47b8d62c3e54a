package op

import (
	"fmt"
	"sync"
)

// Feed carries events to one listener.
type Feed struct {
	// After is the id of the last event that the listener has had, as it says: from the header Last-Event-ID, else from the parameter after.
	After string

	mu      sync.Mutex
	waiting []byte
	wake    chan struct{}
}

// mostWaiting is how many bytes wait for a listener who takes them slowly.
const mostWaiting = 64 << 10

// Event is the text of a server-sent event; data is one line.
func Event(name string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}

// newFeed makes an empty feed. A listener who is too slow for what is pushed gets missedEvents instead of everything that waits.
func newFeed(after string) *Feed { return &Feed{After: after, wake: make(chan struct{}, 1)} }

// Push adds the text of events. It never blocks.
func (f *Feed) Push(text []byte) {
	f.mu.Lock()
	if f.waiting = append(f.waiting, text...); len(f.waiting) > mostWaiting {
		f.waiting = append(f.waiting[:0], missedEvents...)
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take returns what waits, and leaves nothing.
func (f *Feed) take() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.waiting
	f.waiting = nil
	return text
}
