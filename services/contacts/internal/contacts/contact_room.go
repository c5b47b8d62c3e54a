package contacts

import (
	"context"
	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/directory"
	"time"

	"github.com/google/uuid"
)

// contactParts are what the service runs of the room.
func (s *service) contactParts() app.Parts {
	return app.Parts{
		Jobs: []app.Job{
			{Name: "merged away", Every: time.Hour, Run: s.endLingering},
			{Name: "gone", Every: time.Hour, Run: s.dropGone},
		},
		Personal: app.Personal{Holds: map[string]app.Holds{"contact": app.People, "contact_gone": app.People, "contact_alias": app.People,
			"former_address": app.People}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.ContactTopic, Table: "contact",
			Emit: func(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error { return publishContacts(ctx, tx, ids, nil) }})},
	}
}

// dropGone deletes the keys of contacts that every copy of the directory has dropped.
func (s *service) dropGone(ctx context.Context) error {
	_, err := s.DB.Pool.Exec(ctx, `delete from contact_gone where gone_at < now() - $1::interval`, directory.KeepGone)
	return err
}
