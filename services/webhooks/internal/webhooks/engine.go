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

	"frontdesk/libs/fault"
	"frontdesk/libs/fetch"
)

const (
	// laneMax is how many requests one webhook has in flight at a time.
	laneMax = 16
	// hostMax is how many all webhooks of one host have.
	hostMax = 32
)

// engine sends what is due. It keeps nothing that the delivery rows do not say.
type engine struct {
	s       *service
	client  *http.Client
	timers  *timers
	seconds metric.Float64Histogram

	results chan result
	sending sync.WaitGroup // lanes and attempts

	mu       sync.Mutex
	stopping bool
	lanes    map[uuid.UUID]*lane
	hosts    map[string]int            // requests in flight
	waiting  map[string]map[*lane]bool // for room at a host
}

// lane is a webhook that has had something to do in this process.
type lane struct {
	id     uuid.UUID
	host   string // empty until the first look
	flying int
	due    bool // somebody said that there is something to claim
	more   bool // the last claim left some behind
	driven bool // a goroutine is claiming
}

func newEngine(s *service) *engine {
	seconds, _ := otel.Meter("frontdesk").Float64Histogram("frontdesk.webhook.attempt.seconds", metric.WithUnit("s"),
		metric.WithDescription("time of an attempt by outcome"),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5))
	return &engine{s: s, client: fetch.Client(s.fetchOptions()), seconds: seconds, results: make(chan result, 256),
		lanes: map[uuid.UUID]*lane{}, hosts: map[string]int{}, waiting: map[string]map[*lane]bool{}}
}

// run sends until ctx ends, and then finishes what is in flight.
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

// listen wakes lanes when a transaction commits something for them.
func (e *engine) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := e.heed(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "notifications are followed again", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}
}

func (e *engine) heed(ctx context.Context) error {
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
	if _, err := conn.Exec(ctx, `listen `+wakeChannel); err != nil {
		return err
	}
	// What was committed before, and what a process that died had claimed.
	if err := e.sweep(ctx); err != nil {
		return err
	}
	again := time.AfterFunc(leaseFor+time.Second, func() { _ = e.sweep(ctx) })
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
				e.poke(id)
			}
		}
	}
}

// sweep wakes every webhook that has something due.
func (e *engine) sweep(ctx context.Context) error {
	rows, err := e.s.DB.Pool.Query(ctx, `
		select id from webhook w where active and paused is null and (
			exists (select from delivery d where d.webhook = w.id and d.status = 'queued')
			or exists (select from delivery d where d.webhook = w.id and d.status = 'retrying' and d.next_attempt_at <= $1))`, e.s.DB.Now().UTC())
	if err != nil {
		return err
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	for _, id := range due {
		e.poke(id)
	}
	return err
}

// poke says that a webhook may have something due.
func (e *engine) poke(id uuid.UUID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[id]
	if l == nil {
		l = &lane{id: id}
		e.lanes[id] = l
	}
	l.due = true
	e.start(l)
}

// start sets a lane going that has a reason and is not, and tells whether it did. mu is held.
func (e *engine) start(l *lane) bool {
	// With half of its requests still in flight, more will land in a moment: one claim for all costs less.
	if !l.due || l.driven || e.stopping || l.flying > laneMax/2 {
		return false
	}
	if e.room(l) <= 0 {
		e.queue(l)
		return false
	}
	l.driven = true
	e.sending.Go(func() { e.drive(l) })
	return true
}

// queue has a lane wait for room at its host. mu is held.
func (e *engine) queue(l *lane) {
	if e.waiting[l.host] == nil {
		e.waiting[l.host] = map[*lane]bool{}
	}
	e.waiting[l.host][l] = true
}

// room is how many more requests a lane may make. mu is held.
func (e *engine) room(l *lane) int {
	most := laneMax - l.flying
	if l.host != "" {
		most = min(most, hostMax-e.hosts[l.host])
	}
	return most
}

// drive claims for a lane until nothing is due or no room is left.
func (e *engine) drive(l *lane) {
	for e.know(l) {
		e.mu.Lock()
		most := e.room(l)
		if !l.due || most <= 0 || e.stopping {
			l.driven = false
			if l.due {
				e.queue(l)
			}
			e.mu.Unlock()
			return
		}
		l.due = false
		e.fly(l, most)
		e.mu.Unlock()

		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		to, jobs, more, err := e.claim(ctx, l.id, most)
		cancel()
		if err != nil {
			// What may have been claimed all the same is found when its lease has run out.
			jobs = nil
		}
		e.mu.Lock()
		e.fly(l, len(jobs)-most)
		if err == nil {
			e.move(l, host(to.url))
		}
		// What is in flight may be all that holds back what waits behind it.
		l.more = more || len(jobs) == 0 && l.flying > 0
		if len(jobs) == most && more {
			l.due = true
		}
		if err != nil {
			l.driven = false
		}
		e.mu.Unlock()
		for _, j := range jobs {
			e.sending.Go(func() { e.results <- e.send(context.Background(), to, j) })
		}
		if err != nil {
			slog.Warn("deliveries are claimed again", "webhook", l.id, "error", err)
			time.AfterFunc(300*time.Millisecond, func() { e.poke(l.id) })
			return
		}
	}
}

// fly counts n more requests in flight, and lets others of the host have the room that a smaller number
// leaves. mu is held.
func (e *engine) fly(l *lane, n int) {
	l.flying += n
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

// move counts a lane's requests at another host. mu is held.
func (e *engine) move(l *lane, to string) {
	if l.host == to {
		return
	}
	n := l.flying
	e.fly(l, -n)
	l.host = to
	e.fly(l, n)
}

// know finds out which host a lane leads to, once. False means that there is no such webhook, or that
// nobody can tell just now.
func (e *engine) know(l *lane) bool {
	e.mu.Lock()
	known := l.host != ""
	e.mu.Unlock()
	if known {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var address string
	err := e.s.DB.Pool.QueryRow(ctx, `select url from webhook where id = $1`, l.id).Scan(&address)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.move(l, host(address))
		return true
	case errors.Is(err, pgx.ErrNoRows):
		if l.flying == 0 {
			delete(e.lanes, l.id)
		}
	default:
		slog.Warn("a webhook is looked up again", "webhook", l.id, "error", err)
		time.AfterFunc(300*time.Millisecond, func() { e.poke(l.id) })
	}
	l.driven = false
	return false
}

// landed gives the places of n settled requests back and wakes whoever waited for them.
func (e *engine) landed(webhook uuid.UUID, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.lanes[webhook]
	if l == nil {
		return
	}
	e.fly(l, -n)
	// A claim that is under way may not have seen this one settled.
	l.due = l.due || l.more || l.driven
	e.start(l)
}

// now makes an attempt that somebody waits for, and returns when its result is in the database.
func (e *engine) now(ctx context.Context, to target, j job) error {
	e.mu.Lock()
	if e.stopping {
		e.mu.Unlock()
		return fault.Unavailable()
	}
	told := make(chan error, 1)
	e.sending.Go(func() {
		// A caller who hangs up does not undo a request.
		r := e.send(context.WithoutCancel(ctx), to, j)
		r.told = told
		e.results <- r
	})
	e.mu.Unlock()
	select {
	case err := <-told:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
