package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// settleBatch is how many results one transaction writes at most.
const settleBatch = 200

// attempt is a request that was made, and who waits for its result to be in the database.
type attempt struct {
	Result
	done chan error // receives nil, or why no request was made; nil if no caller waits
}

// settle writes results until drained is closed and none is left. While the database is away it retries: the leases keep
// other processes from sending the same deliveries meanwhile.
func (e *engine) settle(ctx context.Context, drained <-chan struct{}) {
	for {
		batch := e.nextResults(drained)
		if len(batch) == 0 {
			return
		}
		if !e.store(ctx, batch, drained) {
			return
		}
		completed := map[uuid.UUID]int{}
		for _, r := range batch {
			e.observe(ctx, r)
			if r.done == nil {
				completed[r.Webhook]++
			} else {
				r.done <- r.refusal()
				e.wake(r.Webhook)
			}
		}
		for webhook, n := range completed {
			e.complete(webhook, n)
		}
	}
}

// store writes results. It retries while the database is away, and gives up, with false, only once the process stops. Results that
// the database refuses for their own sake are written one by one.
func (e *engine) store(ctx context.Context, batch []attempt, drained <-chan struct{}) bool {
	for tries := 0; ; tries++ {
		err := e.write(ctx, batch)
		if err == nil {
			return true
		}
		if !fault.Transient(err) {
			if len(batch) == 1 {
				e.park(ctx, batch[0], err)
				return true
			}
			for _, r := range batch {
				if !e.store(ctx, []attempt{r}, drained) {
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
func (e *engine) park(ctx context.Context, r attempt, cause error) {
	_, _ = e.refused.Did(ctx, []uuid.UUID{r.ID}, cause)
	bare := r
	bare.Answer = nil
	if !bare.OK() {
		bare.Reason = "The attempt failed, and its result could not be stored."
	}
	if err := e.write(ctx, []attempt{bare}); err == nil {
		return
	}
	if err := e.s.Hold(ctx, r.ID, r.Lease, parkedFor); err != nil {
		slog.ErrorContext(ctx, "a delivery without a result is sent again", "delivery", r.ID, "error", err)
	}
}

// nextResults waits for a result and adds those that are there already. It returns none once drained is closed and
// everything is taken.
func (e *engine) nextResults(drained <-chan struct{}) (batch []attempt) {
	select {
	case r := <-e.results:
		batch = append(batch, r)
	case <-drained:
	}
	for len(batch) < settleBatch {
		select {
		case r := <-e.results:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func (e *engine) observe(ctx context.Context, r attempt) {
	outcome := "delivered"
	if !r.OK() {
		outcome = "failed"
	}
	e.seconds.Record(r.Traced(ctx), r.Took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// refusal is the error for a caller whose request was not made.
func (r attempt) refusal() error {
	if r.Unsigned {
		return fault.Conflict("secret", r.Reason)
	}
	return nil
}

// write settles results in one transaction, and counts them for their webhooks.
func (e *engine) write(ctx context.Context, batch []attempt) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	results := make([]Result, len(batch))
	for i, r := range batch {
		results[i] = r.Result
	}
	store := storeSuccesses
	if slices.ContainsFunc(results, func(r Result) bool { return !r.OK() }) {
		store = e.storeMixed
	}
	return e.s.DB.Do(ctx, func(tx *db.Tx) error { return store(ctx, tx, results) })
}

// storeSuccesses settles results that all succeeded: the failures of their webhooks are then 0, whatever they were. So it locks these
// last and only where there is something to change: busy webhooks would wait for each other's claims.
func storeSuccesses(ctx context.Context, tx *db.Tx, results []Result) error {
	written, err := Settle(ctx, tx, results)
	if err != nil {
		return err
	}
	var webhooks []uuid.UUID
	for _, r := range results {
		if written[r.ID] && !slices.Contains(webhooks, r.Webhook) {
			webhooks = append(webhooks, r.Webhook)
		}
	}
	EndStreaks(tx, webhooks)
	return nil
}

// storeMixed settles results of which some failed. It locks the webhooks first, counts, and sets the timers of retries.
func (e *engine) storeMixed(ctx context.Context, tx *db.Tx, results []Result) error {
	webhooks := make([]uuid.UUID, len(results))
	for i, r := range results {
		webhooks[i] = r.Webhook
	}
	streaks, err := LockStreaks(ctx, tx, webhooks)
	if err != nil {
		return err
	}
	written, err := Settle(ctx, tx, results)
	if err != nil {
		return err
	}
	var retries []timer
	for _, r := range results {
		if !written[r.ID] {
			continue
		}
		if streak := streaks[r.Webhook]; streak != nil {
			streak.Count(r.Outcome())
		}
		if at, again := r.Retry(); again {
			retries = append(retries, timer{r.Webhook, at})
		}
	}
	for _, streak := range streaks {
		if err := e.s.SaveStreak(ctx, tx, streak); err != nil {
			return fmt.Errorf("save failures of a webhook: %w", err)
		}
	}
	if err := e.timers.set(ctx, tx, retries); err != nil {
		return fmt.Errorf("set timers: %w", err)
	}
	return nil
}
