package people_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

func TestWhatAContactIs(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("a contact is created with its values in their stored form", func(t *testing.T) {
		contactstest.Afresh(t, s)
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
		require.Equal(t, []any{object{"name": "New client", "slug": "new-client", "changing": nil, "version": 1.0}, object{"name": "VIP", "slug": "vip", "changing": nil, "version": 1.0}}, admin.Get("/tags").Is(200).Field("items"))
	})
	t.Run("a contact needs something to be called by", func(t *testing.T) {
		contactstest.Afresh(t, s)
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
		contactstest.Afresh(t, s)
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
		contactstest.Afresh(t, s)
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
		contactstest.Afresh(t, s)
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
	s := contactstest.Start(t)
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
