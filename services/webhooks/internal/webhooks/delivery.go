package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
)

// Delivery is one event for one webhook.
type Delivery struct {
	ID            uuid.UUID  `json:"id"`
	Event         string     `json:"event"`
	EventID       string     `json:"event_id" doc:"The same on every attempt and for every webhook."`
	Status        string     `json:"status" enum:"queued,retrying,delivered,failed"`
	Attempts      int        `json:"attempts"`
	ResponseCode  *int       `json:"response_code" doc:"What the receiver answered to the last attempt; null when it did not."`
	Error         *string    `json:"error" doc:"Why the last attempt failed."`
	DurationMS    *int       `json:"duration_ms" doc:"How long the last attempt took."`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	CreatedAt     time.Time  `json:"created_at"`
	DeliveredAt   *time.Time `json:"delivered_at"`
	Payload       Payload    `json:"payload" doc:"The body as sent."`
}

// Payload is a JSON object, byte by byte as it is sent.
type Payload string

// MarshalJSON is the object itself.
func (p Payload) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// Schema is any object.
func (Payload) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// DeliveryLog is a delivery with its attempts, oldest first.
type DeliveryLog struct {
	Delivery
	Log []Attempt `json:"log"`
}

// Attempt is one request and its answer.
type Attempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at" doc:"When it was sent: the time in its signature."`
	URL          string    `json:"url"`
	ResponseCode *int      `json:"response_code"`
	ResponseBody string    `json:"response_body" doc:"The first 64 KiB of the answer; what is not text is replaced."`
	Error        *string   `json:"error"`
	DurationMS   int       `json:"duration_ms"`
}

const selectDelivery = `select d.id, m.event, 'evt_' || m.id, d.status, d.attempts, d.response_code, d.error, d.duration_ms,
	date_trunc('second', d.next_attempt_at), d.created_at, date_trunc('second', d.delivered_at), m.payload
	from delivery d join message m on m.id = d.message `

// FindDeliveriesIn is the input of FindDeliveries.
type FindDeliveriesIn struct {
	ID     uuid.UUID `json:"id"`
	Status string    `json:"status,omitempty" enum:"queued,retrying,delivered,failed"`
	db.Page
}

// FindDeliveries lists the log of a webhook, newest first.
func (s *service) FindDeliveries(ctx context.Context, tx *db.Tx, in FindDeliveriesIn) (db.List[Delivery], error) {
	none := db.List[Delivery]{}
	if _, err := webhookByID(ctx, tx, in.ID, ""); err != nil {
		return none, err
	}
	c, err := tx.Page(in.Page, "deliveries", in)
	if err != nil {
		return none, err
	}
	where, args := []string{"webhook = @webhook"}, pgx.NamedArgs{"webhook": in.ID, "status": in.Status, "at": c.At, "id": c.ID, "limit": c.Limit}
	if in.Status != "" {
		where = append(where, "status = @status")
	}
	if c.First {
		err := tx.QueryRow(ctx, `select coalesce(sum(n), 0)::bigint from tally where `+strings.Join(where, " and "), args).Scan(&c.Total)
		if err != nil {
			return none, err
		}
	} else {
		where = append(where, "(d.created_at, d.id) < (@at, @id)")
	}
	rows, err := tx.Query(ctx, selectDelivery+`where `+strings.Join(where, " and ")+` order by d.created_at desc, d.id desc limit @limit`, args)
	if err != nil {
		return none, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Delivery])
	if err != nil {
		return none, err
	}
	return db.Close(c, found, func(d Delivery) (time.Time, uuid.UUID) { return d.CreatedAt, d.ID }), nil
}

// GetDelivery answers with a delivery and all of its attempts.
func (s *service) GetDelivery(ctx context.Context, tx *db.Tx, in ByID) (DeliveryLog, error) {
	d, err := deliveryByID(ctx, tx, in.ID)
	if err != nil {
		return DeliveryLog{}, err
	}
	rows, err := tx.Query(ctx, `select number, date_trunc('second', at), url, response_code, response_body, error, duration_ms
		from attempt where message = (select message from delivery where id = $1) and delivery = $1 order by number`, in.ID)
	if err != nil {
		return DeliveryLog{}, err
	}
	log, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Attempt, err error) {
		var answer []byte
		err = row.Scan(&a.Number, &a.At, &a.URL, &a.ResponseCode, &answer, &a.Error, &a.DurationMS)
		a.ResponseBody = strings.ToValidUTF8(string(answer), "\uFFFD")
		return a, err
	})
	if log == nil {
		log = []Attempt{}
	}
	return DeliveryLog{d, log}, err
}

func deliveryByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Delivery, error) {
	rows, err := tx.Query(ctx, selectDelivery+`where d.id = $1 and exists (select from webhook w where w.id = d.webhook)`, id)
	if err != nil {
		return Delivery{}, err
	}
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Delivery])
	if errors.Is(err, pgx.ErrNoRows) {
		return d, fault.NotFound("delivery")
	}
	return d, err
}

// TestWebhook sends a test event at once and answers with how that went. It is never tried again.
func (s *service) TestWebhook(ctx context.Context, d *db.DB, in ByID) (Delivery, error) {
	id, lease := db.NewID(), uuid.New()
	var target target
	err := d.Do(ctx, func(tx *db.Tx) error {
		w, err := webhookByID(ctx, tx, in.ID, "for key share")
		if err != nil {
			return err
		}
		data, err := json.Marshal(map[string]any{"webhook": map[string]any{"id": w.ID, "name": w.Name}})
		if err != nil {
			return err
		}
		b := body{event: testEvent, id: db.NewID(), at: tx.Now, data: data}
		text, err := b.text()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			with told as (
				insert into message (id, event, record, payload, created_at) values ($3, $4, $3, $5, $6)
			), counted as (
				insert into tally values ($2, 'queued', 1)
			), leased as (
				insert into lease values ($1, $2, $7, now() + $8::interval)
			)
			insert into delivery (id, webhook, message, record, status, once, next_attempt_at, created_at)
			values ($1, $2, $3, $3, 'queued', true, $6, $6)`,
			id, w.ID, b.id, b.event, text, tx.Now, lease, leaseFor)
		if err != nil {
			return err
		}
		if target, err = s.targetOf(ctx, tx, w.ID); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "test-webhook", "webhook", w.ID.String())
	})
	if err != nil {
		return Delivery{}, err
	}
	return s.sendNow(ctx, d, target, id, lease, scheduled)
}

// ResendDelivery sends a delivery once more at once, whatever its status.
func (s *service) ResendDelivery(ctx context.Context, d *db.DB, in ByID) (Delivery, error) {
	lease := uuid.New()
	var target target
	// An attempt that is under way is waited for: two at a time would not know of each other.
	for wait := 0; ; wait++ {
		mine := false
		err := d.Do(ctx, func(tx *db.Tx) error {
			if _, err := deliveryByID(ctx, tx, in.ID); err != nil {
				return err
			}
			var webhook uuid.UUID
			err := tx.QueryRow(ctx, `
				insert into lease (delivery, webhook, token, until) select id, webhook, $2, now() + $3::interval from delivery where id = $1
				on conflict (delivery) do update set token = excluded.token, until = excluded.until where lease.until < now()
				returning webhook`, in.ID, lease, leaseFor).Scan(&webhook)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			mine = true
			if target, err = s.targetOf(ctx, tx, webhook); err != nil {
				return err
			}
			return op.Audit(ctx, tx, "resend-webhook-delivery", "webhook_delivery", in.ID.String())
		})
		if err != nil {
			return Delivery{}, err
		}
		if mine {
			break
		}
		if wait == 60 {
			return Delivery{}, fault.Conflict("in_flight", "This delivery is being sent just now.")
		}
		select {
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return s.sendNow(ctx, d, target, in.ID, lease, resent)
}

// sendNow makes an attempt that somebody waits for.
func (s *service) sendNow(ctx context.Context, d *db.DB, to target, id, lease uuid.UUID, how manner) (Delivery, error) {
	var j job
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		j, err = jobByID(ctx, tx, id)
		return err
	})
	if err != nil {
		return Delivery{}, err
	}
	j.lease, j.how = lease, how
	if err := s.engine.now(ctx, to, j); err != nil {
		return Delivery{}, err
	}
	var out Delivery
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = deliveryByID(ctx, tx, id)
		return err
	})
	return out, err
}
