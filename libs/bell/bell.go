// Package bell wakes all who wait for the next change of something.
package bell

import "sync"

// Bell is rung at each change. Its zero value is ready, and a ring that nobody waits for costs nothing.
type Bell struct {
	mu   sync.Mutex
	rung chan struct{} // nil while nobody waits
}

// Next is closed at the next ring. Who takes it before looking misses no change.
func (b *Bell) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// Ring wakes all who wait.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}
