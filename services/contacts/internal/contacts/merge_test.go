package contacts

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
	"frontdesk/services/contacts/internal/timeline"
)

func TestWhatAContactTakesAlong(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("contacts merge", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		field := admin.Post("/fields", object{"entity": "contact", "type": "number", "label": "Size"}).Is(201).Text("key")
		one := admin.Post("/contacts", object{"first_name": "Ann", "tags": []string{"a"}, "fields": object{field: 1}}).Is(201).Text("id")
		two := admin.Post("/contacts", object{"first_name": "Anna", "last_name": "Bee", "email": "ann@example.com", "tags": []string{"b", "a"},
			"fields": object{field: 2}}).Is(201).Text("id")
		o := admin.Post("/organizations", object{"name": "O"}).Is(201).Text("id")
		admin.Put("/organizations/"+o+"/contacts/"+two, object{"role": "CEO", "is_primary": true}).Is(204)
		admin.Post("/contacts/"+two+"/notes", object{"body": "kept"}).Is(201)
		at := s.Now().Add(time.Hour).UTC().Truncate(time.Second)
		id := contactstest.Appointment(s, proto.KindAppointmentBooked, 1, two, "confirmed", at)
		s.Settle()
		admin.Post("/contacts/"+two+"/marketing/unsubscribe", nil).Is(200)
		admin.Post("/contacts/"+one+"/merge", object{"other_id": one}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts/"+one+"/merge", object{"other_id": uuid.NewString()}).Fails(404, "svc_not_found")
		own.Post("/contacts/"+one+"/merge", object{"other_id": two}).Fails(403, "svc_forbidden")

		c := admin.Post("/contacts/"+one+"/merge", object{"other_id": two}).Is(200)
		require.Equal(t, "Ann", c.Text("first_name"))
		require.Equal(t, "Bee", c.Text("last_name"))
		require.Equal(t, "ann@example.com", c.Text("email"))
		require.Equal(t, "unsubscribed", c.Text("marketing"))
		require.Equal(t, []any{"a", "b"}, c.Field("tags"))
		require.EqualValues(t, 1, c.Field("fields."+field))
		require.Equal(t, "CEO", c.Text("organization.role"))
		admin.Get("/contacts/"+two).Fails(404, "svc_not_found")
		items := admin.Get("/contacts/" + one + "/activities").Is(200).Items()
		require.Equal(t, "merged", items[0]["type"])
		require.Equal(t, object{"first_name": "Anna", "fields.size": 2.0}, items[0]["data"].(object)["values"])
		bodies := []any{}
		for _, e := range items {
			bodies = append(bodies, e["body"], e["subject"])
		}
		require.Contains(t, bodies, "kept")
		require.Contains(t, bodies, "Appointment booked: Haircut")

		// What still arrives for the other belongs to this one.
		contactstest.Appointment(s, proto.KindAppointmentCancelled, 2, two, "cancelled", at, id)
		s.Settle()
		require.Equal(t, "Appointment cancelled: Haircut", admin.Get("/contacts/"+one+"/activities").Is(200).Text("items.0.subject"))
		kinds := s.Kinds(proto.ContactTopic, one)
		require.Equal(t, proto.KindContactMerged, kinds[len(kinds)-1])
		for _, e := range s.Events(proto.ContactTopic) {
			if e.GetKind() == proto.KindContactMerged {
				require.JSONEq(t, `{"merged_id": "`+two+`"}`, string(e.GetExtra()))
			}
		}
		require.EqualValues(t, 1, admin.Get("/contacts").Is(200).Field("total"))

		require.Equal(t, one, mergedInto(t, s, two))
		// Whoever sees only the last event of each key finds the survivor in one step.
		three := admin.Post("/contacts", object{"first_name": "Third"}).Is(201).Text("id")
		admin.Post("/contacts/"+three+"/merge", object{"other_id": one}).Is(200)
		require.Equal(t, three, mergedInto(t, s, one))
		require.Equal(t, three, mergedInto(t, s, two))

		// Erased, all of its ids say so.
		admin.Patch("/contacts/"+three, object{"mode": "overwrite", "email": "three@example.com"}).Is(200)
		admin.Post("/privacy/erase", object{"email": "three@example.com"}).Is(200)
		for id, state := range map[string]bool{one: true, two: true, three: false} {
			e := lastEvent(t, s, id)
			require.Equal(t, proto.KindContactErased, e.GetKind())
			require.Equal(t, state, e.GetState(), "it was one person, who left once")
			require.JSONEq(t, `{"id": "`+id+`"}`, string(e.GetData()))
		}
	})
	t.Run("an event makes one entry at its time and state makes none", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		c := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
		s.Travel(time.Hour)
		at := s.Now().UTC().Truncate(time.Second)
		booked := apptest.Event{ID: uuid.NewString(), Topic: proto.AppointmentTopic, Kind: proto.KindAppointmentBooked, Key: uuid.NewString(), Version: 1}
		booked.Data = object{"id": booked.Key, "status": "confirmed", "contact": object{"id": c}, "starts_at": at, "ends_at": at}
		s.Send(booked)
		s.Settle()
		// A lost log was read again after the inbox had dropped the event.
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from inbox`)
		require.NoError(t, err)
		s.Send(booked)
		state := booked
		state.ID, state.State, state.Kind = "", true, proto.KindAppointmentCancelled
		state.Data = object{"id": booked.Key, "status": "cancelled", "contact": object{"id": c}, "starts_at": at, "ends_at": at}
		s.Send(state)
		s.Settle()
		items := admin.Get("/contacts/" + c + "/activities").Is(200).Items()
		require.Len(t, items, 2)
		require.Equal(t, "Appointment booked", items[0]["subject"])
		var status string
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select status from appointment`).Scan(&status))
		require.Equal(t, "cancelled", status)
	})
	t.Run("a new copy of a full topic has a timeline of its times", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		c := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
		at := s.Now().Add(-30 * 24 * time.Hour).UTC().Truncate(time.Second)
		id := uuid.NewString()
		for i, kind := range []string{proto.KindAppointmentBooked, proto.KindAppointmentCancelled} {
			s.Send(apptest.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: id, Version: int64(i + 1), At: at.Add(time.Duration(i) * time.Hour),
				Data: object{"id": id, "status": "cancelled", "contact": object{"id": c}, "starts_at": at, "ends_at": at}})
		}
		s.Settle()
		items := admin.Get("/contacts/" + c + "/activities").Is(200).Items()
		require.Len(t, items, 3)
		require.Equal(t, []any{timeline.Created, "Appointment cancelled", "Appointment booked"}, []any{items[0]["type"], items[1]["subject"], items[2]["subject"]})
		require.Equal(t, at.Add(time.Hour).Format(time.RFC3339), items[1]["created_at"])
		require.Equal(t, items[0]["created_at"], admin.Get("/contacts/"+c).Is(200).Text("last_activity"), "history is older than what is there")
	})
}

