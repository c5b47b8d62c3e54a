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

// retryAfter is the pause before a database that failed is asked again.
const retryAfter = 300 * time.Millisecond

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
	r.lanes.stop()
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
				r.lanes.wake(id)
			}
		}
	}
}

// sweep wakes every webhook that has something due.
func (r *Room) sweep(ctx context.Context) error {
	due, err := r.deliveries.Due(ctx)
	for _, id := range due {
		r.lanes.wake(id)
	}
	return err
}

// dispatch claims deliveries of a lane and sends them, until nothing is due or no room is left.
func (r *Room) dispatch(webhook uuid.UUID) {
	for r.resolveHost(webhook) {
		most := r.lanes.next(webhook)
		if most == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		to, jobs, more, err := r.deliveries.Claim(ctx, webhook, most)
		cancel()
		if err != nil {
			// Deliveries that were claimed all the same are sent when their leases have run out.
			r.lanes.failed(webhook, most)
			r.retry(ctx, webhook, "claiming deliveries is retried", err)
			return
		}
		r.lanes.claimed(webhook, host(to.URL), most, len(jobs), more)
		for _, j := range jobs {
			r.sending.Go(func() { r.results <- attempt{r.send(context.Background(), to, j), nil} })
		}
	}
}

// resolveHost reads the host of a lane if it is not known yet. It returns false if there is no such webhook or the database
// does not answer; the lane is then no longer dispatched.
func (r *Room) resolveHost(webhook uuid.UUID) bool {
	if r.lanes.resolved(webhook) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	address, err := r.endpoints.URL(ctx, webhook)
	switch {
	case err == nil:
		r.lanes.resolve(webhook, host(address))
		return true
	case errors.Is(err, pgx.ErrNoRows):
		r.lanes.gone(webhook)
	default:
		r.lanes.failed(webhook, 0)
		r.retry(ctx, webhook, "reading a webhook is retried", err)
	}
	return false
}

// retry wakes a lane in a moment, because the database failed.
func (r *Room) retry(ctx context.Context, webhook uuid.UUID, what string, err error) {
	slog.WarnContext(ctx, what, "webhook", webhook, "error", err)
	time.AfterFunc(retryAfter, func() { r.lanes.wake(webhook) })
}

// sendNow sends a job at once and returns when its result is in the database. It returns svc_conflict with reason secret
// if the request cannot be signed. A caller that hangs up does not undo the request.
func (r *Room) sendNow(ctx context.Context, to endpoint.Target, j delivery.Job) error {
	done := make(chan error, 1)
	if !r.lanes.admit(func() {
		r.sending.Go(func() { r.results <- attempt{r.send(context.WithoutCancel(ctx), to, j), done} })
	}) {
		return fault.Unavailable()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
