package field

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Room keeps custom fields, their groups, and the rules that bring values into their stored form.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: r.onFieldCommand}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"field": app.Nobody, "field_group": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.FieldTopic, Table: "field", Emit: publishFields})},
	}
}

func (r *Room) onFieldCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindEnsureFields {
		return nil
	}
	return r.ensureFields(ctx, tx, e)
}
