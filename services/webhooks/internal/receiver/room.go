package receiver

import (
	"context"
	_ "embed"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps the test receivers.
type Room struct {
	*app.Kit
	endpoints *endpoint.Room
}

// New makes the room.
func New(k *app.Kit, endpoints *endpoint.Room) *Room { return &Room{k, endpoints} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{{Topic: proto.ContactTopic, Handle: r.onErased}},
		Personal: app.Personal{
			Holds: map[string]app.Holds{"test_receiver": app.Nobody, "test_request": app.People},
			Forget: func(ctx context.Context, tx *db.Tx, _ *erasure.Person) ([]uuid.UUID, error) {
				// An event that erases a contact empties the receivers when it has this lock already.
				if err := message.LockErasure(ctx, tx); err != nil {
					return nil, err
				}
				return nil, r.empty(ctx, tx)
			},
		},
	}
}

// onErased empties all test receivers when a contact was erased.
func (r *Room) onErased(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Tombstone || e.Kind != proto.KindContactErased {
		return nil
	}
	return r.empty(ctx, tx)
}

// empty deletes what has arrived at all test receivers: anything may have.
func (r *Room) empty(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `delete from test_request`)
	return err
}

// Receivers declares the operations about test receivers.
func (r *Room) Receivers(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-test-receiver", Route: "GET /webhooks/receiver", Perm: auth.ManageIntegrations, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Show what arrived at the caller's test receiver: headers, body, and how each signature verifies. Without a receiver its fields are null."}, r.get)
	op.Add(set, op.Op{ID: "open-test-receiver", Undo: op.Undo{Never: op.NothingStays}, Route: "POST /webhooks/receiver", Perm: auth.ManageIntegrations, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Open a test receiver, an address of the caller's own that shows what arrives, for an hour; or give the one that is open another hour."}, r.open)
	op.Add(set, op.Op{ID: "close-test-receiver", Undo: op.Undo{Never: op.NothingStays}, Route: "DELETE /webhooks/receiver", Perm: auth.ManageIntegrations, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Close the caller's test receiver, and delete what arrived."}, end)
	op.Add(set, op.Op{ID: "try-webhook", Undo: op.Undo{Never: op.NothingStays}, Route: "POST /webhooks/{id}/try", Perm: auth.ManageIntegrations, SeesAll: true, PersonOnly: true, Ability: "-", Record: "webhook",
		Doc:   "Send a test event, signed with the webhook's secrets, to the caller's test receiver instead of the webhook's address. Log and failures of the webhook do not change.",
		Fails: op.Fails{"svc_conflict secret": endpoint.FailSecret, "svc_conflict no_receiver": failReceiver}}, r.try)
	op.Add(set, op.Op{ID: "receive-test-request", Route: "POST " + path + "{token}", Perm: op.Public, Unaudited: true, MaxBody: requestMax, Channel: db.ChannelAPI,
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "Take any request at the address of a test receiver, for the person who opened it to see. The last 20 are kept."}, r.receiveRequest)
}
