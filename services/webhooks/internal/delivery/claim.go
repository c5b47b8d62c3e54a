package delivery

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/propagation"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/signature"
)

// LeaseFor is how long a claim holds: one attempt and writing its result, with some to spare. After that the deliveries
// of a dead process are sent again. Tests that kill processes shorten it.
var LeaseFor = 15 * time.Second

// Job is a delivery that this process holds the lease of.
type Job struct {
	ID      uuid.UUID
	Lease   uuid.UUID
	Event   string
	Message uuid.UUID // the event's id
	Payload string
	// Traceparent is the trace of the change, empty if it was not traced.
	Traceparent string
	Status      string
	Failed      int        `db:"failed_attempts"` // attempts of the schedule so far
	Next        *time.Time `db:"next_attempt_at"`
	Once        bool       `db:"once"` // a test: one attempt, never a second
	// Resent attempts are asked for by a person. One that fails changes neither status nor schedule.
	Resent bool `db:"-"`
}

// Traced is ctx within the trace of the change.
func (j Job) Traced(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": j.Traceparent})
}

// window is how many of the oldest waiting deliveries of a webhook, and of its waiting records, a claim reads: a long backlog
// costs no more than that.
const window = 64

// A claim considers the first waiting delivery of each record among the oldest of the webhook (head), and retries that are due (late). If
// head is full and about fewer records than there is room for, a second one goes record by record through the whole backlog. So a record with
// a long backlog is sent one by one, as order asks, while the rest of the room goes to other records. A delivery that the second one leaves
// out comes up in head at the latest.
//
// A claim leaves no more deliveries in flight than may fail until the webhook pauses, so that twenty failures in a row
// are twenty requests.
var (
	claimSQL = claimOf(`
with `, `
head as materialized (
	select d.id, d.seq, d.record, d.next_attempt_at, coalesce(l.until >= now(), false) as held
	from delivery d left join lease l on l.delivery = d.id
	where d.webhook = @webhook and d.status = 'queued' order by d.seq limit @window
), first as materialized (
	select distinct on (record) id, seq, next_attempt_at, held from head order by record, seq
), late as materialized (
	select d.id, d.seq, d.next_attempt_at, coalesce(l.until >= now(), false) as held
	from delivery d left join lease l on l.delivery = d.id
	where d.webhook = @webhook and d.status = 'retrying' and d.next_attempt_at <= @now order by d.next_attempt_at limit @window
), may as (select * from first union all select * from late)`, `
	(select count(*) filter (where not held) from head) + (select count(*) filter (where not held) from late),
	coalesce((select count(*) from head) = @window and (select count(*) from mine) < (select n from room), false)`)

	claimOthersSQL = claimOf(`
with recursive `, `
others as (
	(
		select 1 as nth, d.id, d.seq, d.record, d.next_attempt_at from delivery d
		where d.webhook = @webhook and d.status = 'queued' order by d.record, d.seq limit 1
	) union all (
		select o.nth + 1, next.* from others o cross join lateral (
			select d.id, d.seq, d.record, d.next_attempt_at from delivery d
			where d.webhook = @webhook and d.status = 'queued' and d.record > o.record order by d.record, d.seq limit 1
		) as next where o.nth < @window
	)
), may as (
	select o.id, o.seq, o.next_attempt_at, coalesce(l.until >= now(), false) as held from others o left join lease l on l.delivery = o.id
)`, `0, false`)
)

// claimOf is a claim of what may be sent: by its parts before and after the room, and what it answers beside the number of claimed
// deliveries. The window is written out: with a parameter as limit Postgres plans every claim anew, which takes longer than the claim.
func claimOf(begin, may, answer string) string {
	return strings.ReplaceAll(begin+`room as (
	select greatest(0, least(@most, @pause - w.failures - (select count(*) from lease where webhook = @webhook and until >= now()))) as n
	from webhook w where w.id = @webhook and w.active and w.paused is null
), `+may+`, chosen as (
	select id from may where not held order by next_attempt_at, seq limit (select coalesce(max(n), 0) from room)
), mine as (
	insert into lease (delivery, webhook, token, until) select id, @webhook, @lease, now() + @for::interval from chosen
	on conflict (delivery) do update set token = excluded.token, until = excluded.until where lease.until < now()
	returning delivery
)
select (select count(*) from mine), `+answer, "@window", strconv.Itoa(window))
}

// A claim may have waited for a lease until its holder had settled the delivery. So the deliveries are read after the leases are
// held, and those that do not wait any more are given back.
const claimedSQL = `
with settled as (
	delete from lease l using delivery d where l.webhook = @webhook and l.token = @lease and d.id = l.delivery and d.status not in ('queued', 'retrying')
)
select d.id, l.token as lease, m.event, d.message, m.payload, m.traceparent, d.status, d.failed_attempts, d.next_attempt_at, d.once
from lease l join delivery d on d.id = l.delivery join message m on m.id = d.message
where l.webhook = @webhook and l.token = @lease and d.status in ('queued', 'retrying')`

// Due is a moment at which a webhook has something to send.
type Due struct {
	Webhook uuid.UUID
	At      time.Time
}

