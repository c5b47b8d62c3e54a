package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/app"
	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
)

const (
	// laneMax is how many requests one webhook has in flight at a time in one process.
	laneMax = 16
	// hostMax is how many requests all webhooks of one host have in flight.
	hostMax = 32
	// retryAfter is the pause before a database that failed is asked again.
	retryAfter = 300 * time.Millisecond
)

// engine sends the deliveries that are due. Its state is a cache: the delivery rows are the truth, and a process that
// starts without it sends the same.
type engine struct {
	s       *service
	client  *http.Client
	timers  *timers
	seconds metric.Float64Histogram
	tracer  trace.Tracer

	results chan attempt
	refused *app.Aside[uuid.UUID] // deliveries whose results could not be stored
	sending sync.WaitGroup        // dispatching lanes and attempts

	mu       sync.Mutex
	stopping bool
	lanes    map[uuid.UUID]*lane
	hosts    map[string]int            // requests in flight
	waiting  map[string]map[*lane]bool // for room at a host
}

// lane is a webhook that has had something to send in this process. Its fields are guarded by the engine's mu.
type lane struct {
	id          uuid.UUID
	host        string // empty until the first dispatch
	inFlight    int
	due         bool // there may be something to claim
	more        bool // the last claim left deliveries behind
	dispatching bool // a goroutine is claiming
}

func newEngine(s *service) *engine {
	seconds, _ := otel.Meter("frontdesk").Float64Histogram("frontdesk.webhook.attempt.seconds", metric.WithUnit("s"),
		metric.WithDescription("time of an attempt by outcome"),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5))
	return &engine{s: s, client: fetch.Client(s.Fetch()), seconds: seconds, tracer: otel.Tracer("frontdesk"), results: make(chan attempt, 256),
		refused: app.NewAside[uuid.UUID]("webhook results"),
		lanes:   map[uuid.UUID]*lane{}, hosts: map[string]int{}, waiting: map[string]map[*lane]bool{}}
}

// run sends until ctx ends, then finishes what is in flight.
func (e *engine) run(ctx context.Context) {
	var listening sync.WaitGroup
	listening.Go(func() { e.listen(ctx) })
	listening.Go(func() { e.timers.run(ctx) })
	drained, settled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(settled)
		e.settle(context.WithoutCancel(ctx), drained)
	}()
	<-ctx.Done()
	e.mu.Lock()
	e.stopping = true
	e.mu.Unlock()
	listening.Wait()
	e.sending.Wait()
	close(drained)
	<-settled
	e.client.CloseIdleConnections()
}

// listen wakes the lanes that committed transactions name, until ctx ends. It connects again when a connection is lost.
func (e *engine) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := e.receive(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "listening for notifications is retried", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
}

// receive listens on one connection until it fails.
func (e *engine) receive(ctx context.Context) error {
	pooled, err := e.s.DB.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `listen `+WakeChannel); err != nil {
		return err
	}
	// Notifications that were sent while no connection listened are lost, so every lane is woken: now, and once more when
	// the leases of a process that died have run out.
	if err := e.sweep(ctx); err != nil {
		return err
	}
	again := time.AfterFunc(LeaseFor+time.Second, func() { _ = e.sweep(ctx) })
	defer again.Stop()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload == "" {
			if err := e.sweep(ctx); err != nil {
				return err
			}
			continue
		}
		for name := range strings.SplitSeq(n.Payload, ",") {
			if id, err := uuid.Parse(name); err == nil {
				e.wake(id)
			}
		}
	}
}

// sweep wakes every webhook that has something due.
func (e *engine) sweep(ctx context.Context) error {
	due, err := e.s.Due(ctx)
	for _, id := range due {
		e.wake(id)
	}
	return err
}

// wake has the webhook's lane look for due deliveries.
func (e *engine) wake(webhook uuid.UUID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[webhook]
	if l == nil {
		l = &lane{id: webhook}
		e.lanes[webhook] = l
	}
	l.due = true
	e.start(l)
}

// start begins to dispatch a lane that is due and has room, and reports whether it did. mu is held.
func (e *engine) start(l *lane) bool {
	// With more than half of its requests in flight, others will complete in a moment: one claim for all costs less.
	if !l.due || l.dispatching || e.stopping || l.inFlight > laneMax/2 {
		return false
	}
	if e.room(l) <= 0 {
		e.waitForHost(l)
		return false
	}
	l.dispatching = true
	e.sending.Go(func() { e.dispatch(l) })
	return true
}

