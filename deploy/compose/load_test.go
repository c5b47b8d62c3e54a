package compose

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
)

type call func(context.Context) (*system.Answer, error)

// load is a number of callers that make calls until Stop.
type load struct {
	stop    context.CancelFunc
	calling sync.WaitGroup

	mu     sync.Mutex
	sent   int
	failed map[string]int // how often, by what came instead of 200 or 201
}

// startLoad starts callers. Each makes the calls in turn, one after the other.
func startLoad(t *testing.T, callers int, calls ...call) *load {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &load{stop: stop, failed: map[string]int{}}
	t.Cleanup(func() { stop(); l.calling.Wait() })
	for first := range callers {
		l.calling.Go(func() {
			for n := first; ctx.Err() == nil; n++ {
				a, err := calls[n%len(calls)](context.WithoutCancel(ctx))
				l.mu.Lock()
				l.sent++
				switch {
				case err != nil:
					l.failed[err.Error()]++
				case a.Status != 200 && a.Status != 201:
					l.failed[fmt.Sprint(a.Status, " ", a.Body)]++
				}
				l.mu.Unlock()
			}
		})
	}
	return l
}

// Under waits for so many more answers.
func (l *load) Under(t *testing.T, answers int) {
	t.Helper()
	sent := func() int { l.mu.Lock(); defer l.mu.Unlock(); return l.sent }
	from := sent()
	until.Holds(t, func() bool { return sent() >= from+answers }, 2*time.Minute, 10*time.Millisecond)
}

// Stop ends the load and requires that no call has failed.
func (l *load) Stop(t *testing.T) {
	t.Helper()
	l.stop()
	l.calling.Wait()
	t.Logf("%d requests, failed: %v", l.sent, l.failed)
	require.Empty(t, l.failed)
}
