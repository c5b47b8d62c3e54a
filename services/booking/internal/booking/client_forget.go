package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// forgetClients deletes a person's contacts and returns their ids. A client whom contacts does not have yet is recognised by the
// address, unless the client has booked again since.
func (s *service) forgetClients(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
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
	return ids, deleteContacts(ctx, tx, ids...)
}
