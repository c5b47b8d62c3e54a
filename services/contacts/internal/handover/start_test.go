package handover_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/handover"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/people"
	"frontdesk/services/contacts/internal/search"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/timeline"
)

type object = map[string]any

// start runs the room with what its tests look at.
func start(t *testing.T) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "contacts", func(k *app.Kit, set *op.Set) []app.Room {
		fields := field.New(k)
		companies := organization.New(k, fields)
		tags := tag.New(k, fields)
		subscriptions := marketing.New(k)
		finder := search.New(k, fields)
		team := people.New(k, fields, subscriptions)
		successors := handover.New(k)
		companies.Organizations(set)
		finder.Contacts(set)
		team.Contacts(set)
		return []app.Room{{Name: "field", Parts: fields.Parts()}, {Name: "timeline", Parts: timeline.New(k).Parts()}, {Name: "contact", Parts: contact.New(k).Parts()}, {Name: "copies", Parts: copies.New(k).Parts()}, {Name: "organization", Parts: companies.Parts()}, {Name: "tag", Parts: tags.Parts()}, {Name: "marketing", Parts: subscriptions.Parts(nil)}, {Name: "search", Parts: finder.Parts()}, {Name: "handover", Parts: successors.Parts()}}
	})
}

// afresh deletes every record of the service, for one more case of a test: it takes a tenth of the time of another service. Roles
// and people stay, and so do the events that were sent.
func afresh(t *testing.T, s *apptest.Service) {
	t.Helper()
	s.Settle()
	for _, table := range []string{"contact", "contact_alias", "organization", "tag", "field", "field_group", "activity", "marketing_link", "unsubscribed",
		"import", "appointment", "submission", "answered", "hand_over", "idempotency", "forgotten_person"} {
		execute(t, s.Kit.DB.Pool, `delete from `+table)
	}
}

// execute runs a statement, which has to succeed.
func execute(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// refusing makes the database refuse a statement about one record.
func refusing(t *testing.T, s *apptest.Service, table, operation, id string) (heal func()) {
	t.Helper()
	execute(t, s.Kit.DB.Pool, `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
	execute(t, s.Kit.DB.Pool, `create trigger refuse before `+operation+` on `+table+` for each row when (old.id = '`+id+`') execute function refuse()`)
	return func() { execute(t, s.Kit.DB.Pool, `drop trigger refuse on `+table) }
}

func jsonText(v any) string { b, _ := json.Marshal(v); return string(b) }

// peopleSlice is how many people of an organization one transaction publishes.
const peopleSlice = 200
