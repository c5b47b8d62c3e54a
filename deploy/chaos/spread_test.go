package chaos

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answered is how many requests of an operation a process has answered.
func answered(t *testing.T, admin, op string) (n int) {
	t.Helper()
	res, err := http.Get(admin + "/metrics")
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^frontdesk_op_seconds_count\{[^}]*op="`+op+`"[^}]*\} ([0-9]+)$`).FindAllStringSubmatch(string(text), -1) {
		count, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		n += count
	}
	return n
}

func TestThreeReplicasShareTheRequestsAndTheDeathOfOneFailsNone(t *testing.T) {
	w := start(t, "SVC_REPLICAS=booking=3")
	w.System.Healthy(t)
	replicas := []string{"booking", "booking-2", "booking-3"}
	const op = "list-public-services"
	visitor := w.System.Visitor()
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	var good atomic.Int64
	var mu sync.Mutex
	var failed []string
	for range 8 {
		asking.Go(func() {
			for ctx.Err() == nil {
				a, err := visitor.Try(ctx, http.MethodGet, "/booking/services", nil)
				switch {
				case ctx.Err() != nil:
				case err == nil && a.Status == http.StatusOK:
					good.Add(1)
				default:
					mu.Lock()
					if err != nil {
						failed = append(failed, err.Error())
					} else {
						failed = append(failed, a.Body)
					}
					mu.Unlock()
				}
			}
		})
	}
	t.Cleanup(func() { stop(); asking.Wait() })
	for good.Load() < 600 {
		time.Sleep(10 * time.Millisecond)
	}
	total, of := 0, map[string]int{}
	for _, name := range replicas {
		of[name] = answered(t, w.System.Now(t).Processes[name].Admin, op)
		total += of[name]
	}
	for name, n := range of {
		require.Greater(t, 5*n, total, "%s has answered %d of %d", name, n, total)
	}
	for _, name := range replicas {
		w.System.Kill(t, name)
		time.Sleep(lasts(10*time.Second, 2*time.Second))
		w.System.Healthy(t)
	}
	stop()
	asking.Wait()
	require.Empty(t, failed)
	t.Logf("%d requests, of the first %d: %v", good.Load(), total, of)
}
