package contacts

import (
	"context"
	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"

	"github.com/google/uuid"
)

// fieldParts are what the service runs of the room.
func (s *service) fieldParts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.ContactsCommandTopic, Handle: s.onFieldCommand}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"field": app.Nobody, "field_group": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.FieldTopic, Table: "field", Emit: publishFields})},
	}
}

func (s *service) onFieldCommand(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindEnsureFields {
		return nil
	}
	return s.ensureFields(ctx, tx, e)
}
