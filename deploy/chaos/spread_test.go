package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"frontdesk/libs/until"
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

func TestThreeReplicasShareFiveHundredRequestsASecondAndTheDeathOfOneFailsNone(t *testing.T) {
	w := start(t, "SVC_REPLICAS=booking=3")
	w.System.Healthy(t)
	replicas := []string{"booking", "booking-2", "booking-3"}
	const op, perSecond = "list-public-services", 500
	visitor := w.System.Visitor()
	ctx, stop := context.WithCancel(t.Context())
	// What a stall of up to a second has missed is caught up.
	pace := rate.NewLimiter(perSecond, perSecond)
	pace.AllowN(time.Now(), perSecond)
	var asking sync.WaitGroup
	var sent, good atomic.Int64
	var mu sync.Mutex
	var failed []string
	for range 32 {
		asking.Go(func() {
			for pace.Wait(ctx) == nil {
				sent.Add(1)
				a, err := visitor.Try(context.WithoutCancel(ctx), http.MethodGet, "/booking/services", nil)
				if err == nil && a.Status == http.StatusOK {
					good.Add(1)
					continue
				}
				mu.Lock()
				if err != nil {
					failed = append(failed, err.Error())
				} else {
					failed = append(failed, a.Body)
				}
				mu.Unlock()
			}
		})
	}
	t.Cleanup(func() { stop(); asking.Wait() })
	began := time.Now()
	until.Holds(t, func() bool { return good.Load() >= 2*perSecond }, time.Minute, 10*time.Millisecond)
	total, of := 0, map[string]int{}
	for _, name := range replicas {
		of[name] = answered(t, w.System.Now(t).Processes[name].Admin, op)
		total += of[name]
	}
	for name, n := range of {
		require.Greater(t, 5*n, total, "%s has answered %d of %d", name, n, total)
	}
	var recovered time.Duration
	for _, name := range replicas {
		killed := time.Now()
		w.System.Kill(t, name)
		w.System.Healthy(t)
		recovered = max(recovered, time.Since(killed))
		time.Sleep(lasts(10*time.Second, 2*time.Second))
	}
	reached := float64(sent.Load()) / time.Since(began).Seconds()
	stop()
	asking.Wait()
	t.Logf("%d requests, of the first %d: %v", sent.Load(), total, of)
	row("each of three replicas of booking killed, while visitors read", fmt.Sprintf("%d requests, %.0f/s, %d failed", sent.Load(), reached, len(failed)), len(failed), 0, recovered.Round(100*time.Millisecond).String())
	require.Empty(t, failed)
	require.Greater(t, reached, .95*perSecond, "requests per second")
}

func TestABookingUnderAKeyIsAnsweredByAnotherReplicaWhenItsOwnDies(t *testing.T) {
	w := start(t, "SVC_REPLICAS=booking=3")
	w.System.Healthy(t)
	// Bookings of one calendar wait for each other, so some are under way at any time.
	l := w.Load(t, 8, 20)
	began := time.Now()
	until.Holds(t, func() bool { return l.Answered(began, time.Now()) > 500 }, time.Minute, 10*time.Millisecond)
	for range 2 {
		for _, name := range []string{"booking", "booking-2", "booking-3"} {
			w.System.Kill(t, name)
			w.System.Healthy(t)
			time.Sleep(lasts(5*time.Second, time.Second))
		}
	}
	require.Empty(t, l.Failed(began, time.Now()))
	w.Report(t, "each of three replicas of booking killed twice, while visitors book under keys", l, w.Recovered(t, time.Minute))
}
