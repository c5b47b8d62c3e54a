package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

// forgetPerson deletes a person's contacts and appointments, and returns the ids of both. The contacts go first: a booking that holds
// one is waited for, and then found.
func (s *service) forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	contacts, err := s.forgetClients(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	appointments, err := forgetAppointments(ctx, tx, contacts)
	return append(contacts, appointments...), err
}

// forgetAppointments deletes the appointments of contacts for good, and returns their ids.
func forgetAppointments(ctx context.Context, tx *db.Tx, contacts []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `delete from appointment where contact_id = any($1) returning id`, contacts)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	for _, id := range ids {
		tx.Tombstone(proto.AppointmentTopic, id.String())
	}
	return ids, err
}
