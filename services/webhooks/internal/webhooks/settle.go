package webhooks

import (
	"context"
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

const settleBatch = 200

// settle writes results down, as many in one transaction as there are, until drained is closed and
// nothing is left. It waits for a database that is away: the leases keep others from sending meanwhile.
func (e *engine) settle(ctx context.Context, drained <-chan struct{}) {
	for {
		var batch []result
		select {
		case r := <-e.results:
			batch = append(batch, r)
		case <-drained:
			select {
			case r := <-e.results:
				batch = append(batch, r)
			default:
				return
			}
		}
	more:
		for len(batch) < settleBatch {
			select {
			case r := <-e.results:
				batch = append(batch, r)
			default:
				break more
			}
		}
		err := e.commit(ctx, batch)
		for tries := 0; err != nil; tries++ {
			slog.WarnContext(ctx, "results are written again", "error", err)
			select {
			case <-drained:
				if tries > 10 {
					// The leases run out, and the deliveries are sent again: never lost, perhaps twice.
					return
				}
			default:
			}
			time.Sleep(200 * time.Millisecond)
			err = e.commit(ctx, batch)
		}
		landed := map[uuid.UUID]int{}
		for _, r := range batch {
			if e.tell(ctx, r) {
				landed[r.to.id]++
			}
		}
		for webhook, n := range landed {
			e.landed(webhook, n)
		}
	}
}

// tell lets the caller who waits for a result go on. It answers whether a lane does.
func (e *engine) tell(ctx context.Context, r result) (lane bool) {
	outcome := "delivered"
	if !r.ok() {
		outcome = "failed"
	}
	e.seconds.Record(ctx, r.took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
	switch {
	case r.told == nil:
		return true
	case r.sealed:
		r.told <- fault.Conflict("secret", r.reason)
	default:
		r.told <- nil
		e.poke(r.to.id)
	}
	return false
}

// after is a delivery's state once the result counts.
func (r result) after() (status string, failed int, next, delivered *time.Time) {
	switch {
	case r.sealed && r.once:
		return "failed", r.failed, nil, nil
	case r.sealed:
		return r.status, r.failed, r.next, nil
	case r.ok():
		return "delivered", r.failed, nil, &r.ended
	case r.how == resent:
		return r.status, r.failed, r.next, nil
	case r.once:
		return "failed", r.failed + 1, nil, nil
	}
	at, again := signature.NextAttempt(r.failed+1, r.ended)
	if !again {
		return "failed", r.failed + 1, nil, nil
	}
	return "retrying", r.failed + 1, &at, nil
}

func (e *engine) commit(ctx context.Context, batch []result) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if !slices.ContainsFunc(batch, func(r result) bool { return !r.ok() }) {
		// One statement does it all: successes end every streak that there may be.
		mine, err := write(ctx, e.s.DB.Pool, batch, true)
		if err == nil {
			warn(ctx, batch, mine)
		}
		return err
	}
	return e.s.DB.Do(ctx, func(tx *db.Tx) error {
		hooks, err := lockStreaks(ctx, tx, batch)
		if err != nil {
			return err
		}
		mine, err := write(ctx, tx, batch, false)
		if err != nil {
			return err
		}
		warn(ctx, batch, mine)
		var due []timer
		for _, r := range batch {
			if !mine[r.id] {
				continue
			}
			if hook := hooks[r.to.id]; hook != nil {
				hook.count(r)
			}
			if status, _, next, _ := r.after(); status == "retrying" && r.how == scheduled && !r.sealed {
				due = append(due, timer{r.to.id, *next})
			}
		}
		for _, hook := range hooks {
			if err := e.s.keep(ctx, tx, hook); err != nil {
				return err
			}
		}
		return e.timers.set(ctx, tx, due)
	})
}

// warn tells of results that came after their lease had run out: somebody else has sent those again.
func warn(ctx context.Context, batch []result, mine map[uuid.UUID]bool) {
	for _, r := range batch {
		if !mine[r.id] {
			slog.WarnContext(ctx, "a lease had run out before its result", "delivery", r.id)
		}
	}
}

// write moves the deliveries whose lease is still ours, logs the attempts, and ends the streaks of failures
// when all is well. It answers which ones were ours.
func write(ctx context.Context, to interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, batch []result, well bool) (map[uuid.UUID]bool, error) {
	sorted := slices.SortedFunc(slices.Values(batch), func(a, b result) int { return slices.Compare(a.id[:], b.id[:]) })
	n := len(sorted)
	ids, leases, statuses, was, failed := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]string, n), make([]string, n), make([]int, n)
	next, delivered, codes, reasons := make([]*time.Time, n), make([]*time.Time, n), make([]*int, n), make([]*string, n)
	took, made, at, urls, answers, keep := make([]int, n), make([]int, n), make([]time.Time, n), make([]string, n), make([][]byte, n), make([]bool, n)
	for i, r := range sorted {
		ids[i], leases[i], was[i], codes[i], at[i], urls[i], answers[i] = r.id, r.lease, r.status, r.code, r.at.UTC(), r.to.url, r.answer
		statuses[i], failed[i], next[i], delivered[i] = r.after()
		keep[i] = r.status == "delivered" // a resend does not change when it was delivered first
		took[i] = int(r.took.Milliseconds())
		if r.reason != "" {
			reasons[i] = &r.reason
		}
		if !r.sealed {
			made[i] = 1
		}
		if answers[i] == nil {
			answers[i] = []byte{}
		}
	}
	rows, err := to.Query(ctx, `
		with r as (
			select * from unnest(@ids::uuid[], @leases::uuid[], @statuses::text[], @was::text[], @failed::int[], @next::timestamptz[], @delivered::timestamptz[],
				@codes::int[], @reasons::text[], @took::int[], @made::int[], @keep::bool[], @at::timestamptz[], @urls::text[], @answers::bytea[])
			as r(id, lease, status, was, failed, next, delivered, code, reason, took, made, keep, at, url, answer)
		), own as (
			delete from lease l using r where l.delivery = r.id and l.token = r.lease returning l.delivery
		), d as (
			update delivery d set status = r.status, failed_attempts = r.failed, next_attempt_at = r.next,
				delivered_at = case when r.keep then d.delivered_at else coalesce(r.delivered, d.delivered_at) end,
				attempts = d.attempts + r.made,
				response_code = case when r.made = 1 then r.code else d.response_code end,
				error = r.reason, duration_ms = case when r.made = 1 then r.took else d.duration_ms end
			from r join own on own.delivery = r.id where d.id = r.id returning d.id, d.webhook, d.message, d.attempts, d.status
		), m as (
			-- The lock is for a scrub at the same time: it waits and finds the answer, or this one learns of it.
			select id, scrubbed from message where id in (select message from d) order by id for key share
		), log as (
			insert into attempt (message, delivery, number, at, url, response_code, response_body, error, duration_ms)
			select m.id, d.id, d.attempts, r.at, r.url, r.code, case when m.scrubbed then '' else r.answer end, r.reason, r.took
			from d join r using (id) join m on m.id = d.message where r.made = 1
		), counted as (
			insert into tally select webhook, status, sum(n)
			from (select d.webhook, d.status, 1 as n from d union all select d.webhook, r.was, -1 from d join r using (id)) as change
			group by webhook, status having sum(n) <> 0
		), ended as (
			update webhook set failures = 0 where @well and failures > 0 and paused is null and id in (select webhook from d)
		)
		select id from d`,
		pgx.NamedArgs{"ids": ids, "leases": leases, "statuses": statuses, "was": was, "failed": failed, "next": next, "delivered": delivered, "codes": codes,
			"reasons": reasons, "took": took, "made": made, "keep": keep, "at": at, "urls": urls, "answers": answers, "well": well})
	if err != nil {
		return nil, err
	}
	written, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	mine := make(map[uuid.UUID]bool, len(written))
	for _, id := range written {
		mine[id] = true
	}
	return mine, err
}
