package engine

import (
	"context"
	"errors"
	"fmt"
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

// claimWithin is how long one claim may take.
const claimWithin = 10 * time.Second

// run sends until ctx ends, then finishes what is in flight.
func (r *Room) run(ctx context.Context) {
	var listening sync.WaitGroup
	listening.Go(func() { r.listen(ctx) })
	listening.Go(func() { r.keepSweeping(ctx) })
	drained, settled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(settled)
		r.settle(context.WithoutCancel(ctx), drained)
	}()
	<-ctx.Done()
	r.lanes.stop()
	r.giveUp()
	listening.Wait()
	r.sending.Wait()
	close(drained)
	<-settled
	r.client.CloseIdleConnections()
}

// listen wakes the lanes that committed transactions name, until ctx ends.
func (r *Room) listen(ctx context.Context) {
	// Whatever was told while nobody listened is found by a sweep: now, and once more when the leases of a process that died have run out.
	begin := func(ctx context.Context) error {
		time.AfterFunc(delivery.LeaseFor+time.Second, func() { _ = r.sweep(ctx) })
		return r.sweep(ctx)
	}
	r.DB.Listen(ctx, endpoint.WakeChannel, begin, func(ctx context.Context, named string) error {
		if named == "" {
			return r.sweep(ctx)
		}
		for name := range strings.SplitSeq(named, ",") {
			if id, err := uuid.Parse(name); err == nil {
				r.lanes.wake(id)
			}
		}
		return nil
	})
}

// sweepEvery is how often each process looks for what is due. Retries wait longer than that, so one of the sweeps sees each beforehand.
const sweepEvery = 15 * time.Second

func (r *Room) keepSweeping(ctx context.Context) {
	for tick := time.NewTicker(sweepEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			if err := r.sweep(ctx); err != nil {
				slog.WarnContext(ctx, "looking for what is due is repeated", "error", err)
			}
		}
	}
}

// sweep wakes every webhook that has something due now, and at its time each that has before the next sweep. A lane that is woken for
// nothing does no harm: the delivery rows say what is due.
func (r *Room) sweep(ctx context.Context) error {
	now := r.DB.Now()
	due, err := r.deliveries.Due(ctx, now, now.Add(sweepEvery))
	for _, d := range due {
		if wait := d.At.Sub(now); wait > 0 {
			time.AfterFunc(wait, func() { r.lanes.wake(d.Webhook) })
		} else {
			r.lanes.wake(d.Webhook)
		}
	}
	return err
}

// dispatch claims deliveries of a lane and sends them, until nothing is due or no room is left. It gives up when ctx ends.
func (r *Room) dispatch(ctx context.Context, webhook uuid.UUID) {
	for {
		most, address := r.lanes.next(webhook)
		if most == 0 {
			return
		}
		switch err := r.sendUpTo(ctx, webhook, address, most); {
		case errors.Is(err, pgx.ErrNoRows):
			r.lanes.gone(webhook, most)
			return
		case err != nil:
			r.lanes.failed(webhook, most)
			r.retry(ctx, webhook, err)
			return
		}
	}
}

// sendUpTo claims deliveries of a webhook, up to most of them and as many as its host has room for, and sends them. It waits for the first room.
// address is where the last ones went. It returns pgx.ErrNoRows if there is no such webhook. After another error, deliveries that were
// claimed all the same are sent when their leases have run out.
func (r *Room) sendUpTo(ctx context.Context, webhook uuid.UUID, address string, most int) (err error) {
	if address == "" {
		if address, err = r.endpoints.URL(ctx, webhook); err != nil {
			return fmt.Errorf("read the webhook: %w", err)
		}
	}
	at, err := r.hosts.take(ctx, address, most)
	if err != nil {
		return err
	}
	once, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimWithin)
	defer cancel()
	to, jobs, more, err := r.deliveries.Claim(once, webhook, at.held)
	if err != nil {
		at.keep(0)
		return fmt.Errorf("claim deliveries: %w", err)
	}
	at.keep(len(jobs))
	r.lanes.claimed(webhook, to.URL, most, at.held, len(jobs), more)
	for _, j := range jobs {
		r.sending.Go(func() {
			result := r.send(context.WithoutCancel(ctx), to, j)
			at.end()
			r.results <- attempt{result, nil}
		})
	}
	return nil
}

// retry wakes a lane in a moment, because the database failed.
func (r *Room) retry(ctx context.Context, webhook uuid.UUID, err error) {
	if ctx.Err() != nil {
		return
	}
	slog.WarnContext(ctx, "dispatching a webhook is retried", "webhook", webhook, "error", err)
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
