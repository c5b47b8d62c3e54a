package contacts

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestOperationsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops)
}

func TestWhatAContactIs(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("a contact is created with its values in their stored form", func(t *testing.T) {
		afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		a := admin.Post("/contacts", object{"first_name": " Zoë ", "last_name": "De  Wit", "email": "Zoe@Example.COM", "phone": "0470 12 34 56",
			"source": "fair", "owner_user_id": admin.UserID, "tags": []string{"VIP", "vip", "New client"}}).Is(201)
		require.Equal(t, "Zoë", a.Text("first_name"))
		require.Equal(t, "De Wit", a.Text("last_name"))
		require.Equal(t, "Zoe@example.com", a.Text("email"))
		require.Equal(t, "+32470123456", a.Text("phone"))
		require.Equal(t, "lead", a.Text("status"))
		require.Equal(t, "none", a.Text("marketing"))
		require.Equal(t, []any{"VIP", "New client"}, a.Field("tags"))
		require.Equal(t, object{}, a.Field("fields"))
		require.Nil(t, a.Field("organization"))
		require.NotNil(t, a.Field("last_activity"))
		require.Nil(t, a.Field("deleted_at"))
		id := a.Text("id")
		require.Equal(t, a.Map(), admin.Get("/contacts/"+id).Is(200).Map())

		entry := admin.Get("/contacts/" + id + "/activities").Is(200).Items()[0]
		require.Equal(t, "created", entry["type"])
		require.Equal(t, "api", entry["channel"])
		require.Equal(t, fmt.Sprintf("key of user %d", admin.UserID), entry["actor_label"])
		require.Equal(t, object{"old": nil, "new": "Zoë"}, entry["data"].(object)["first_name"])
		require.Equal(t, []string{proto.KindContactCreated}, s.Kinds(proto.ContactTopic, id))
		require.Equal(t, []any{object{"name": "New client", "slug": "new-client", "changing": nil}, object{"name": "VIP", "slug": "vip", "changing": nil}}, admin.Get("/tags").Is(200).Field("items"))
	})
	t.Run("a contact needs something to be called by", func(t *testing.T) {
		afresh(t, s)
		admin := s.As("svc_admin")
		admin.Post("/contacts", object{"source": "x"}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts", object{"first_name": "  "}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts", object{"email": "no address"}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts", object{"first_name": "A", "owner_user_id": 99999}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts", object{"first_name": "A", "fields": object{"size": 1}}).Fails(400, "svc_invalid_param")
		admin.Post("/contacts", object{"first_name": "A", "marketing": "subscribed"}).Fails(400, "svc_invalid_param")
		id := admin.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
		admin.Patch("/contacts/"+id, object{"mode": "overwrite", "first_name": ""}).Fails(400, "svc_invalid_param")
		admin.Patch("/contacts/"+id, object{"mode": "overwrite", "status": nil}).Fails(400, "svc_invalid_param")
	})
	t.Run("an address belongs to one contact", func(t *testing.T) {
		afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		id := admin.Post("/contacts", object{"email": "a@example.com"}).Is(201).Text("id")
		a := admin.Post("/contacts", object{"email": "A@EXAMPLE.com", "tags": []string{"x"}}).Fails(409, "svc_duplicate")
		require.Equal(t, id, a.Text("data.id"))
		a = own.Post("/contacts", object{"email": "a@example.com"}).Fails(409, "svc_duplicate")
		require.Nil(t, a.Field("data.id"))
		require.Equal(t, []any{object{"id": id}}, admin.Post("/contacts/duplicates", object{"email": "A@example.com"}).Is(200).Field("items"))
		require.Equal(t, []any{object{"id": nil}}, own.Post("/contacts/duplicates", object{"email": "a@example.com"}).Is(200).Field("items"))
		require.Equal(t, []any{}, admin.Post("/contacts/duplicates", object{"email": "b@example.com"}).Is(200).Field("items"))

		other := admin.Post("/contacts", object{"first_name": "B"}).Is(201).Text("id")
		admin.Patch("/contacts/"+other, object{"email": "a@example.com"}).Fails(409, "svc_duplicate")
		admin.Delete("/contacts/"+id, nil).Is(204)
		admin.Patch("/contacts/"+other, object{"email": "a@example.com"}).Is(200)
		a = admin.Post("/contacts/"+id+"/restore", nil).Fails(409, "svc_duplicate")
		require.Equal(t, other, a.Text("data.id"))
	})
	t.Run("the trash keeps and gives back", func(t *testing.T) {
		afresh(t, s)
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "A", "tags": []string{"x"}}).Is(201).Text("id")
		admin.Post("/contacts/"+id+"/restore", nil).Fails(409, "svc_invalid_status")
		admin.Delete("/contacts/"+id, nil).Is(204)
		require.NotNil(t, admin.Get("/contacts/"+id).Is(200).Field("deleted_at"))
		require.Empty(t, admin.Get("/contacts").Is(200).Items())
		require.Len(t, admin.Get("/contacts?include_deleted=true").Is(200).Items(), 1)
		admin.Patch("/contacts/"+id, object{"last_name": "B"}).Fails(409, "svc_invalid_status")
		admin.Delete("/contacts/"+id, nil).Fails(409, "svc_invalid_status")
		admin.Post("/contacts/"+id+"/notes", object{"body": "x"}).Fails(409, "svc_invalid_status")
		a := admin.Post("/contacts/"+id+"/restore", nil).Is(200)
		require.Nil(t, a.Field("deleted_at"))
		require.Equal(t, []any{"x"}, a.Field("tags"))
		require.Equal(t, []string{proto.KindContactCreated, proto.KindContactDeleted, proto.KindContactRestored}, s.Kinds(proto.ContactTopic, id))
	})
	t.Run("a note is plain text in the timeline", func(t *testing.T) {
		afresh(t, s)
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "A"}).Is(201).Text("id")
		n := admin.Post("/contacts/"+id+"/notes", object{"body": "called <b>twice</b>\nno answer"}).Is(201)
		require.Equal(t, "called <b>twice</b>\nno answer", n.Text("body"))
		require.Equal(t, "note", n.Text("type"))
		require.Equal(t, object{"id": id, "name": "A"}, n.Field("contact"))
		admin.Post("/contacts/"+id+"/notes", object{"body": " \n"}).Fails(400, "svc_invalid_param")
		a := admin.Get("/contacts/" + id + "/activities?per_page=1").Is(200)
		require.Equal(t, "note", a.Text("items.0.type"))
		require.EqualValues(t, 2, a.Field("total"))
		a = admin.Get("/contacts/" + id + "/activities?per_page=1&cursor=" + a.Text("next_cursor")).Is(200)
		require.Equal(t, "created", a.Text("items.0.type"))
		require.Nil(t, a.Field("next_cursor"))
	})
}

