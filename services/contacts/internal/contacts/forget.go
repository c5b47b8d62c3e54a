package contacts

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// personal declares what the tables hold about people.
func (s *service) personal() app.Personal {
	holds := map[string]app.Holds{}
	for _, table := range []string{"contact", "contact_gone", "contact_alias", "former_address", "contact_organization", "activity", "consent", "marketing_link",
		"unsubscribed", "answered", "import", "import_error", "appointment", "submission"} {
		holds[table] = app.People
	}
	for _, table := range []string{"organization", "organization_distinct", "tag", "tag_name", "tag_change", "field_group", "field", "hand_over", "organization_news"} {
		holds[table] = app.Nobody
	}
	return app.Personal{Holds: holds, Forget: forgetPerson}
}

// forgetPerson deletes the copies of submissions that name the person and belong to no contact, and returns their ids. The
// transaction of the request has erased all else. If forms keeps a submission, because somebody else sent it, forms
// publishes it again without the address.
func forgetPerson(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `delete from submission where contact_id is null and people && $1 and created_at < $2 returning id`, p.Called(), p.At)
	if err != nil {
		return nil, err
	}
	return collectIDs(rows)
}
