package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// The statuses of a delivery.
const (
	statusQueued    = "queued"    // waits for its first attempt
	statusRetrying  = "retrying"  // waits for the next attempt of its schedule
	statusDelivered = "delivered" // the receiver accepted it
	statusFailed    = "failed"    // the schedule is used up; only a resend sends it again
)

// Delivery is one event for one webhook.
type Delivery struct {
	ID            uuid.UUID      `json:"id" doc:"The id of the record."`
	Event         string         `json:"event" doc:"The name of the event."`
	EventID       string         `json:"event_id" doc:"The same on every attempt and for every webhook."`
	Status        string         `json:"status" enum:"queued,retrying,delivered,failed" doc:"queued and retrying wait, delivered was accepted, failed was given up."`
	Attempts      int            `json:"attempts" doc:"How often it was sent."`
	ResponseCode  *int           `json:"response_code" doc:"What the receiver answered to the last attempt; null when it did not."`
	Error         *string        `json:"error" doc:"Why the last attempt failed."`
	DurationMS    *int           `json:"duration_ms" doc:"How long the last attempt took."`
	NextAttemptAt *time.Time     `json:"next_attempt_at" doc:"When it is sent next; null when it is not."`
	CreatedAt     time.Time      `json:"created_at" doc:"When its event was taken up."`
	DeliveredAt   *time.Time     `json:"delivered_at" doc:"When it was accepted first."`
	ReplayedAt    *time.Time     `json:"replayed_at" doc:"When a replay last queued it again; null without a replay."`
	Format        message.Format `json:"format" enum:"svc,cloudevents" doc:"That of its webhook."`
	Payload       message.Object `json:"payload" doc:"The body as it is sent in this format."`
}

// deliveryLog is a delivery with its attempts, oldest first.
type deliveryLog struct {
	Delivery
	Log []attempt `json:"log" doc:"Each attempt, the oldest first."`
}

// attempt is one request and its answer.
type attempt struct {
	Number       int         `json:"number" doc:"Counted from 1 on."`
	At           time.Time   `json:"at" doc:"When it was sent: the time in its signature."`
	URL          string      `json:"url" doc:"Where it was sent."`
	ResponseCode *int        `json:"response_code" doc:"The status of the answer; null without one."`
	ResponseBody message.Raw `json:"response_body" doc:"The first 64 KiB of the answer; what is not text is replaced."`
	Error        *string     `json:"error" doc:"Why it failed; null if it succeeded."`
	DurationMS   int         `json:"duration_ms" doc:"How long it took, in milliseconds."`
}

const selectDelivery = `select d.id, m.event, 'evt_' || m.id as event_id, d.status, d.attempts, d.response_code, d.error, d.duration_ms,
	date_trunc('second', d.next_attempt_at) as next_attempt_at, d.created_at, date_trunc('second', d.delivered_at) as delivered_at, d.replayed_at, w.format, m.payload
	from delivery d join message m on m.id = d.message join webhook w on w.id = d.webhook `

// scan reads a row of selectDelivery, with the body in the webhook's format.
func (r *Room) scan(row pgx.CollectableRow) (Delivery, error) {
	d, err := pgx.RowToStructByName[Delivery](row)
	if err != nil {
		return d, err
	}
	body, err := d.Format.Body(r.Config.PublicURL, string(d.Payload))
	d.Payload = message.Object(body)
	return d, err
}

// statusIs names each status in the text of the query: a plan that is reused can then take the partial index of that status.
var statusIs = map[string]string{
	statusQueued: "status = 'queued'", statusRetrying: "status = 'retrying'", statusDelivered: "status = 'delivered'", statusFailed: "status = 'failed'",
}

type findDeliveries struct {
	ID     uuid.UUID `json:"id"`
	Status string    `json:"status,omitempty" enum:"queued,retrying,delivered,failed"`
	db.Page
}

// find lists the log of a webhook, newest first. The total comes from the tally, so a long log is not counted.
func (r *Room) find(ctx context.Context, tx *db.Tx, in findDeliveries) (db.List[Delivery], error) {
	none := db.List[Delivery]{}
	if _, err := endpoint.Get(ctx, tx, op.ByID{ID: in.ID}); err != nil {
		return none, err
	}
	c, err := tx.Page(in.Page, "deliveries", in)
	if err != nil {
		return none, err
	}
	var where db.Where
	where.And("webhook = ?", in.ID)
	if condition, ok := statusIs[in.Status]; ok {
		where.And(condition)
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select coalesce(sum(n), 0)::bigint from tally where `+where.String(), where.Args...).Scan(&c.Total); err != nil {
			return none, err
		}
	}
	where.After(c, "d")
	rows, err := tx.Query(ctx, selectDelivery+`where `+where.String()+db.LimitTo(` order by d.created_at desc, d.id desc`, c.Limit), where.Args...)
	if err != nil {
		return none, err
	}
	found, err := pgx.CollectRows(rows, r.scan)
	if err != nil {
		return none, err
	}
	return db.Close(c, found, func(d Delivery) (time.Time, uuid.UUID) { return d.CreatedAt, d.ID }), nil
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in op.ByID) (deliveryLog, error) {
	d, err := r.ByID(ctx, tx, in.ID)
	if err != nil {
		return deliveryLog{}, err
	}
	rows, err := tx.Query(ctx, `select number, date_trunc('second', at) as at, url, response_code, response_body, error, duration_ms
		from attempt where message = (select message from delivery where id = $1) and delivery = $1 order by number`, in.ID)
	if err != nil {
		return deliveryLog{}, err
	}
	log, err := pgx.CollectRows(rows, pgx.RowToStructByName[attempt])
	if log == nil {
		log = []attempt{}
	}
	return deliveryLog{d, log}, err
}

// ByID reads a delivery: svc_not_found also for a delivery whose webhook was deleted.
func (r *Room) ByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Delivery, error) {
	rows, err := tx.Query(ctx, selectDelivery+`where d.id = $1`, id)
	if err != nil {
		return Delivery{}, err
	}
	d, err := pgx.CollectExactlyOneRow(rows, r.scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, fault.NotFound("delivery")
	}
	return d, err
}
