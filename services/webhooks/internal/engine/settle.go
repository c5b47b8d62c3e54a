package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
)

// settleBatch is how many results one transaction writes at most.
const settleBatch = 200

// attempt is a request that was made, and who waits for its result to be in the database.
type attempt struct {
	delivery.Result
	done chan error // receives nil, or why no request was made; nil if no caller waits
}

// settle writes results until drained is closed and none is left. While the database is away it retries: the leases keep
// other processes from sending the same deliveries meanwhile.
func (r *Room) settle(ctx context.Context, drained <-chan struct{}) {
	for {
		batch := r.nextResults(drained)
		if len(batch) == 0 {
			return
		}
		if !r.store(ctx, batch, drained) {
			return
		}
		completed := map[uuid.UUID]int{}
		for _, a := range batch {
			r.observe(ctx, a)
			if a.done == nil {
				completed[a.Webhook]++
			} else {
				a.done <- a.refusal()
				r.lanes.wake(a.Webhook)
			}
		}
		for webhook, n := range completed {
			r.lanes.done(webhook, n)
		}
	}
}

// store writes results. It retries while the database is away, and gives up, with false, only once the process stops. Results that
// the database refuses for their own sake are written one by one.
func (r *Room) store(ctx context.Context, batch []attempt, drained <-chan struct{}) bool {
	for tries := 0; ; tries++ {
		err := r.write(ctx, batch)
		if err == nil {
			return true
		}
		if !fault.Transient(err) {
			if len(batch) == 1 {
				r.park(ctx, batch[0], err)
				return true
			}
			for _, a := range batch {
				if !r.store(ctx, []attempt{a}, drained) {
					return false
				}
			}
			return true
		}
		slog.WarnContext(ctx, "writing results is retried", "error", err)
		select {
		case <-drained:
			if tries > 10 {
				// The leases run out and the deliveries are sent again: none is lost, some may be repeated.
				return false
			}
		default:
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// parkedFor is for how long a delivery is not sent again whose result cannot be written.
const parkedFor = time.Hour

// park writes of a result that the database refuses what is certain: without the receiver's answer. If that is refused too, it
// keeps the lease for an hour, so that the receiver does not get the delivery every few seconds.
func (r *Room) park(ctx context.Context, a attempt, cause error) {
	_, _ = r.refused.Did(ctx, []uuid.UUID{a.ID}, cause)
	bare := a
	bare.Answer = nil
	if !bare.OK() {
		bare.Reason = "The attempt failed, and its result could not be stored."
	}
	if err := r.write(ctx, []attempt{bare}); err == nil {
		return
	}
	if err := r.deliveries.Hold(ctx, a.ID, a.Lease, parkedFor); err != nil {
		slog.ErrorContext(ctx, "a delivery without a result is sent again", "delivery", a.ID, "error", err)
	}
}

// nextResults waits for a result and adds those that are there already. It returns none once drained is closed and
// everything is taken.
func (r *Room) nextResults(drained <-chan struct{}) (batch []attempt) {
	select {
	case a := <-r.results:
		batch = append(batch, a)
	case <-drained:
	}
	for len(batch) < settleBatch {
		select {
		case a := <-r.results:
			batch = append(batch, a)
		default:
			return batch
		}
	}
	return batch
}

func (r *Room) observe(ctx context.Context, a attempt) {
	outcome := "delivered"
	if !a.OK() {
		outcome = "failed"
	}
	r.seconds.Record(a.Traced(ctx), a.Took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// refusal is the error for a caller whose request was not made.
func (r attempt) refusal() error {
	if r.Unsigned {
		return fault.Conflict("secret", r.Reason)
	}
	return nil
}

// write settles results in one transaction, and counts them for their webhooks.
func (r *Room) write(ctx context.Context, batch []attempt) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	results, webhooks, now := make([]delivery.Result, len(batch)), make([]uuid.UUID, len(batch)), r.DB.Now()
	for i, a := range batch {
		results[i], webhooks[i] = a.Result, a.Webhook
	}
	// A result whose lease has lapsed does not count.
	if slices.ContainsFunc(results, func(a delivery.Result) bool { return !a.OK() || a.MayHaveLapsed(now) }) {
		return r.DB.Do(ctx, func(tx *db.Tx) error { return r.storeMixed(ctx, tx, results, webhooks) })
	}
	return r.storeSuccesses(ctx, results, webhooks)
}

// storeSuccesses settles results that all succeeded, in one round trip: the failures of their webhooks are then 0, whatever they were. So
// it locks these last, and only where there is something to change: busy webhooks would wait for each other's claims.
func (r *Room) storeSuccesses(ctx context.Context, results []delivery.Result, webhooks []uuid.UUID) error {
	b := &pgx.Batch{}
	delivery.Settle(ctx, b, results, func(map[uuid.UUID]bool) {})
	endpoint.EndStreaks(b, webhooks)
	return r.DB.Pool.SendBatch(ctx, b).Close()
}

// storeMixed settles results of which some failed. It locks the webhooks first, and counts.
func (r *Room) storeMixed(ctx context.Context, tx *db.Tx, results []delivery.Result, webhooks []uuid.UUID) error {
	streaks, err := endpoint.LockStreaks(ctx, tx, webhooks)
	if err != nil {
		return err
	}
	var written map[uuid.UUID]bool
	b := &pgx.Batch{}
	delivery.Settle(ctx, b, results, func(ids map[uuid.UUID]bool) { written = ids })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	for _, a := range results {
		if streak := streaks[a.Webhook]; streak != nil && written[a.ID] {
			streak.Count(a.Outcome())
		}
	}
	for _, streak := range streaks {
		if err := r.endpoints.SaveStreak(ctx, tx, streak); err != nil {
			return fmt.Errorf("save failures of a webhook: %w", err)
		}
	}
	return nil
}
