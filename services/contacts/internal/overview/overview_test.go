package overview_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/overview"
)

type object = map[string]any

// start runs the room above those by which contacts are made.
func start(t *testing.T) *apptest.Service {
	t.Helper()
	return contactstest.Start(t, func(k *app.Kit, set *op.Set) app.Room {
		r := overview.New(k)
		r.Overview(set)
		return app.Room{Name: "overview", Parts: r.Parts()}
	})
}

func TestOverviewSumsUpWhatOneMaySee(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	c := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	mine := own.Post("/contacts", object{"first_name": "Mine"}).Is(201).Text("id")
	inAMinute := func() time.Time { return s.Now().Add(time.Minute).In(s.Kit.Config.Zone) }
	if inAMinute().Day() != s.Now().In(s.Kit.Config.Zone).Day() {
		s.Travel(2 * time.Minute)
	}
	soon := inAMinute().UTC().Truncate(time.Second)
	contactstest.Appointment(s, proto.KindAppointmentBooked, 1, c, "confirmed", soon)
	contactstest.Appointment(s, proto.KindAppointmentBooked, 1, c, "cancelled", soon)
	for i := range 6 {
		contactstest.Appointment(s, proto.KindAppointmentBooked, 1, c, "pending", soon.Add(time.Duration(i+2)*24*time.Hour))
	}
	s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: uuid.NewString(), Version: 1, Data: object{"id": uuid.NewString(),
		"form": object{"id": 3, "name": "Contact"}, "status": "received", "contact": object{"id": mine}, "created_at": s.Now().UTC().Truncate(time.Second)}})
	s.Settle()
	o := admin.Get("/overview").Is(200)
	require.EqualValues(t, 1, o.Field("today.total"))
	require.EqualValues(t, 1, o.Field("today.remaining"))
	require.Equal(t, "Ann", o.Text("today.items.0.contact.name"))
	require.EqualValues(t, 6, o.Field("requests.total"))
	require.Len(t, o.Field("requests.items"), 5)
	require.EqualValues(t, 2, o.Field("new_contacts"))
	require.EqualValues(t, 1, o.Field("submissions"))
	require.Len(t, o.Field("activity"), 10)
	o = own.Get("/overview").Is(200)
	require.EqualValues(t, 0, o.Field("today.total"))
	require.EqualValues(t, 0, o.Field("requests.total"))
	require.EqualValues(t, 1, o.Field("new_contacts"))
	require.EqualValues(t, 1, o.Field("submissions"))
	require.Len(t, o.Field("activity"), 2)
	require.Equal(t, "Form submitted: Contact", o.Text("activity.0.subject"))
	s.SetApp("booking", false)
	require.EqualValues(t, 0, admin.Get("/overview").Is(200).Field("requests.total"))
}
