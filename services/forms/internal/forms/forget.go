package forms

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal: visitors are the contacts and their submissions.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{"submission": app.People, "contact": app.People, "contact_alias": app.People}
	for _, table := range []string{"form", "form_column", "organization"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: func(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
		for _, id := range p.IDs() {
			if err := eraseContact(ctx, tx, id); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}}
}
