package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
)

const (
	// laneMax is how many requests one webhook has in flight at a time in one process.
	laneMax = 16
	// hostMax is how many requests all webhooks of one host have in flight.
	hostMax = 32
	// retryAfter is the pause before a database that failed is asked again.
	retryAfter = 300 * time.Millisecond
)

// lane is a webhook that has had something to send in this process. Its fields are guarded by the room's mu.
type lane struct {
	id          uuid.UUID
	host        string // empty until the first dispatch
	inFlight    int
	due         bool // there may be something to claim
	more        bool // the last claim left deliveries behind
	dispatching bool // a goroutine is claiming
}

// run sends until ctx ends, then finishes what is in flight.
func (r *Room) run(ctx context.Context) {
	var listening sync.WaitGroup
	listening.Go(func() { r.listen(ctx) })
	listening.Go(func() { r.timers.run(ctx) })
	drained, settled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(settled)
		r.settle(context.WithoutCancel(ctx), drained)
	}()
	<-ctx.Done()
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	listening.Wait()
	r.sending.Wait()
	close(drained)
	<-settled
	r.client.CloseIdleConnections()
}

// listen wakes the lanes that committed transactions name, until ctx ends. It connects again when a connection is lost.
func (r *Room) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.receive(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "listening for notifications is retried", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
}

// receive listens on one connection until it fails.
func (r *Room) receive(ctx context.Context) error {
	pooled, err := r.DB.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `listen `+endpoint.WakeChannel); err != nil {
		return err
	}
	// Notifications that were sent while no connection listened are lost, so every lane is woken: now, and once more when
	// the leases of a process that died have run out.
	if err := r.sweep(ctx); err != nil {
		return err
	}
	again := time.AfterFunc(delivery.LeaseFor+time.Second, func() { _ = r.sweep(ctx) })
	defer again.Stop()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload == "" {
			if err := r.sweep(ctx); err != nil {
				return err
			}
			continue
		}
		for name := range strings.SplitSeq(n.Payload, ",") {
			if id, err := uuid.Parse(name); err == nil {
				r.wake(id)
			}
		}
	}
}

// sweep wakes every webhook that has something due.
func (r *Room) sweep(ctx context.Context) error {
	due, err := r.deliveries.Due(ctx)
	for _, id := range due {
		r.wake(id)
	}
	return err
}

// wake has the webhook's lane look for due deliveries.
func (r *Room) wake(webhook uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[webhook]
	if l == nil {
		l = &lane{id: webhook}
		r.lanes[webhook] = l
	}
	l.due = true
	r.start(l)
}

// start begins to dispatch a lane that is due and has room, and reports whether it did. mu is held.
func (r *Room) start(l *lane) bool {
	// With more than half of its requests in flight, others will complete in a moment: one claim for all costs less.
	if !l.due || l.dispatching || r.stopping || l.inFlight > laneMax/2 {
		return false
	}
	if r.room(l) <= 0 {
		r.waitForHost(l)
		return false
	}
	l.dispatching = true
	r.sending.Go(func() { r.dispatch(l) })
	return true
}

// waitForHost has a lane wait until its host has room. mu is held.
func (r *Room) waitForHost(l *lane) {
	if r.waiting[l.host] == nil {
		r.waiting[l.host] = map[*lane]bool{}
	}
	r.waiting[l.host][l] = true
}

// room is how many more requests a lane may make. mu is held.
func (r *Room) room(l *lane) int {
	most := laneMax - l.inFlight
	if l.host != "" {
		most = min(most, hostMax-r.hosts[l.host])
	}
	return most
}