// Due are the moments until then, rounded up to the second: now for what is due already.
func (r *Room) Due(ctx context.Context, now, until time.Time) ([]Due, error) {
	rows, err := r.DB.Pool.Query(ctx, `
		select w.id as webhook, due.at from webhook w cross join lateral (
			select $1::timestamptz as at where exists (select from delivery where webhook = w.id and status = 'queued')
			union
			select case when next_attempt_at <= $1 then $1 else date_trunc('second', next_attempt_at) + interval '1 second' end
			from delivery where webhook = w.id and status = 'retrying' and next_attempt_at <= $2) as due
		where w.active and w.paused is null`, now.UTC(), until.UTC())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Due])
}

// Claim takes the lease of up to most deliveries of a webhook that may be sent now. more reports that others wait: for one
// of these to be settled, or for room. It returns pgx.ErrNoRows if there is no such webhook.
func (r *Room) Claim(ctx context.Context, webhook uuid.UUID, most int) (to endpoint.Target, jobs []Job, more bool, err error) {
	c, err := r.claim(ctx, webhook, most, claimSQL)
	if err == nil && c.crowded && len(c.jobs) < most {
		var others claim
		if others, err = r.claim(ctx, webhook, most-len(c.jobs), claimOthersSQL); err == nil {
			c.to, c.jobs, c.leased = others.to, append(c.jobs, others.jobs...), c.leased+others.leased
		}
	}
	return c.to, c.jobs, c.leased > 0 && c.waiting > c.leased, err
}

// claim is what one statement has claimed.
type claim struct {
	to      endpoint.Target
	jobs    []Job
	leased  int
	waiting int  // deliveries in the window without a lease, the leased ones included
	crowded bool // the window is full, and there is more room than it has records
}

// claim runs a claim in a transaction. Its lock on the webhook lets the claim see everything that another process has settled before.
func (r *Room) claim(ctx context.Context, webhook uuid.UUID, most int, sql string) (c claim, err error) {
	b := &pgx.Batch{}
	// A lease that a crash of the database loses costs no more than a second request of its attempt. Leases that have ended stay in the
	// table until the next vacuum, thousands of a busy webhook. A plain scan of their index marks them, so that the next one passes over
	// them; a bitmap scan, or one of the whole table that statistics of a quiet moment make look small, reads all of them each time.
	b.Queue(`select `+endpoint.TargetColumns+`, set_config('synchronous_commit', 'off', true) || set_config('enable_bitmapscan', 'off', true) ||
		set_config('enable_seqscan', 'off', true) from webhook where id = $1 for no key update`, webhook, r.DB.Now().UTC())
	lease := uuid.New()
	b.Queue(sql, db.Args{"webhook": webhook, "now": r.DB.Now().UTC(), "most": most,
		"pause": signature.PauseAfter, "lease": lease, "for": LeaseFor})
	b.Queue(claimedSQL, db.Args{"webhook": webhook, "lease": lease})
	res := r.DB.Pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, res.Close()) }()
	if c.to, err = r.endpoints.ScanTarget(res.QueryRow()); err != nil {
		return c, err
	}
	if err := res.QueryRow().Scan(&c.leased, &c.waiting, &c.crowded); err != nil {
		return c, err
	}
	rows, err := res.Query()
	if err != nil {
		return c, err
	}
	c.jobs, err = pgx.CollectRows(rows, pgx.RowToStructByName[Job])
	return c, err
}

// Hold keeps the lease of a delivery for a while longer, so that it is not sent again meanwhile.
func (r *Room) Hold(ctx context.Context, delivery, lease uuid.UUID, d time.Duration) error {
	_, err := r.DB.Pool.Exec(ctx, `update lease set until = now() + $3::interval where delivery = $1 and token = $2`, delivery, lease, d)
	return err
}

// ErrLeased means that an attempt of the delivery is under way.
var ErrLeased = fault.Conflict("in_flight", "This delivery is being sent just now.")

// LeaseToResend takes the lease of a delivery for an attempt that a person asks for; ErrLeased if somebody else holds the lease. It locks
// the lease before the delivery, as results do. Because of the second lock a replay sees the lease, or the resend sees the status
// that a replay has set.
func (r *Room) LeaseToResend(ctx context.Context, tx *db.Tx, id uuid.UUID) (to endpoint.Target, j Job, err error) {
	if _, err := r.ByID(ctx, tx, id); err != nil {
		return to, j, err
	}
	lease := uuid.New()
	var webhook uuid.UUID
	err = tx.QueryRow(ctx, `
		insert into lease (delivery, webhook, token, until) select id, webhook, $2, now() + $3::interval from delivery where id = $1
		on conflict (delivery) do update set token = excluded.token, until = excluded.until where lease.until < now()
		returning webhook`, id, lease, LeaseFor).Scan(&webhook)
	if errors.Is(err, pgx.ErrNoRows) {
		return to, j, ErrLeased
	}
	if err != nil {
		return to, j, err
	}
	if _, err := tx.Exec(ctx, `select from delivery where id = $1 for no key update`, id); err != nil {
		return to, j, err
	}
	if to, err = r.endpoints.Target(ctx, tx, webhook); err != nil {
		return to, j, err
	}
	j, err = db.One[Job](ctx, tx, `select d.id, $2::uuid as lease, m.event, d.message, m.payload, m.traceparent, d.status, d.failed_attempts, d.next_attempt_at, d.once
		from delivery d join message m on m.id = d.message where d.id = $1`, id, lease)
	j.Resent = true
	return to, j, err
}
