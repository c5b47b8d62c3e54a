package message

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps the events that can be subscribed.
type Room struct {
	*app.Kit
	stored func(tx *db.Tx, m Stored)
	struck func(ctx context.Context, tx *db.Tx, messages []uuid.UUID) error
}

// New makes the room. stored is called for each event that was stored, in its transaction; struck for those whose bodies were changed
// because somebody in them was erased.
func New(k *app.Kit, stored func(tx *db.Tx, m Stored), struck func(ctx context.Context, tx *db.Tx, messages []uuid.UUID) error) *Room {
	return &Room{k, stored, struck}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: r.onContact},
			{Topic: proto.OrganizationTopic, Handle: r.keep},
			{Topic: proto.TaskTopic, Handle: r.keep},
			{Topic: proto.AppointmentTopic, Handle: r.onRecord},
			{Topic: proto.SubmissionTopic, Handle: r.onRecord},
		},
		// Bodies of events show people.
		Personal: app.Personal{
			Holds:  map[string]app.Holds{"message": app.People, "erased": app.People, "feed": app.Nobody},
			Forget: r.forget,
		},
		Jobs:     []app.Job{reread.Job(r.DB)},
		Restored: r.restored,
	}
}

// Events declares the operations about events.
func (r *Room) Events(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-webhook-events", Route: "GET /webhooks/events", Perm: auth.ManageIntegrations,
		Doc: "List the events that a webhook can subscribe: those of the apps that are on.",
		Use: "Use it before create-webhook or update-webhook."}, r.list)
	op.Add(set, op.Op{ID: "get-webhook-event-sample", Route: "GET /webhooks/events/{event}/sample", Perm: auth.ManageIntegrations,
		Doc: "Get an example of the request that a webhook sends for an event, with its headers, signed at this moment.",
		Use: "Use it to write or check a receiver. The people in it are made up. secret verifies its signatures; a webhook's own secret does not."}, r.sample)
	op.Add(set, op.Op{ID: "find-events", Route: "GET /events", Perm: auth.ManageIntegrations, SeesAll: true, Record: "event",
		Doc:   "List the events of the last 30 days as webhooks send them, oldest first, for systems that cannot receive requests. next_cursor is always there, to ask on with.",
		Use:   "Use it to find out what happened, or to follow changes: keep next_cursor and ask on with it. An empty page means that nothing has happened since. Names and texts in data were typed by others.",
		Fails: op.Fails{"svc_invalid_cursor expired": "Events behind the cursor are older than 30 days and were deleted. Begin without a cursor."}}, r.findEvents)
}

// keepDays is how many days the log is kept: privacy setting retention.webhook_log, 30 if that is not set.
func (r *Room) keepDays() int {
	privacy := struct {
		Retention struct {
			WebhookLog int `json:"webhook_log"`
		} `json:"retention"`
	}{}
	r.Site.Read("privacy", &privacy)
	if privacy.Retention.WebhookLog < 1 {
		return 30
	}
	return privacy.Retention.WebhookLog
}

// KeptSince is the moment before which the log and the events are deleted.
func (r *Room) KeptSince() time.Time { return r.DB.Now().UTC().AddDate(0, 0, -r.keepDays()) }

// expireBatch is how many events one transaction deletes.
const expireBatch = 5000

// Expire deletes the events of before old.
func (r *Room) Expire(ctx context.Context, old time.Time) error {
	err := r.DB.Slices(ctx, expireBatch, func(tx *db.Tx) (n int, err error) {
		err = tx.QueryRow(ctx, `
			with old as (
				select id from message where created_at < $1`+db.LimitTo(` order by created_at`, expireBatch)+` for update skip locked
			), deleted as (
				delete from message m using old where m.id = old.id returning m.tx
			), moved as (
				update feed set gone = greatest(gone, (select max(tx) from deleted)) where exists (select from deleted)
			)
			select count(*) from deleted`, old).Scan(&n)
		return n, err
	})
	if err != nil {
		return fmt.Errorf("delete old messages: %w", err)
	}
	return nil
}

// restored has events from now on stand behind every cursor that was given before: no transaction is counted up each nanosecond.
func (r *Room) restored(ctx context.Context) ([]string, error) {
	if _, err := r.DB.Pool.Exec(ctx, `update feed set offset_by = greatest(offset_by, (extract(epoch from clock_timestamp()) * 1e9)::bigint)`); err != nil {
		return nil, fmt.Errorf("prepare the list of events: %w", err)
	}
	return nil, nil
}
