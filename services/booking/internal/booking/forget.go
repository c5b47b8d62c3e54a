package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// personal declares what the tables hold about people: clients are contacts, with appointments and the links that open these.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{"appointment": app.People, "manage_token": app.People, "contact": app.People}
	for _, table := range []string{"service", "staff", "skill", "exception", "settings", "organization", "form", "page", "embedding", "catalog"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: forgetPerson}
}

// forgetPerson removes a person's contacts and appointments, and answers with the ids of both. A client whom contacts does
// not have yet is recognised by the address, unless the client has booked again since.
func forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id, email from contact c where version = 0
		and not exists (select from appointment a where a.contact_id = c.id and a.created_at >= $1)`, p.At)
	if err != nil {
		return nil, err
	}
	ids := p.IDs()
	var id uuid.UUID
	var email string
	if _, err := pgx.ForEachRow(rows, []any{&id, &email}, func() error {
		if p.HasAddress(email) {
			ids = append(ids, id)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return forgetContacts(ctx, tx, ids)
}

// forgetContacts removes contacts and their appointments for good, and answers with the ids of both.
func forgetContacts(ctx context.Context, tx *db.Tx, ids []uuid.UUID) ([]uuid.UUID, error) {
	if _, err := tx.Exec(ctx, `delete from contact where id = any($1)`, ids); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `delete from appointment where contact_id = any($1) returning id`, ids)
	if err != nil {
		return nil, err
	}
	appointments, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, err
	}
	for _, id := range appointments {
		tx.Tombstone(proto.AppointmentTopic, id.String())
	}
	return append(ids, appointments...), nil
}
