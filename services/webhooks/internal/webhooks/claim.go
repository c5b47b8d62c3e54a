package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/signature"
)

// leaseFor is how long a claim counts: an attempt and writing down what came of it, with some to spare.
// What a dead process had claimed is sent again after it.
const leaseFor = 15 * time.Second

// window is how many waiting deliveries of a webhook are looked at for one that may go: a backlog costs
// no more than that.
const window = 64

// A claim sees at most so many deliveries in flight that they could not fail more often in a row than
// pauses the webhook: twenty means twenty.
const claimSQL = `
with head as materialized (
	select d.id, d.seq, d.record, d.next_attempt_at, coalesce(l.until >= now(), false) as held
	from delivery d left join lease l on l.delivery = d.id
	where d.webhook = @webhook and d.status = 'queued' order by d.seq limit @window
), late as materialized (
	select d.id, d.seq, d.next_attempt_at, coalesce(l.until >= now(), false) as held
	from delivery d left join lease l on l.delivery = d.id
	where d.webhook = @webhook and d.status = 'retrying' and d.next_attempt_at <= @now order by d.next_attempt_at limit @window
), may as (
	select id, seq, next_attempt_at, held from (select distinct on (record) * from head order by record, seq) as first
	union all select id, seq, next_attempt_at, held from late
), room as (
	select least(@most, @pause - w.failures - (select count(*) from lease where webhook = @webhook and until >= now())) as n
	from webhook w where w.id = @webhook and w.active and w.paused is null
), chosen as (
	select id from may where not held order by next_attempt_at, seq limit greatest((select coalesce(max(n), 0) from room), 0)
), mine as (
	insert into lease (delivery, webhook, token, until) select id, @webhook, @lease, now() + @for::interval from chosen
	on conflict (delivery) do update set token = excluded.token, until = excluded.until where lease.until < now()
	returning delivery
)
select d.id, d.message, m.event, m.payload, d.status, d.failed_attempts, d.next_attempt_at, d.once,
	(select count(*) filter (where not held) from head) + (select count(*) filter (where not held) from late)
from mine join delivery d on d.id = mine.delivery join message m on m.id = d.message`

// claim takes the lease of up to most deliveries that may go now. more tells that others wait: for one of
// these to be settled, or for room.
func (e *engine) claim(ctx context.Context, webhook uuid.UUID, most int) (to target, jobs []job, more bool, err error) {
	lease := uuid.New()
	// These statements are one transaction. The lock makes the last see what another process has settled.
	b := &pgx.Batch{}
	// A lease that a crash of the database forgets costs no more than the attempt that it was for.
	b.Queue(`select id, url, secret, set_config('synchronous_commit', 'off', true) from webhook where id = $1 for no key update`, webhook)
	b.Queue(claimSQL, pgx.NamedArgs{"webhook": webhook, "window": window, "now": e.s.DB.Now().UTC(), "most": most,
		"pause": signature.PauseAfter, "lease": lease, "for": leaseFor})
	res := e.s.DB.Pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, res.Close()) }()
	to, err = e.s.target(res.QueryRow())
	if errors.Is(err, pgx.ErrNoRows) {
		return to, nil, false, nil
	}
	if err != nil {
		return to, nil, false, err
	}
	rows, err := res.Query()
	if err != nil {
		return to, nil, false, err
	}
	var waiting int
	jobs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (job, error) {
		j := job{lease: lease}
		err := row.Scan(&j.id, &j.eventID, &j.event, &j.payload, &j.status, &j.failed, &j.next, &j.once, &waiting)
		return j, err
	})
	return to, jobs, waiting > len(jobs), err
}

// targetOf reads where a webhook's requests go.
func (s *service) targetOf(ctx context.Context, tx *db.Tx, webhook uuid.UUID) (target, error) {
	to, err := s.target(tx.QueryRow(ctx, `select id, url, secret, '' from webhook where id = $1`, webhook))
	if errors.Is(err, pgx.ErrNoRows) {
		return to, fault.NotFound("webhook")
	}
	return to, err
}

func (s *service) target(row pgx.Row) (to target, err error) {
	var sealed []byte
	if err := row.Scan(&to.id, &to.url, &sealed, nil); err != nil {
		return to, err
	}
	if secret, err := s.Keys.Open(purpose(to.id), sealed); err == nil {
		to.secret = string(secret)
	}
	return to, nil
}

// jobByID reads a delivery whose lease is held already.
func jobByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (j job, err error) {
	err = tx.QueryRow(ctx, `select d.id, d.message, m.event, m.payload, d.status, d.failed_attempts, d.next_attempt_at, d.once
		from delivery d join message m on m.id = d.message where d.id = $1`, id).
		Scan(&j.id, &j.eventID, &j.event, &j.payload, &j.status, &j.failed, &j.next, &j.once)
	if errors.Is(err, pgx.ErrNoRows) {
		return j, fault.NotFound("delivery")
	}
	return j, err
}
