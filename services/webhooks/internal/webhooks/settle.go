package webhooks

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
	"frontdesk/services/webhooks/internal/signature"
)

// settleBatch is how many results one transaction writes at most.
const settleBatch = 200

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
				completed[r.to.id]++
			} else {
				r.done <- r.refusal()
				e.wake(r.to.id)
			}
		}
		for webhook, n := range completed {
			e.complete(webhook, n)
		}
	}
}

// store writes results. It retries while the database is away, and gives up, with false, only once the process stops. Results that
// the database refuses for their own sake are written one by one.
func (e *engine) store(ctx context.Context, batch []result, drained <-chan struct{}) bool {
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
				if !e.store(ctx, []result{r}, drained) {
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
func (e *engine) park(ctx context.Context, r result, cause error) {
	_, _ = e.refused.Did(ctx, []uuid.UUID{r.ID}, cause)
	bare := r
	bare.answer = nil
	if !bare.ok() {
		bare.reason = "The attempt failed, and its result could not be stored."
	}
	if err := e.write(ctx, []result{bare}); err == nil {
		return
	}
	if _, err := e.s.DB.Pool.Exec(ctx, `update lease set until = now() + $3::interval where delivery = $1 and token = $2`, r.ID, r.Lease, parkedFor); err != nil {
		slog.ErrorContext(ctx, "a delivery without a result is sent again", "delivery", r.ID, "error", err)
	}
}

// nextResults waits for a result and adds those that are there already. It returns none once drained is closed and
// everything is taken.
func (e *engine) nextResults(drained <-chan struct{}) (batch []result) {
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

func (e *engine) observe(ctx context.Context, r result) {
	outcome := "delivered"
	if !r.ok() {
		outcome = "failed"
	}
	e.seconds.Record(r.traced(ctx), r.took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// refusal is the error for a caller whose request was not made.
func (r result) refusal() error {
	if r.unsigned {
		return fault.Conflict("secret", r.reason)
	}
	return nil
}

// settled is how a result leaves its delivery: one row of the statement that writes results.
type settled struct {
	Delivery  uuid.UUID  `json:"delivery"`
	Lease     uuid.UUID  `json:"lease"`
	Was       string     `json:"was"` // the status before
	Status    string     `json:"status"`
	Failed    int        `json:"failed"` // attempts of the schedule
	Next      *time.Time `json:"next"`
	Delivered *time.Time `json:"delivered"`
	Sent      bool       `json:"sent"` // a request was made; the fields below describe it
	At        time.Time  `json:"at"`
	URL       string     `json:"url"`
	Code      *int       `json:"code"`
	Answer    []byte     `json:"answer"` // base64 in JSON
	Reason    *string    `json:"reason"`
	TookMS    int64      `json:"took_ms"`
}

// settled decides the delivery's state after the result.
func (r result) settled() settled {
	row := settled{Delivery: r.ID, Lease: r.Lease, Was: r.Status, Status: r.Status, Failed: r.Failed, Next: r.Next,
		Sent: !r.unsigned, At: r.at.UTC(), URL: r.to.url, Code: r.code, Answer: r.answer, TookMS: r.took.Milliseconds()}
	if r.reason != "" {
		row.Reason = &r.reason
	}
	switch {
	case r.ok():
		row.Status, row.Next, row.Delivered = statusDelivered, nil, &r.ended
	case r.Resent, r.unsigned && !r.Once:
		// Neither counts as an attempt of the schedule.
	case r.unsigned:
		row.Status, row.Next = statusFailed, nil
	default:
		row.Failed++
		row.Status, row.Next = statusFailed, nil
		if at, again := signature.NextAttempt(row.Failed, r.ended); again && !r.Once {
			row.Status, row.Next = statusRetrying, &at
		}
	}
	return row
}

// write settles results in one transaction. It leaves out those whose lease has run out: another process has sent these
// again.
func (e *engine) write(ctx context.Context, batch []result) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	rows := make([]settled, len(batch))
	for i, r := range batch {
		rows[i] = r.settled()
	}
	// Every process locks deliveries in the order of their ids.
	slices.SortFunc(rows, func(a, b settled) int { return slices.Compare(a.Delivery[:], b.Delivery[:]) })
	if !slices.ContainsFunc(batch, func(r result) bool { return !r.ok() }) {
		written, err := writeRows(ctx, e.s.DB.Pool, rows)
		if err == nil {
			warnLapsed(ctx, rows, written)
		}
		return err
	}
	return e.s.DB.Do(ctx, func(tx *db.Tx) error {
		streaks, err := lockStreaks(ctx, tx, batch)
		if err != nil {
			return fmt.Errorf("lock webhooks: %w", err)
		}
		written, err := writeRows(ctx, tx, rows)
		if err != nil {
			return err
		}
		warnLapsed(ctx, rows, written)
		var retries []timer
		for _, r := range batch {
			if !written[r.ID] {
				continue
			}
			if streak := streaks[r.to.id]; streak != nil {
				streak.count(r)
			}
			if row := r.settled(); row.Status == statusRetrying && row.Failed > r.Failed {
				retries = append(retries, timer{r.to.id, *row.Next})
			}
		}
		for _, streak := range streaks {
			if err := e.s.saveStreak(ctx, tx, streak); err != nil {
				return fmt.Errorf("save failures of a webhook: %w", err)
			}
		}
		if err := e.timers.set(ctx, tx, retries); err != nil {
			return fmt.Errorf("set timers: %w", err)
		}
		return nil
	})
}

func warnLapsed(ctx context.Context, rows []settled, written map[uuid.UUID]bool) {
	for _, r := range rows {
		if !written[r.Delivery] {
			slog.WarnContext(ctx, "a lease had run out before its result", "delivery", r.Delivery)
		}
	}
}

// writeRows moves the deliveries whose lease is still held, logs their attempts and returns their ids. If every row
// succeeded, it also ends the streaks of failures of their webhooks; else the caller counts them.
func writeRows(ctx context.Context, q querier, rows []settled) (map[uuid.UUID]bool, error) {
	deliveries := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		deliveries[i] = r.Delivery
	}
	found, err := q.Query(ctx, `
		with r as (
			select * from json_to_recordset($1) as r(delivery uuid, lease uuid, was text, status text, failed int, next timestamptz, delivered timestamptz,
				sent bool, at timestamptz, url text, code int, answer text, reason text, took_ms int)
		), own as (
			-- By the ids as an array: for the rows of r the planner would read the whole table, with all leases that have ended.
			delete from lease l using r where l.delivery = any($2) and l.delivery = r.delivery and l.token = r.lease returning l.delivery
		), d as (
			update delivery d set status = r.status, failed_attempts = r.failed, next_attempt_at = r.next,
				-- A resend does not change when it was delivered first.
				delivered_at = coalesce(d.delivered_at, r.delivered),
				attempts = d.attempts + r.sent::int,
				response_code = case when r.sent then r.code else d.response_code end,
				error = r.reason, duration_ms = case when r.sent then r.took_ms else d.duration_ms end
			from r join own using (delivery) where d.id = r.delivery returning d.id, d.webhook, d.message, d.attempts, d.status
		), m as (
			-- A scrub of the message waits for this lock and then finds the answer, or this statement sees that it is scrubbed.
			select id, scrubbed from message where id in (select message from d) order by id for key share
		), log as (
			insert into attempt (message, delivery, number, at, url, response_code, response_body, error, duration_ms)
			select m.id, d.id, d.attempts, r.at, r.url, r.code, case when m.scrubbed then '' else decode(coalesce(r.answer, ''), 'base64') end, r.reason, r.took_ms
			from d join r on r.delivery = d.id join m on m.id = d.message where r.sent
		), counted as (
			insert into tally select webhook, status, sum(n)
			from (select d.webhook, d.status, 1 as n from d union all select d.webhook, r.was, -1 from d join r on r.delivery = d.id) as change
			group by webhook, status having sum(n) <> 0
		), ended as (
			update webhook set failures = 0 where failures > 0 and paused is null and id in (select webhook from d)
				and not exists (select from r where reason is not null)
		)
		select id from d`, rows, deliveries)
	if err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	ids, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	written := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		written[id] = true
	}
	return written, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}