// lastEvent is the last event of a contact, which must not be a tombstone.
func lastEvent(t *testing.T, s *apptest.Service, id string) (last *proto.Envelope) {
	t.Helper()
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetRecordId() == id {
			last = e
		}
	}
	require.NotNil(t, last)
	require.NotEqual(t, "tombstone", last.GetKind())
	return last
}

// mergedInto is the contact that another was merged into, by the other's last event, which names nobody.
func mergedInto(t *testing.T, s *apptest.Service, id string) string {
	t.Helper()
	e := lastEvent(t, s, id)
	require.Equal(t, proto.KindContactMergedAway, e.GetKind())
	require.JSONEq(t, `{"id": "`+id+`"}`, string(e.GetData()))
	require.Empty(t, e.GetActor().GetLabel())
	var x proto.MergedAway
	require.NoError(t, bus.Event{Kind: e.GetKind(), Extra: e.GetExtra()}.DecodeExtra(&x))
	return x.GetInto()
}

func TestAfterALongAbsenceACopyHasNothingThatItsTopicHasNot(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	c := s.As("svc_admin").Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	booked := contactstest.Appointment(s, proto.KindAppointmentBooked, 1, c, "confirmed", s.Now().UTC().Truncate(time.Second))
	sent := uuid.NewString()
	s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: sent, Version: 1,
		Data: object{"id": sent, "status": "received", "form": object{"id": 1, "name": "F"}, "created_at": s.Now().UTC().Truncate(time.Second)}})
	s.Settle()
	// What the topics had before they were compacted.
	for _, q := range []string{`insert into appointment (select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).* from appointment a)`,
		`insert into submission (select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).* from submission s)`} {
		_, err := s.Kit.DB.Pool.Exec(t.Context(), q)
		require.NoError(t, err)
	}
	require.Equal(t, map[string][]string{proto.AppointmentTopic: {booked}, proto.SubmissionTopic: {sent}}, s.Absent())
}

