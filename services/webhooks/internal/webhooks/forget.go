package webhooks

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal: bodies of events show people, answers of receivers may repeat them. River's jobs hold ids of webhooks.
var personal = app.Personal{
	Holds: map[string]app.Holds{
		"message": app.People, "delivery": app.People, "attempt": app.People, "erased": app.People,
		"webhook": app.Nobody, "lease": app.Nobody, "tally": app.Nobody, "removed": app.Nobody,
		"river_job": app.Nobody, "river_leader": app.Nobody, "river_migration": app.Nobody, "river_notification": app.Nobody, "river_queue": app.Nobody,
	},
	Forget: func(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
		for _, id := range p.IDs() {
			if err := scrubContact(ctx, tx, id); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
}
