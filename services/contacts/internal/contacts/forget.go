package contacts

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal declares what the tables hold about people. Contacts erases in the transaction of the request, so svc.forget
// finds at most what came between.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{}
	for _, table := range []string{"contact", "contact_gone", "contact_alias", "former_address", "contact_organization", "activity", "consent", "marketing_link",
		"unsubscribed", "import", "import_error", "appointment", "submission"} {
		holds[table] = app.People
	}
	for _, table := range []string{"organization", "organization_distinct", "tag", "field_group", "field", "hand_over", "organization_news"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: func(context.Context, *db.Tx, *erasure.Person) ([]uuid.UUID, error) { return nil, nil }}
}
