package webhooks

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal declares what the tables hold about people: bodies of events show them, answers of receivers may repeat them.
// River's jobs hold ids of webhooks.
func (s *service) personal() app.Personal {
	return app.Personal{
		Holds: map[string]app.Holds{
			"message": app.People, "delivery": app.People, "attempt": app.People, "erased": app.People,
			"test_receiver": app.Nobody, "test_request": app.People,
			"webhook": app.Nobody, "lease": app.Nobody, "tally": app.Nobody, "feed": app.Nobody, "removed": app.Nobody,
			"river_job": app.Nobody, "river_leader": app.Nobody, "river_migration": app.Nobody, "river_notification": app.Nobody, "river_queue": app.Nobody,
		},
		Forget: forgetPerson,
	}
}

// forgetPerson blanks the bodies about a person's records, and strikes their addresses from bodies about others.
func forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	records, err := scrubContacts(ctx, tx, p.IDs())
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select id, payload from message where people && $1 or people is null order by id for update`, p.Called())
	if err != nil {
		return nil, err
	}
	others, err := rewrite(ctx, tx, rows, strike(p))
	return append(records, others...), err
}
