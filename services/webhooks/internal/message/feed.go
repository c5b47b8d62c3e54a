package message

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

type findEvents struct {
	Event []string   `json:"event,omitempty" maxItems:"50" doc:"Only these events, by the names of GET /webhooks/events; all when left out."`
	Since *time.Time `json:"since,omitempty" doc:"Only events that happened at this time or later."`
	db.Page
}

// feed is a page of events, oldest first.
type feed struct {
	Items      []feedEvent `json:"items" doc:"The events of this page, oldest first."`
	NextCursor string      `json:"next_cursor" doc:"Always there: the next call with it goes on behind this page, also later, when there is more."`
	Total      *int64      `json:"total" nullable:"true" doc:"Always null: events are not counted."`
}

// feedEvent is the text of an event, as webhooks send it.
type feedEvent string

// MarshalJSON is the event itself.
func (t feedEvent) MarshalJSON() ([]byte, error) { return json.RawMessage(t).MarshalJSON() }

// Schema is that of the body of a delivery.
func (feedEvent) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"event", "id", "occurred_at", "data"}, Properties: map[string]*huma.Schema{
		"event":       {Type: huma.TypeString, Description: "One of GET /webhooks/events."},
		"id":          {Type: huma.TypeString, Description: "evt_ and a UUID: the same in every delivery of the event."},
		"occurred_at": {Type: huma.TypeString, Format: "date-time", Description: "When it happened."},
		"data":        {Type: huma.TypeObject, AdditionalProperties: true, Description: "The record as REST shows it, under the name of its kind."},
	}}
}

// findEvents lists the events that are kept, in the order in which they were stored: changes of one record in their order. It
// leaves out events that a running transaction could still precede. A reader who continues with next_cursor therefore gets each event
// exactly once, however many processes store events, and whatever a crash of the database loses. A cursor behind which events were
// deleted for their age is svc_invalid_cursor.
func (r *Room) findEvents(ctx context.Context, tx *db.Tx, in findEvents) (feed, error) {
	if err := CheckEvents("event", in.Event); err != nil {
		return feed{}, err
	}
	names := in.Event
	if len(names) == 0 {
		for _, e := range events {
			names = append(names, e.Event)
		}
	}
	c, err := tx.Page(in.Page, "events", in)
	if err != nil {
		return feed{}, err
	}
	// The snapshot of this transaction is one, so horizon is that of the events read below. Transactions that store events, and others
	// below the horizon, may have been committed before they were on disk. A crash that lost them would give their numbers out again, to
	// other events. So this transaction writes to the log, under a number that is no lower than the horizon: its commit, which comes
	// before the answer, has the log on disk up to there.
	var horizon, gone int64
	if err := tx.QueryRow(ctx, `select feed_tx(pg_snapshot_xmin(pg_current_snapshot())), gone from feed, pg_logical_emit_message(true, 'events', '')`).Scan(&horizon, &gone); err != nil {
		return feed{}, err
	}
	var where db.Where
	where.And("event = any(?) and tx < ?", names, horizon)
	// Retention goes by the time, which is not quite the order of the list: what it has left in front of an event that it deleted is not
	// listed any more.
	where.And("tx > ?", gone)
	if in.Since != nil {
		where.And("occurred_at >= ?", in.Since.UTC())
	}
	if !c.First {
		after := c.At.UnixMicro()
		if after <= gone {
			return feed{}, fault.New(http.StatusBadRequest, "svc_invalid_cursor", "Events behind this cursor are no longer kept. Begin without it.", "reason", "expired")
		}
		where.And("(tx, seq) > (?, ?)", after, db.Number(c.ID))
	}
	rows, err := tx.Query(ctx, db.LimitTo(`select payload, tx, seq from message where `+where.String()+` order by tx, seq`, c.Limit-1), where.Args...)
	if err != nil {
		return feed{}, err
	}
	page := feed{Items: []feedEvent{}}
	var payload string
	// Behind a page that is not full lie only events that are yet to come.
	after, seq := horizon, int64(0)
	var lastTx, lastSeq int64
	if _, err := pgx.ForEachRow(rows, []any{&payload, &lastTx, &lastSeq}, func() error {
		page.Items = append(page.Items, feedEvent(payload))
		return nil
	}); err != nil {
		return feed{}, err
	}
	if len(page.Items) == c.Limit-1 {
		after, seq = lastTx, lastSeq
	}
	page.NextCursor = c.Next(db.Place{At: time.UnixMicro(after), ID: db.NumberID(seq)})
	return page, nil
}
