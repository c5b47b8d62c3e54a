package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/signature"
)

// Result is how the attempt of a job ended.
type Result struct {
	Job
	Webhook uuid.UUID
	URL     string
	At      time.Time // of the signature
	Ended   time.Time
	Took    time.Duration
	Code    *int
	Answer  []byte
	// Reason why the attempt failed, for people; empty if the delivery succeeded.
	Reason string
	// Unsigned reports that nothing was sent, because the secret cannot be read.
	Unsigned bool
}

// OK reports whether the delivery succeeded.
func (r Result) OK() bool { return r.Reason == "" }

// Outcome is what the attempt counts for its webhook.
func (r Result) Outcome() endpoint.Outcome {
	switch {
	case r.Unsigned:
		return endpoint.Unsigned
	case r.OK():
		return endpoint.Succeeded
	}
	return endpoint.Failed
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
func (r Result) settled() settled {
	row := settled{Delivery: r.ID, Lease: r.Lease, Was: r.Status, Status: r.Status, Failed: r.Failed, Next: r.Next,
		Sent: !r.Unsigned, At: r.At.UTC(), URL: r.URL, Code: r.Code, Answer: r.Answer, TookMS: r.Took.Milliseconds()}
	if r.Reason != "" {
		row.Reason = &r.Reason
	}
	switch {
	case r.OK():
		row.Status, row.Next, row.Delivered = statusDelivered, nil, &r.Ended
	case r.Resent, r.Unsigned && !r.Once:
		// Neither counts as an attempt of the schedule.
	case r.Unsigned:
		row.Status, row.Next = statusFailed, nil
	default:
		row.Failed++
		row.Status, row.Next = statusFailed, nil
		if at, again := signature.NextAttempt(row.Failed, r.Ended); again && !r.Once {
			row.Status, row.Next = statusRetrying, &at
		}
	}
	return row
}

// Settle queues the statement that moves the deliveries whose lease is still held and logs their attempts. It calls then with the ids of
// these. The others are left out, because their lease has run out and another process has sent them again.
func Settle(ctx context.Context, b *pgx.Batch, results []Result, then func(written map[uuid.UUID]bool)) {
	rows, deliveries := make([]settled, len(results)), make([]uuid.UUID, len(results))
	for i, r := range results {
		rows[i] = r.settled()
	}
	// Every process locks deliveries in the order of their ids.
	slices.SortFunc(rows, func(a, b settled) int { return slices.Compare(a.Delivery[:], b.Delivery[:]) })
	for i, r := range rows {
		deliveries[i] = r.Delivery
	}
	b.Queue(`
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
		)
		select id from d`, rows, deliveries).Query(func(found pgx.Rows) error {
		ids, err := pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
		if err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		written := make(map[uuid.UUID]bool, len(ids))
		for _, id := range ids {
			written[id] = true
		}
		for _, r := range rows {
			if !written[r.Delivery] {
				slog.WarnContext(ctx, "a lease had run out before its result", "delivery", r.Delivery)
			}
		}
		then(written)
		return nil
	})
}

// MayHaveLapsed reports whether the lease of the attempt may have run out by now.
func (r Result) MayHaveLapsed(now time.Time) bool { return now.Sub(r.At) > LeaseFor/2 }
