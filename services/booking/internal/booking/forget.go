package booking

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal: clients are the contacts, their appointments and the links that open these.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{"appointment": app.People, "manage_token": app.People, "contact": app.People}
	for _, table := range []string{"service", "staff", "skill", "exception", "settings", "organization", "form", "page", "embedding", "catalog"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: s.forgetPerson}
}

func (s *service) forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	for _, id := range p.IDs() {
		if err := s.eraseContact(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
