package clients

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Room keeps the copies of contacts, among them clients whom contacts does not have yet, and of who owns organizations and open tasks.
type Room struct {
	*app.Kit
	readdressed func(ctx context.Context, tx *db.Tx, contact uuid.UUID, at time.Time) error
}

// New makes the room. readdressed ends what was sent to the address that a contact had before at: it is called in the transaction in which
// the contact gets another one.
func New(k *app.Kit, readdressed func(ctx context.Context, tx *db.Tx, contact uuid.UUID, at time.Time) error) *Room {
	return &Room{k, readdressed}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: r.keepContact, Keys: bus.KeysOf("contact")},
			{Topic: proto.OrganizationTopic, Handle: onOrganization, Keys: bus.KeysOf("organization")},
			{Topic: proto.TaskTopic, Handle: onTask, Keys: bus.KeysOf("task")},
		},
		Jobs: []app.Job{{Name: "unanswered", Every: time.Hour, Run: r.askAgain}},
		Gauges: []app.Gauge{{Name: "booking.unanswered", Unit: "{contact}", Doc: "clients whom contacts has not confirmed yet",
			SQL: `select count(*) from contact where version = 0 and asked_at is distinct from 'infinity'`}},
		Personal: app.Personal{Holds: map[string]app.Holds{"contact": app.People, "organization": app.Nobody, "task": app.Nobody}, Forget: r.Forget},
	}
}
