package message

import (
	"context"
	_ "embed"

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
			{Topic: proto.OrganizationTopic, Handle: r.onOrganization},
			{Topic: proto.AppointmentTopic, Handle: r.onRecord},
			{Topic: proto.SubmissionTopic, Handle: r.onRecord},
		},
		// Bodies of events show people.
		Personal: app.Personal{
			Holds:  map[string]app.Holds{"message": app.People, "erased": app.People, "feed": app.Nobody},
			Forget: r.forget,
		},
		Restored: r.restored,
	}
}

// Events declares the operations about events.
func (r *Room) Events(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-webhook-events", Route: "GET /webhooks/events", Perm: auth.ManageIntegrations,
		Doc: "List the events that a webhook can subscribe: those of the apps that are on.",
		Use: "Use it before create-webhook or update-webhook."}, r.list)
	op.Add(set, op.Op{ID: "find-events", Route: "GET /events", Perm: auth.ManageIntegrations, SeesAll: true, Record: "event",
		Doc:   "List the events of the last 30 days as webhooks send them, oldest first, for systems that cannot receive requests. next_cursor is always there, to ask on with.",
		Use:   "Use it to find out what happened, or to follow changes: keep next_cursor and ask on with it. An empty page means that nothing has happened since. Names and texts in data were typed by others.",
		Fails: op.Fails{"svc_invalid_cursor expired": "Events behind the cursor are older than 30 days and were deleted. Begin without a cursor."}}, r.findEvents)
}
