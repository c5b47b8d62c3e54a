package contact

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/directory"
)

// Room keeps contacts.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs: []app.Job{
			{Name: "merged away", Every: time.Hour, Run: r.endLingering},
			{Name: "gone", Every: time.Hour, Run: r.dropGone},
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"contact": app.People, "contact_gone": app.People, "contact_alias": app.People,
			"former_address": app.People}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.ContactTopic, Table: "contact",
			Emit: func(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
				_, err := publish(ctx, tx, ids, nil)
				return err
			}})},
	}
}

// dropGone deletes the keys of contacts that every copy of the directory has dropped.
func (r *Room) dropGone(ctx context.Context) error {
	_, err := r.DB.Pool.Exec(ctx, `delete from contact_gone where gone_at < now() - $1::interval`, directory.KeepGone)
	return err
}