func TestAPatchFillsOrOverwrites(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	id := admin.Post("/contacts", object{"first_name": "A", "tags": []string{"one"}}).Is(201).Text("id")
	a := admin.Patch("/contacts/"+id, object{"first_name": "B", "last_name": "C", "status": "customer", "tags": []string{"two"}}).Is(200)
	require.Equal(t, "A", a.Text("first_name"))
	require.Equal(t, "C", a.Text("last_name"))
	require.Equal(t, "lead", a.Text("status"))
	require.Equal(t, []any{"one", "two"}, a.Field("tags"))
	a = admin.Patch("/contacts/"+id, object{"mode": "overwrite", "first_name": "B", "last_name": "", "status": "customer", "tags": []string{"two"}}).Is(200)
	require.Equal(t, "B", a.Text("first_name"))
	require.Equal(t, "", a.Text("last_name"))
	require.Equal(t, "customer", a.Text("status"))
	require.Equal(t, []any{"two"}, a.Field("tags"))
	admin.Patch("/contacts/"+id, object{"mode": "overwrite", "first_name": "B"}).Is(200)

	require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactUpdated}, s.Kinds(proto.ContactTopic, id), "what changes nothing is no event")
	for _, e := range s.Events(proto.ContactTopic) {
		if e.GetVersion() == 3 {
			require.Equal(t, []string{"first_name", "last_name", "status", "tags"}, e.GetChanged())
		}
	}
	entry := admin.Get("/contacts/" + id + "/activities").Is(200).Items()[0]
	require.Equal(t, object{"old": "lead", "new": "customer"}, entry["data"].(object)["status"])
	require.Equal(t, object{"old": []any{"one", "two"}, "new": []any{"two"}}, entry["data"].(object)["tags"])
	require.ElementsMatch(t, []string{"", `{"last_name":{"old":"","new":"C"},"tags":{"old":["one"],"new":["one","two"]}}`,
		`{"first_name":{"old":"A","new":"B"},"last_name":{"old":"C","new":""},"status":{"old":"lead","new":"customer"},"tags":{"old":["one","two"],"new":["two"]}}`}, s.Changes("update-contact"))
}

