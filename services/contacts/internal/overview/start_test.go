package overview_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/overview"
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
		tags := tag.New(k, fields)
		subscriptions := marketing.New(k)
		finder := search.New(k, fields)
		team := people.New(k, fields, subscriptions)
		sums := overview.New(k)
		team.Contacts(set)
		sums.Overview(set)
		return []app.Room{{Name: "field", Parts: fields.Parts()}, {Name: "timeline", Parts: timeline.New(k).Parts()}, {Name: "contact", Parts: contact.New(k).Parts()}, {Name: "copies", Parts: copies.New(k).Parts()}, {Name: "tag", Parts: tags.Parts()}, {Name: "marketing", Parts: subscriptions.Parts(nil)}, {Name: "search", Parts: finder.Parts()}}
	})
}

// appointment sends a change of an appointment in booking's name and gives its id.
func appointment(s *apptest.Service, kind string, version int64, contact, status string, starts time.Time, ids ...string) string {
	id := uuid.NewString()
	if len(ids) > 0 {
		id = ids[0]
	}
	s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: id, Version: version,
		Actor: &proto.Actor{Channel: db.ChannelBooking, Label: "Ann Visitor"},
		Data: object{"id": id, "status": status, "service": object{"id": uuid.NewString(), "name": "Haircut"}, "staff": object{"user_id": 7, "name": "Bo"},
			"contact": object{"id": contact, "name": "x"}, "starts_at": starts, "ends_at": starts.Add(time.Hour)}})
	return id
}
