package contacts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestOfChangesAtOnceOneWins(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("of a hundred creates of one address one wins", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		answers := make([]*apptest.Answer, 100)
		var calls []func()
		for i := range answers {
			calls = append(calls, func() {
				answers[i] = admin.Post("/contacts", object{"email": "One@example.com", "tags": []string{"a", "b"}})
			})
		}
		contactstest.Together(t, calls...)
		id := ""
		for _, a := range answers {
			if a.Status == 201 {
				require.Empty(t, id, "a second one was created")
				id = a.Text("id")
			}
		}
		require.NotEmpty(t, id)
		for _, a := range answers {
			if a.Status != 201 {
				a.Fails(409, "svc_duplicate")
				require.Equal(t, id, a.Text("data.id"))
			}
		}
		require.EqualValues(t, 1, admin.Get("/contacts").Is(200).Field("total"))
		require.Equal(t, []string{proto.KindContactCreated}, s.Kinds(proto.ContactTopic, id))
	})
	t.Run("restoring meets a new contact with the address", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		for i := range 10 {
			email := fmt.Sprintf("n%d@example.com", i)
			id := admin.Post("/contacts", object{"email": email}).Is(201).Text("id")
			admin.Delete("/contacts/"+id, nil).Is(204)
			var restored, created *apptest.Answer
			contactstest.Together(t, func() { restored = admin.Post("/contacts/"+id+"/restore", nil) },
				func() { created = admin.Post("/contacts", object{"email": email}) })
			statuses := fmt.Sprint(restored.Status, " ", created.Status)
			require.Contains(t, []string{"200 409", "409 201"}, statuses, restored.Body+created.Body)
			require.Len(t, admin.Get("/contacts?search="+email[:len(email)-4]).Is(200).Items(), 1)
		}
	})
	t.Run("a merge meets everything else", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		const rounds = 6
		for i := range rounds {
			email := fmt.Sprintf("loser%d@example.com", i)
			winner := admin.Post("/contacts", object{"first_name": "Winner"}).Is(201).Text("id")
			loser := admin.Post("/contacts", object{"email": email, "last_name": "Loser"}).Is(201).Text("id")
			file := admin.Post("/imports", object{"file_name": "x", "csv": "email,phone\n" + email + ",12345\n"}).Is(201).Text("id")
			at := s.Now().Add(time.Hour).UTC().Truncate(time.Second)
			var merged, updated, noted *apptest.Answer
			contactstest.Together(t,
				func() { merged = admin.Post("/contacts/"+winner+"/merge", object{"other_id": loser}) },
				func() { updated = admin.Patch("/contacts/"+loser, object{"phone": "99999"}) },
				func() { noted = admin.Post("/contacts/"+loser+"/notes", object{"body": "noted"}) },
				func() { admin.Post("/imports/"+file+"/start", nil).Is(200) },
				func() { contactstest.Appointment(s, proto.KindAppointmentBooked, 1, loser, "confirmed", at) },
				func() {
					ensureAt(s, &proto.EnsureContact{ContactId: uuid.NewString(), Email: email, FirstName: "Visitor", Create: true})
				},
			)
			merged.Is(200)
			require.Contains(t, []int{200, 404}, updated.Status)
			require.Contains(t, []int{201, 404}, noted.Status)
			contactstest.Finished(s, admin, file)
			s.Settle()
			list := admin.Get("/contacts?search=loser" + fmt.Sprint(i) + "%40").Is(200)
			require.Len(t, list.Items(), 1)
			require.Equal(t, winner, list.Text("items.0.id"), "the import and the visitor found the winner")
			require.NotEmpty(t, list.Text("items.0.phone"))
			items := admin.Get("/contacts/" + winner + "/activities?per_page=100").Is(200).Items()
			types := map[any]int{}
			for _, e := range items {
				types[e["type"]]++
			}
			require.Equal(t, 1, types["appointment"])
			require.Equal(t, 1, types["merged"])
			require.Equal(t, map[int]int{201: 1}[noted.Status], types["note"])
		}
		var stray int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from activity a where contact_id is not null
			and not exists (select from contact c where c.id = a.contact_id)`).Scan(&stray))
		require.Zero(t, stray, "entries of contacts that are gone")
	})
}

func TestAnEraseMeetsEverythingElse(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	for i := range 6 {
		email := fmt.Sprintf("zebulon%d@example.com", i)
		id := admin.Post("/contacts", object{"email": email}).Is(201).Text("id")
		other := admin.Post("/contacts", object{"first_name": "Other"}).Is(201).Text("id")
		file := admin.Post("/imports", object{"file_name": "x", "csv": "email,phone\n" + email + ",12345\nkeep" + fmt.Sprint(i) + "@example.com,1\n"}).Is(201).Text("id")
		admin.Post("/imports/"+file+"/start", nil).Is(200)
		var erased, merged *apptest.Answer
		contactstest.Together(t,
			func() { erased = admin.Post("/privacy/erase", object{"email": email}) },
			func() { merged = admin.Post("/contacts/"+other+"/merge", object{"other_id": id}) },
			func() { admin.Patch("/contacts/"+id, object{"phone": "99999"}) },
			func() {
				contactstest.Appointment(s, proto.KindAppointmentBooked, 1, id, "confirmed", s.Now().UTC().Truncate(time.Second))
			},
			func() {
				s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: email, At: s.Now().Add(-time.Minute),
					Data: &proto.EnsureContact{ContactId: uuid.NewString(), Email: email, Phone: "12345", Create: true, Origin: "submission", OriginId: uuid.NewString()}})
			},
		)
		erased.Is(200)
		require.Contains(t, []int{200, 404}, merged.Status, merged.Body)
		contactstest.Finished(s, admin, file)
		s.Settle()
		require.EqualValues(t, 1, erased.Field("erased"))
		require.Empty(t, admin.Get("/contacts?search=zebulon"+fmt.Sprint(i)+"%40").Is(200).Items())
		require.Len(t, admin.Get("/contacts?search=keep"+fmt.Sprint(i)+"%40").Is(200).Items(), 1)
	}
	s.Settle()
	require.Empty(t, tablesWith(t, s, "zebulon"))
}

// ensureAt sends a command without waiting for its effect.
func ensureAt(s *apptest.Service, m *proto.EnsureContact) {
	m.Origin, m.OriginId = "appointment", uuid.NewString()
	s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: strings.ToLower(m.Email),
		Actor: &proto.Actor{Channel: "booking", Label: "Visitor"}, Data: m})
}
