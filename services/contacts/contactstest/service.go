// Package contactstest is what tests of several rooms of contacts have in common.
package contactstest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/history"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/people"
	"frontdesk/services/contacts/internal/search"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/timeline"
)

// Start runs the rooms up to people, by whose operations tests make and read contacts. above makes rooms that stand above these.
func Start(t *testing.T, above ...func(k *app.Kit, set *op.Set) app.Room) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "contacts", func(k *app.Kit, set *op.Set) []app.Room {
		fields := field.New(k)
		organizations := organization.New(k, fields)
		organizations.Moved = append(organizations.Moved, link.MoveOrganization)
		links := link.New(k)
		tags := tag.New(k, fields)
		subscriptions := marketing.New(k)
		finder := search.New(k, fields)
		fields.Fields(set)
		organizations.Organizations(set)
		links.OfOrganizations(set)
		notes := history.New(k)
		notes.OfContacts(set)
		notes.OfOrganizations(set)
		tags.Tags(set)
		subscriptions.OfContact(set)
		finder.Contacts(set)
		people.New(k, fields, subscriptions).Contacts(set)
		rooms := []app.Room{
			{Name: "field", Parts: fields.Parts()},
			{Name: "timeline", Parts: timeline.New(k).Parts()},
			{Name: "contact", Parts: contact.New(k).Parts()},
			{Name: "copies", Parts: copies.New(k).Parts()},
			{Name: "organization", Parts: organizations.Parts()},
			{Name: "link", Parts: links.Parts()},
			{Name: "tag", Parts: tags.Parts()},
			{Name: "marketing", Parts: subscriptions.Parts(nil)},
			{Name: "search", Parts: finder.Parts()},
		}
		for _, room := range above {
			rooms = append(rooms, room(k, set))
		}
		return rooms
	})
}

// Afresh deletes every record of the service, for one more case of a test: it takes a tenth of the time of another service. Roles
// and people stay, and so do the events that were sent.
func Afresh(t *testing.T, s *apptest.Service) {
	t.Helper()
	s.Settle()
	for _, table := range []string{"contact", "contact_alias", "organization", "task", "tag", "field", "field_group", "activity", "marketing_link", "unsubscribed",
		"import", "appointment", "submission", "answered", "hand_over", "idempotency", "forgotten_person"} {
		Execute(t, s.Kit.DB.Pool, `delete from `+table)
	}
}

// Execute runs a statement, which has to succeed.
func Execute(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// Refusing makes the database refuse a statement about one record.
func Refusing(t *testing.T, s *apptest.Service, table, operation, id string) (heal func()) {
	t.Helper()
	Execute(t, s.Kit.DB.Pool, `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
	Execute(t, s.Kit.DB.Pool, `create trigger refuse before `+operation+` on `+table+` for each row when (old.id = '`+id+`') execute function refuse()`)
	return func() { Execute(t, s.Kit.DB.Pool, `drop trigger refuse on `+table) }
}

// Together calls all functions at once and waits for them. It ends the test if one of them did not come to its end: what failed in
// it has said why.
func Together(t *testing.T, calls ...func()) {
	t.Helper()
	var all sync.WaitGroup
	var ended atomic.Int64
	start := make(chan struct{})
	for _, f := range calls {
		all.Go(func() { <-start; f(); ended.Add(1) })
	}
	close(start)
	all.Wait()
	require.EqualValues(t, len(calls), ended.Load(), "a call has failed")
}

// Appointment sends a change of an appointment in booking's name and returns its id: a new one unless one is given.
func Appointment(s *apptest.Service, kind string, version int64, contact, status string, starts time.Time, ids ...string) string {
	id := uuid.NewString()
	if len(ids) > 0 {
		id = ids[0]
	}
	type object = map[string]any
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: id, Version: version,
		Actor: &proto.Actor{Channel: db.ChannelBooking, Label: "Ann Visitor"},
		Data: object{"id": id, "status": status, "service": object{"id": uuid.NewString(), "name": "Haircut"}, "staff": object{"user_id": 7, "name": "Bo"},
			"contact": object{"id": contact, "name": "x"}, "starts_at": starts, "ends_at": starts.Add(time.Hour)}})
	return id
}

// Finished waits until an import is completed.
func Finished(s *apptest.Service, c *apptest.Client, id string) *apptest.Answer {
	var a *apptest.Answer
	s.Eventually(func() bool { a = c.Get("/imports/" + id).Is(200); return a.Text("status") == "completed" })
	return a
}
