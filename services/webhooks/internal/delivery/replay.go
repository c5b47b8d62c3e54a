package delivery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// replayMax is how many deliveries one call queues again.
const replayMax = 10_000

type replay struct {
	ID     uuid.UUID `json:"id"`
	From   time.Time `json:"from" required:"true" format:"date-time" doc:"Deliveries created at this time or later."`
	To     time.Time `json:"to" required:"true" format:"date-time" doc:"Deliveries created before this time."`
	Status string    `json:"status,omitempty" enum:"delivered,failed" doc:"Only those with this status; both when left out."`
	Events []string  `json:"events,omitempty" maxItems:"50" doc:"Only deliveries of these events; all when left out."`
}

// replayed is how many deliveries a replay has queued.
type replayed struct {
	Queued int `json:"queued" doc:"Deliveries that go out again, each with the ids of before."`
}

// replayPeriod queues the deliveries of a period again that have ended, tests aside: under their ids, with all attempts of
// the schedule, and in their old order before what arrived later. A delivery that waits or is being sent is left out, because it
// goes out anyway. A second replay of a period that still waits therefore has no effect. A webhook that is off or paused is svc_conflict,
// because the deliveries would go out at a later time that the caller did not choose; more than replayMax deliveries are svc_invalid_param.
func replayPeriod(ctx context.Context, tx *db.Tx, in replay) (replayed, error) {
	if !in.From.Before(in.To) {
		return replayed{}, fault.Invalid("to", fault.NewProblem("before_from", "must be later than from"))
	}
	if err := message.CheckEvents("events", in.Events); err != nil {
		return replayed{}, err
	}
	w, err := endpoint.Lock(ctx, tx, in.ID)
	switch {
	case err != nil:
		return replayed{}, err
	case !w.Active:
		return replayed{}, fault.Conflict("off", "This webhook is off. Switch it on first.")
	case w.Paused != nil:
		return replayed{}, fault.Conflict("paused", "This webhook is paused. Switch it on first.")
	}
	// A lease that has run out is dropped, so that its late result has no effect. The holder of a locked one is storing its result.
	if _, err := tx.Exec(ctx, `delete from lease where delivery in (select delivery from lease where webhook = $1 and until < now() for update skip locked)`, w.ID); err != nil {
		return replayed{}, fmt.Errorf("drop leases that have run out: %w", err)
	}
	chosen, err := lockEnded(ctx, tx, in)
	if err != nil || len(chosen) == 0 {
		return replayed{}, err
	}
	if len(chosen) > replayMax {
		return replayed{}, fault.Invalid("to", fault.NewProblem("too_many", fmt.Sprintf("must leave %d deliveries or fewer; choose a shorter period", replayMax), "max", replayMax))
	}
	var done replayed
	err = tx.QueryRow(ctx, `
		with again as (
			update delivery d set status = 'queued', failed_attempts = 0, next_attempt_at = @now, replayed_at = @now from delivery was
			where d.id = any(@chosen) and was.id = d.id and not exists (select from lease l where l.delivery = d.id)
			returning was.status
		), counted as (
			insert into tally select @webhook::uuid, status, -count(*) from again group by status union all select @webhook, 'queued', count(*) from again
		)
		select count(*) from again`, db.Args{"chosen": chosen, "now": tx.Now, "webhook": w.ID}).Scan(&done.Queued)
	if err != nil {
		return done, fmt.Errorf("queue deliveries again: %w", err)
	}
	return done, endpoint.Wake(ctx, tx, w.ID)
}

// lockEnded locks up to replayMax+1 of the deliveries that a replay names, in the order of their ids, and returns these.
func lockEnded(ctx context.Context, tx *db.Tx, in replay) ([]uuid.UUID, error) {
	var where db.Where
	where.And("d.webhook = ? and d.created_at >= ? and d.created_at < ? and not d.once", in.ID, in.From.UTC(), in.To.UTC())
	if len(in.Events) > 0 {
		where.And("exists (select from message m where m.id = d.message and m.event = any(?))", in.Events)
	}
	ended := where.Bind("d.status = any(?)", slices.DeleteFunc([]string{statusDelivered, statusFailed}, func(s string) bool { return in.Status != "" && s != in.Status }))
	// The materialized part reads by the index of the log. The status is asked again under the lock.
	return db.Column[uuid.UUID](ctx, tx, `
		with chosen as materialized (
			select d.id from delivery d where `+where.String()+` and `+ended+` and not exists (select from lease l where l.delivery = d.id)
			`+db.LimitTo(`order by d.created_at, d.id`, replayMax+1)+`
		)
		select d.id from delivery d join chosen using (id) where `+ended+` order by d.id for no key update of d`, where.Args...)
}