// dispatch claims deliveries of a lane and sends them, until nothing is due or no room is left.
func (r *Room) dispatch(l *lane) {
	for r.resolveHost(l) {
		r.mu.Lock()
		most := r.room(l)
		if !l.due || most <= 0 || r.stopping {
			l.dispatching = false
			if l.due {
				r.waitForHost(l)
			}
			r.mu.Unlock()
			return
		}
		l.due = false
		r.addInFlight(l, most)
		r.mu.Unlock()

		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		to, jobs, more, err := r.deliveries.Claim(ctx, l.id, most)
		cancel()
		if err != nil {
			// Deliveries that were claimed all the same are sent when their leases have run out.
			jobs = nil
		}
		r.mu.Lock()
		r.addInFlight(l, len(jobs)-most)
		if err == nil {
			r.setHost(l, host(to.URL))
		}
		// A claim that found nothing may have been held back by requests in flight.
		l.more = more || len(jobs) == 0 && l.inFlight > 0
		if len(jobs) == most && more {
			l.due = true
		}
		if err != nil {
			l.dispatching = false
		}
		r.mu.Unlock()
		for _, j := range jobs {
			r.sending.Go(func() { r.results <- attempt{r.send(context.Background(), to, j), nil} })
		}
		if err != nil {
			slog.WarnContext(ctx, "claiming deliveries is retried", "webhook", l.id, "error", err)
			time.AfterFunc(retryAfter, func() { r.wake(l.id) })
			return
		}
	}
}

// addInFlight counts n more requests of a lane, or fewer if n is negative; lanes that wait for the host then start in the
// room that is free. mu is held.
func (r *Room) addInFlight(l *lane, n int) {
	l.inFlight += n
	if l.host == "" || n == 0 {
		return
	}
	if r.hosts[l.host] += n; r.hosts[l.host] <= 0 {
		delete(r.hosts, l.host)
	}
	free := hostMax - r.hosts[l.host]
	for next := range r.waiting[l.host] {
		if n > 0 || free <= 0 {
			return
		}
		delete(r.waiting[l.host], next)
		if r.start(next) {
			free--
		}
	}
	if len(r.waiting[l.host]) == 0 {
		delete(r.waiting, l.host)
	}
}

// setHost counts a lane's requests at another host. mu is held.
func (r *Room) setHost(l *lane, to string) {
	if l.host == to {
		return
	}
	n := l.inFlight
	r.addInFlight(l, -n)
	l.host = to
	r.addInFlight(l, n)
}

// resolveHost reads the host of a lane if it is not set yet. It returns false if there is no such webhook or the database
// does not answer; the lane is then no longer dispatching.
func (r *Room) resolveHost(l *lane) bool {
	r.mu.Lock()
	resolved := l.host != ""
	r.mu.Unlock()
	if resolved {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	address, err := r.endpoints.URL(ctx, l.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.setHost(l, host(address))
		return true
	case errors.Is(err, pgx.ErrNoRows):
		if l.inFlight == 0 {
			delete(r.lanes, l.id)
		}
	default:
		slog.WarnContext(ctx, "reading a webhook is retried", "webhook", l.id, "error", err)
		time.AfterFunc(retryAfter, func() { r.wake(l.id) })
	}
	l.dispatching = false
	return false
}

// complete ends n requests of a webhook whose results are written, and starts the lanes that waited for them.
func (r *Room) complete(webhook uuid.UUID, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[webhook]
	if l == nil {
		return
	}
	r.addInFlight(l, -n)
	// A claim that runs at this moment may have read the deliveries before these were settled.
	l.due = l.due || l.more || l.dispatching
	r.start(l)
}

// sendNow sends a job at once and returns when its result is in the database. It returns svc_conflict with reason secret
// if the request cannot be signed. A caller that hangs up does not undo the request.
func (r *Room) sendNow(ctx context.Context, to endpoint.Target, j delivery.Job) error {
	r.mu.Lock()
	if r.stopping {
		r.mu.Unlock()
		return fault.Unavailable()
	}
	done := make(chan error, 1)
	r.sending.Go(func() {
		r.results <- attempt{r.send(context.WithoutCancel(ctx), to, j), done}
	})
	r.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