func TestNothingIsLeftOfAPersonWhoIsErased(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.With("Idempotency-Key", "k1").Post("/contacts", object{"first_name": "Zebulon", "last_name": "Quist", "email": "Zeb@Quist.example"}).Is(201).Text("id")
	trashed := admin.Post("/contacts", object{"first_name": "Zebulon", "last_name": "Quist", "email": "zeb2@quist.example"}).Is(201).Text("id")
	admin.Patch("/contacts/"+trashed, object{"mode": "overwrite", "email": "other@quist.example"}).Is(200)
	admin.Delete("/contacts/"+trashed, nil).Is(204)
	other := admin.Post("/contacts", object{"first_name": "Other", "email": "was@quist.example"}).Is(201).Text("id")
	admin.Patch("/contacts/"+other, object{"mode": "overwrite", "email": "is@example.com"}).Is(200)
	admin.Post("/contacts/"+id+"/notes", object{"body": "Zebulon called"}).Is(201)
	admin.Post("/contacts/"+id+"/marketing/request", nil).Is(200)
	o := admin.Post("/organizations", object{"name": "O"}).Is(201).Text("id")
	admin.Put("/organizations/"+o+"/contacts/"+id, nil).Is(204)
	file := admin.With("Idempotency-Key", "k2").Post("/imports", object{"file_name": "x.csv",
		"csv": "email,first name,last name\nzeb@quist.example,A,B\nkeep@example.com,Keep,Me\n,Zebulon,Quist\n"}).Is(201).Text("id")
	contactstest.Appointment(s, proto.KindAppointmentBooked, 1, id, "confirmed", s.Now().UTC().Truncate(time.Second))
	s.Settle()
	data := admin.Post("/privacy/personal-data", object{"email": "ZEB@quist.example"}).Is(200)
	require.Len(t, data.Field("contacts"), 1)
	require.Equal(t, id, data.Text("contacts.0.contact.id"))
	require.Equal(t, "O", data.Text("contacts.0.organizations.0.name"))
	require.Len(t, data.Field("contacts.0.appointments"), 1)

	require.EqualValues(t, 1, admin.Post("/privacy/erase", object{"email": "zeb@QUIST.example"}).Is(200).Field("erased"))
	require.EqualValues(t, 1, admin.Post("/privacy/erase", object{"email": "other@quist.example"}).Is(200).Field("erased"))
	require.EqualValues(t, 0, admin.Post("/privacy/erase", object{"email": "was@quist.example"}).Is(200).Field("erased"))
	admin.Get("/contacts/"+id).Fails(404, "svc_not_found")
	require.Equal(t, "null\n", admin.Post("/privacy/personal-data", object{"email": "zeb@quist.example"}).Is(200).Body)
	kinds := s.Kinds(proto.ContactTopic, id)
	require.Equal(t, proto.KindContactErased, kinds[len(kinds)-1])
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetKind() == proto.KindContactErased && e.GetRecordId() == id {
			require.JSONEq(t, `{"id": "`+id+`"}`, string(e.GetData()))
		}
	}
	preview := admin.Get("/imports/" + file).Is(200)
	require.Equal(t, []any{[]any{"", "", ""}, []any{"keep@example.com", "Keep", "Me"}, []any{"", "", ""}}, preview.Field("preview"))
	s.Settle()
	for _, word := range []string{"zeb", "quist"} {
		require.Empty(t, tablesWith(t, s, word), word)
	}

	// What was still on its way does not bring the person back.
	contactstest.Appointment(s, proto.KindAppointmentCancelled, 2, id, "cancelled", s.Now().UTC().Truncate(time.Second))
	s.Settle()
	require.Len(t, admin.Get("/organizations/"+o+"/activities").Is(200).Items(), 1)
}

func TestTheTrashIsEmptiedInTime(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.SetSite("privacy", object{"retention": object{"deleted_contacts": 30}})
	admin := s.As("svc_admin")
	id := admin.Post("/contacts", object{"email": "a@example.com"}).Is(201).Text("id")
	admin.Delete("/contacts/"+id, nil).Is(204)
	empty := func() {
		for _, j := range s.Parts.Jobs {
			if j.Name == "trash" {
				require.NoError(t, j.Run(t.Context()))
			}
		}
	}
	s.Travel(29 * 24 * time.Hour)
	empty()
	admin.Get("/contacts/" + id).Is(200)
	s.Travel(2 * 24 * time.Hour)
	empty()
	admin.Get("/contacts/"+id).Fails(404, "svc_not_found")
	kinds := s.Kinds(proto.ContactTopic, id)
	require.Equal(t, proto.KindContactErased, kinds[len(kinds)-1])
}
