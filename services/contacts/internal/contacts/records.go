package contacts

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// records declares what other services keep copies of.
func records() []app.Published {
	return []app.Published{
		app.Records(app.Rows[uuid.UUID]{Topic: proto.OrganizationTopic, Table: "organization", Emit: publishOrganizations}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.ContactTopic, Table: "contact", Emit: func(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
			return publishContacts(ctx, tx, ids, nil)
		}}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.FieldTopic, Table: "field", Emit: publishFields}),
	}
}