func TestWhichContactsAreFound(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	t.Run("search finds parts of names addresses and numbers", func(t *testing.T) {
		afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		id := admin.Post("/contacts", object{"first_name": "Zoë", "last_name": "Müller", "email": "zm_1@example.com", "phone": "0470 12 34 56"}).Is(201).Text("id")
		admin.Post("/contacts", object{"first_name": "Somebody", "last_name": "Else", "email": "zm11@example.org", "phone": "+31 20 555"}).Is(201)
		for _, q := range []string{"zoe", "ZOË", "muller zoë", "ülle", "zm_1", "example.com", "0470 12", "0470/12.34.56", "+32 470", "470123456", "123456"} {
			found := admin.Get("/contacts?search=" + url.QueryEscape(q)).Is(200)
			require.Len(t, found.Items(), 1, q)
			require.Equal(t, id, found.Text("items.0.id"), q)
			require.EqualValues(t, 1, found.Field("total"), q)
		}
		require.Empty(t, admin.Get("/contacts?search=zoe+else").Is(200).Items())
		require.Len(t, admin.Get("/contacts?search=+").Is(200).Items(), 2)
	})
	t.Run("filters of contacts hold together", func(t *testing.T) {
		afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/contacts", object{"first_name": "One", "status": "customer", "source": "fair", "tags": []string{"Été"}, "owner_user_id": admin.UserID}).Is(201).Text("id")
		two := admin.Post("/contacts", object{"first_name": "Two", "source": "web"}).Is(201).Text("id")
		at := s.Now().UTC().Truncate(time.Second)
		appointment(s, proto.KindAppointmentBooked, 1, two, "confirmed", at.Add(24*time.Hour))
		appointment(s, proto.KindAppointmentCancelled, 1, one, "cancelled", at.Add(24*time.Hour))
		s.Settle()
		stamp := func(d time.Duration) string { return url.QueryEscape(at.Add(d).Format(time.RFC3339)) }
		// Changes have the time of the database, which is the real one.
		later, earlier := url.QueryEscape(time.Now().UTC().Add(time.Hour).Format(time.RFC3339)), url.QueryEscape(time.Now().UTC().Add(-time.Hour).Format(time.RFC3339))
		for query, want := range map[string][]string{
			"status=customer":                    {one},
			"status=inactive":                    {},
			"marketing=none":                     {two, one},
			"tag=ete":                            {one},
			"tag=" + url.QueryEscape("ÉTÉ"):      {one},
			"tag=unknown":                        {},
			fmt.Sprint("owner=", admin.UserID):   {one},
			"source=web":                         {two},
			"source=web&status=customer":         {},
			"source=fair&status=customer":        {one},
			"created_since=" + stamp(-time.Hour): {two, one},
			"created_since=" + stamp(time.Hour):  {},
			"updated_since=" + later:             {},
			"updated_since=" + earlier:           {two, one},
			"appointment_from=" + stamp(0):       {two},
			"appointment_to=" + stamp(time.Hour): {},
			"appointment_from=" + stamp(0) + "&appointment_to=" + stamp(48*time.Hour): {two},
			"no_appointment_since=" + stamp(0):                                        {one},
			"no_appointment_since=" + stamp(48*time.Hour):                             {two, one},
			"organization=" + uuid.NewString():                                        {},
		} {
			a := admin.Get("/contacts?" + query).Is(200)
			got := []string{}
			for _, c := range a.Items() {
				got = append(got, c["id"].(string))
			}
			require.Equal(t, want, got, query)
			require.EqualValues(t, len(want), a.Field("total"), query)
		}
		require.Equal(t, []any{"fair", "web"}, admin.Get("/contacts/sources").Is(200).Field("items"))
	})
	t.Run("pages follow on each other with one total", func(t *testing.T) {
		afresh(t, s)
		admin := s.As("svc_admin")
		for i := range 7 {
			admin.Post("/contacts", object{"first_name": fmt.Sprint("N", i)}).Is(201)
		}
		seen := map[any]bool{}
		next := "/contacts?per_page=3"
		for pages := 1; ; pages++ {
			a := admin.Get(next).Is(200)
			require.EqualValues(t, 7, a.Field("total"))
			for _, c := range a.Items() {
				require.False(t, seen[c["id"]])
				seen[c["id"]] = true
			}
			if a.Field("next_cursor") == nil {
				require.Equal(t, 3, pages)
				break
			}
			next = "/contacts?per_page=3&cursor=" + a.Text("next_cursor")
			if pages == 1 {
				admin.Post("/contacts", object{"first_name": "late"}).Is(201)
			}
		}
		require.Len(t, seen, 7)
		admin.Get(next+"&status=lead").Fails(400, "svc_invalid_cursor")
	})
	t.Run("own visibility holds everywhere", func(t *testing.T) {
		afresh(t, s)
		admin, own := s.As("svc_admin"), s.As("staff")
		theirs := admin.Post("/contacts", object{"first_name": "Theirs", "source": "secret"}).Is(201).Text("id")
		mine := own.Post("/contacts", object{"first_name": "Mine"}).Is(201)
		require.EqualValues(t, own.UserID, mine.Field("owner_user_id"))
		a := own.Get("/contacts").Is(200)
		require.EqualValues(t, 1, a.Field("total"))
		require.Equal(t, mine.Text("id"), a.Text("items.0.id"))
		require.EqualValues(t, 0, own.Get("/contacts?search=Theirs").Is(200).Field("total"))
		require.Empty(t, own.Get("/contacts/sources").Is(200).Items())
		own.Get("/contacts/"+theirs).Fails(404, "svc_not_found")
		own.Get("/contacts/"+theirs+"/activities").Fails(404, "svc_not_found")
		own.Get("/contacts/"+theirs+"/consents").Fails(404, "svc_not_found")
		own.Patch("/contacts/"+theirs, object{"last_name": "x"}).Fails(404, "svc_not_found")
		own.Post("/contacts/"+theirs+"/notes", object{"body": "x"}).Fails(404, "svc_not_found")
		own.Delete("/contacts/"+theirs, nil).Fails(403, "svc_forbidden")
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