// waitForHost has a lane wait until its host has room. mu is held.
func (e *engine) waitForHost(l *lane) {
	if e.waiting[l.host] == nil {
		e.waiting[l.host] = map[*lane]bool{}
	}
	e.waiting[l.host][l] = true
}

// room is how many more requests a lane may make. mu is held.
func (e *engine) room(l *lane) int {
	most := laneMax - l.inFlight
	if l.host != "" {
		most = min(most, hostMax-e.hosts[l.host])
	}
	return most
}

// dispatch claims deliveries of a lane and sends them, until nothing is due or no room is left.
func (e *engine) dispatch(l *lane) {
	for e.resolveHost(l) {
		e.mu.Lock()
		most := e.room(l)
		if !l.due || most <= 0 || e.stopping {
			l.dispatching = false
			if l.due {
				e.waitForHost(l)
			}
			e.mu.Unlock()
			return
		}
		l.due = false
		e.addInFlight(l, most)
		e.mu.Unlock()

		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		to, jobs, more, err := e.s.Claim(ctx, l.id, most)
		cancel()
		if err != nil {
			// Deliveries that were claimed all the same are sent when their leases have run out.
			jobs = nil
		}
		e.mu.Lock()
		e.addInFlight(l, len(jobs)-most)
		if err == nil {
			e.setHost(l, host(to.URL))
		}
		// A claim that found nothing may have been held back by requests in flight.
		l.more = more || len(jobs) == 0 && l.inFlight > 0
		if len(jobs) == most && more {
			l.due = true
		}
		if err != nil {
			l.dispatching = false
		}
		e.mu.Unlock()
		for _, j := range jobs {
			e.sending.Go(func() { e.results <- attempt{e.send(context.Background(), to, j), nil} })
		}
		if err != nil {
			slog.WarnContext(ctx, "claiming deliveries is retried", "webhook", l.id, "error", err)
			time.AfterFunc(retryAfter, func() { e.wake(l.id) })
			return
		}
	}
}

// addInFlight counts n more requests of a lane, or fewer if n is negative; lanes that wait for the host then start in the
// room that is free. mu is held.
func (e *engine) addInFlight(l *lane, n int) {
	l.inFlight += n
	if l.host == "" || n == 0 {
		return
	}
	if e.hosts[l.host] += n; e.hosts[l.host] <= 0 {
		delete(e.hosts, l.host)
	}
	free := hostMax - e.hosts[l.host]
	for next := range e.waiting[l.host] {
		if n > 0 || free <= 0 {
			return
		}
		delete(e.waiting[l.host], next)
		if e.start(next) {
			free--
		}
	}
	if len(e.waiting[l.host]) == 0 {
		delete(e.waiting, l.host)
	}
}

// setHost counts a lane's requests at another host. mu is held.
func (e *engine) setHost(l *lane, to string) {
	if l.host == to {
		return
	}
	n := l.inFlight
	e.addInFlight(l, -n)
	l.host = to
	e.addInFlight(l, n)
}

// resolveHost reads the host of a lane if it is not set yet. It returns false if there is no such webhook or the database
// does not answer; the lane is then no longer dispatching.
func (e *engine) resolveHost(l *lane) bool {
	e.mu.Lock()
	resolved := l.host != ""
	e.mu.Unlock()
	if resolved {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	address, err := e.s.URL(ctx, l.id)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.setHost(l, host(address))
		return true
	case errors.Is(err, pgx.ErrNoRows):
		if l.inFlight == 0 {
			delete(e.lanes, l.id)
		}
	default:
		slog.WarnContext(ctx, "reading a webhook is retried", "webhook", l.id, "error", err)
		time.AfterFunc(retryAfter, func() { e.wake(l.id) })
	}
	l.dispatching = false
	return false
}

// complete ends n requests of a webhook whose results are written, and starts the lanes that waited for them.
func (e *engine) complete(webhook uuid.UUID, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[webhook]
	if l == nil {
		return
	}
	e.addInFlight(l, -n)
	// A claim that runs at this moment may have read the deliveries before these were settled.
	l.due = l.due || l.more || l.dispatching
	e.start(l)
}

// sendNow sends a job at once and returns when its result is in the database. It returns svc_conflict with reason secret
// if the request cannot be signed. A caller that hangs up does not undo the request.
func (e *engine) sendNow(ctx context.Context, to Target, j Job) error {
	e.mu.Lock()
	if e.stopping {
		e.mu.Unlock()
		return fault.Unavailable()
	}
	done := make(chan error, 1)
	e.sending.Go(func() {
		e.results <- attempt{e.send(context.WithoutCancel(ctx), to, j), done}
	})
	e.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
