package contacts

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func ensure(s *apptest.Service, m *proto.EnsureContact) {
	if m.ContactId == "" {
		m.ContactId = uuid.NewString()
	}
	m.Origin, m.OriginId = "submission", uuid.NewString()
	command(s, m)
}

// command sends m as it is.
func command(s *apptest.Service, m *proto.EnsureContact) { commandAt(s, m, s.Now()) }

// commandAt sends m as it was sent at another time.
func commandAt(s *apptest.Service, m *proto.EnsureContact, at time.Time) {
	s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: m.Email, At: at,
		Actor: &proto.Actor{Channel: db.ChannelForm, Label: "Ann Visitor"}, Data: m})
	s.Settle()
}

func answers(t *testing.T, s *apptest.Service, requested string) (all []*proto.Ensured) {
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetKind() == proto.KindContactEnsured {
			x := &proto.Ensured{}
			require.NoError(t, protojson.Unmarshal(e.GetExtra(), x))
			if x.GetRequestedId() == requested {
				all = append(all, x)
			}
		}
	}
	return all
}

func TestWhatAVisitorLeaves(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("what makes no contact belongs to who has the address when it is handled", func(t *testing.T) {
		contactstest.Afresh(t, s)
		early, late := &proto.EnsureContact{Email: "ann@example.com"}, &proto.EnsureContact{Email: "ann@example.com"}
		ensure(s, early)
		made := s.As("svc_admin").Post("/contacts", map[string]any{"email": "ann@example.com"}).Is(201).Text("id")
		ensure(s, late)
		require.Empty(t, answers(t, s, early.ContactId)[0].GetContactId())
		require.Equal(t, made, answers(t, s, late.ContactId)[0].GetContactId())
	})
	t.Run("a visitor becomes a contact", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		m := &proto.EnsureContact{Email: "ann@example.com", FirstName: "Ann", Status: "customer", Source: "form", Tags: []string{"web"}, Create: true,
			Consents: []*proto.Consent{{Purpose: "privacy", Text: "I agree."}}}
		ensure(s, m)
		c := admin.Get("/contacts/" + m.ContactId).Is(200)
		require.Equal(t, "customer", c.Text("status"))
		require.Equal(t, []any{"web"}, c.Field("tags"))
		entry := admin.Get("/contacts/" + m.ContactId + "/activities").Is(200).Items()[0]
		require.Equal(t, "form", entry["channel"])
		require.Equal(t, "Ann Visitor", entry["actor_label"])
		require.Nil(t, entry["user_id"])
		consent := admin.Get("/contacts/" + m.ContactId + "/consents").Is(200).Items()[0]
		require.Equal(t, "I agree.", consent["text"])
		require.Equal(t, false, consent["verified"])
		got := answers(t, s, m.ContactId)
		require.Equal(t, "created "+m.ContactId+" for submission "+m.OriginId, got[0].GetResult()+" "+got[0].GetContactId()+" for "+got[0].GetOrigin()+" "+got[0].GetOriginId())
		require.Len(t, got, 1)
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactEnsured}, s.Kinds(proto.ContactTopic, m.ContactId))

		again := &proto.EnsureContact{Email: "ANN@example.com", FirstName: "Other", LastName: "Visitor", Tags: []string{"two"}, Create: true}
		ensure(s, again)
		c = admin.Get("/contacts/" + m.ContactId).Is(200)
		require.Equal(t, "Ann", c.Text("first_name"), "an existing contact is never overwritten")
		require.Equal(t, "Visitor", c.Text("last_name"))
		require.Equal(t, []any{"web", "two"}, c.Field("tags"))
		admin.Get("/contacts/"+again.ContactId).Fails(404, "svc_not_found")
		require.Equal(t, "updated", answers(t, s, again.ContactId)[0].Result)
		require.Equal(t, m.ContactId, answers(t, s, again.ContactId)[0].GetContactId())

		third := &proto.EnsureContact{Email: "ann@example.com", FirstName: "Ann", Create: true}
		ensure(s, third)
		require.Equal(t, "unchanged", answers(t, s, third.ContactId)[0].Result)

		nobody := &proto.EnsureContact{Email: "nobody@example.com"}
		ensure(s, nobody)
		require.Equal(t, "none", answers(t, s, nobody.ContactId)[0].Result)
		require.EqualValues(t, 1, admin.Get("/contacts").Is(200).Field("total"))
	})
	t.Run("a command that comes again is answered as before and changes nothing", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		m := &proto.EnsureContact{Email: "ann@example.com", FirstName: "Ann", Create: true, Consents: []*proto.Consent{{Purpose: "privacy", Text: "I agree."}}}
		ensure(s, m)
		none := &proto.EnsureContact{Email: "bob@example.com"}
		ensure(s, none)
		path := "/contacts/" + m.ContactId
		admin.Patch(path, map[string]any{"mode": "overwrite", "first_name": "", "last_name": "Renamed"}).Is(200)
		command(s, m)
		command(s, none)
		require.Len(t, admin.Get(path+"/consents").Is(200).Items(), 1)
		require.Equal(t, "", admin.Get(path).Is(200).Text("first_name"), "what the team took away stays away")
		again := answers(t, s, m.ContactId)
		require.Len(t, again, 2)
		require.Equal(t, again[0].String(), again[1].String())
		require.Len(t, answers(t, s, none.ContactId), 2)

		winner := admin.Post("/contacts", map[string]any{"first_name": "Winner"}).Is(201).Text("id")
		admin.Post("/contacts/"+winner+"/merge", map[string]any{"other_id": m.ContactId}).Is(200)
		command(s, m)
		require.True(t, slices.ContainsFunc(answers(t, s, m.ContactId), func(x *proto.Ensured) bool { return x.GetContactId() == winner }), "it has become another contact since")
		before := s.Now()
		s.As("site_admin").Post("/privacy/erase", map[string]any{"email": "ann@example.com"}).Is(200)
		commandAt(s, m, before)
		var kept int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from answered where origin_id = $1`, m.OriginId).Scan(&kept))
		require.Zero(t, kept)
	})
	t.Run("a booking reaches the timeline once whatever comes first", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		existing := admin.Post("/contacts", object{"email": "ann@example.com"}).Is(201).Text("id")

		// The appointment is here before the contact, and the contact turns out to be another one.
		requested := uuid.NewString()
		starts := s.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		id := contactstest.Appointment(s, proto.KindAppointmentBooked, 1, requested, "confirmed", starts)
		s.Settle()
		ensure(s, &proto.EnsureContact{ContactId: requested, Email: "ann@example.com", FirstName: "Ann", Create: true})
		s.Send(apptest.Event{ID: uuid.NewString(), Topic: proto.AppointmentTopic, Kind: proto.KindAppointmentUpdated, Key: id, Version: 1, Data: object{"id": id,
			"contact": object{"id": requested}, "status": "confirmed", "starts_at": starts, "ends_at": starts}})
		contactstest.Appointment(s, proto.KindAppointmentCancelled, 2, requested, "cancelled", starts, id)
		s.Settle()
		items := admin.Get("/contacts/" + existing + "/activities").Is(200).Items()
		require.Len(t, items, 4)
		require.Equal(t, "Appointment cancelled: Haircut", items[0]["subject"])
		require.Equal(t, "booking", items[0]["channel"])
		require.Equal(t, "Ann Visitor", items[0]["actor_label"])
		require.Equal(t, "Appointment booked: Haircut", items[2]["subject"].(string), "%v", items)
	})
}
