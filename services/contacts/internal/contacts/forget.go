package contacts

import (
	"frontdesk/libs/app"
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
