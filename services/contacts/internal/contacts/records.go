package contacts

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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

// publishOrganizations publishes organization.updated for organizations as they are now.
func publishOrganizations(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if err := emitOrganization(ctx, tx, proto.KindOrganizationUpdated, id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// publishFields publishes field.updated for fields as they are now.
func publishFields(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	rows, err := tx.Query(ctx, `select `+fieldColumns+` from field where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	fields, err := pgx.CollectRows(rows, pgx.RowToStructByName[Field])
	if err != nil {
		return err
	}
	for _, f := range fields {
		if err := emitField(ctx, tx, proto.KindFieldUpdated, f, nil); err != nil {
			return err
		}
	}
	return nil
}
