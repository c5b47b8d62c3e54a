package field_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

func TestWhatAFieldIs(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	t.Run("fields of every type are checked and kept", func(t *testing.T) {
		contactstest.Afresh(t, s)
		s.SetSite("general", object{"country": "BE"})
		admin := s.As("svc_admin")
		for _, c := range []struct {
			kind      string
			options   []string
			good, bad any
			stored    any
		}{
			{"text", nil, " some text ", nil, "some text"},
			{"long_text", nil, "a\n b ", true, "a\n b "},
			{"email", nil, "A@Example.com", "nobody", "A@example.com"},
			{"phone", nil, "0470 12 34 56", []string{"1"}, "+32470123456"},
			{"url", nil, "example.com", "ftp://x", "https://example.com"},
			{"number", nil, "4,5", "four", 4.5},
			{"date", nil, "2024-02-29", "2023-02-29", "2024-02-29"},
			{"dropdown", []string{"Red", "Blue"}, "red", "green", "Red"},
			{"choices", []string{"Red", "Blue"}, []string{"Blue", "Red", "Blue"}, []string{"green"}, []any{"Red", "Blue"}},
			{"checkbox", nil, true, "maybe", true},
		} {
			f := admin.Post("/fields", object{"entity": "contact", "type": c.kind, "label": "My " + c.kind, "options": append([]string{}, c.options...)}).Is(201)
			key := f.Text("key")
			require.Equal(t, "my_"+c.kind, key)
			a := admin.Post("/contacts", object{"first_name": "A", "fields": object{key: c.good}}).Is(201)
			if c.bad != nil {
				bad := admin.Post("/contacts", object{"first_name": "A", "fields": object{key: c.bad}}).Fails(400, "svc_invalid_param")
				require.NotNil(t, bad.Map()["data"].(object)["params"].(object)["fields."+key], c.kind)
			}
			require.Equal(t, c.stored, a.Field("fields."+key), c.kind)
			id := a.Text("id")
			cleared := admin.Patch("/contacts/"+id, object{"mode": "overwrite", "fields": object{key: nil}}).Is(200)
			require.Equal(t, object{}, cleared.Field("fields"), c.kind)
			// Archiving hides the value and keeps it.
			admin.Patch("/contacts/"+id, object{"fields": object{key: c.good}}).Is(200)
			field := f.Text("id")
			require.Equal(t, true, admin.Delete("/fields/"+field, nil).Is(200).Field("archived"))
			require.Equal(t, object{}, admin.Get("/contacts/"+id).Is(200).Field("fields"))
			require.Equal(t, object{}, admin.Patch("/contacts/"+id, object{"last_name": "B"}).Is(200).Field("fields"))
			admin.Patch("/contacts/"+id, object{"fields": object{key: c.good}}).Fails(400, "svc_invalid_param")
			admin.Patch("/fields/"+field, object{"archived": false}).Is(200)
			require.Equal(t, c.stored, admin.Get("/contacts/"+id).Is(200).Field("fields."+key), c.kind)
			require.Equal(t, []string{proto.KindFieldCreated, proto.KindFieldUpdated, proto.KindFieldUpdated}, s.Kinds(proto.FieldTopic, field))
		}
		require.Len(t, admin.Get("/fields?entity=contact").Is(200).Items(), 10)
	})
	t.Run("fields are defined once", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		one := admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "Größe & Co"}).Is(201)
		require.Equal(t, "grosse_co", one.Text("key"))
		require.Equal(t, "grosse_co_2", admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "Grosse co"}).Is(201).Text("key"))
		require.Equal(t, "field", admin.Post("/fields", object{"entity": "organization", "type": "text", "label": "名前"}).Is(201).Text("key"))
		id := one.Text("id")
		require.Equal(t, "grosse_co", admin.Patch("/fields/"+id, object{"label": "Length", "sort_order": 0}).Is(200).Text("key"))
		admin.Patch("/fields/"+id, object{"type": "number"}).Fails(400, "svc_invalid_param")
		admin.Patch("/fields/"+id, object{"label": " "}).Fails(400, "svc_invalid_param")
		for _, control := range []string{"\u0001", "\u001b", "\u009b"} {
			admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "x" + control + "y"}).Fails(400, "svc_invalid_param")
			admin.Patch("/fields/"+id, object{"label": "x" + control}).Fails(400, "svc_invalid_param")
			admin.Post("/fields", object{"entity": "contact", "type": "dropdown", "label": "D", "options": []string{"x" + control}}).Fails(400, "svc_invalid_param")
			admin.Post("/field-groups", object{"entity": "contact", "label": "x" + control}).Fails(400, "svc_invalid_param")
		}
		admin.Patch("/fields/"+id, object{"options": []string{"x"}}).Fails(400, "svc_invalid_param")
		admin.Post("/fields", object{"entity": "contact", "type": "dropdown", "label": "D"}).Fails(400, "svc_invalid_param")
		admin.Post("/fields", object{"entity": "contact", "type": "dropdown", "label": "D", "options": []string{}}).Fails(400, "svc_invalid_param")
		admin.Post("/fields", object{"entity": "contact", "type": "nothing", "label": "D"}).Fails(400, "svc_invalid_param")
		admin.Post("/fields", object{"entity": "contact", "type": "text", "label": "D", "group": uuid.NewString()}).Fails(404, "svc_not_found")
		admin.Get("/fields").Fails(400, "svc_invalid_param")

		group := admin.Post("/field-groups", object{"entity": "contact", "label": "Body"}).Is(201)
		require.Equal(t, group.Text("id"), admin.Patch("/fields/"+id, object{"group": group.Text("id")}).Is(200).Text("group"))
		other := admin.Post("/field-groups", object{"entity": "organization", "label": "Other"}).Is(201).Text("id")
		admin.Patch("/fields/"+id, object{"group": other}).Fails(400, "svc_invalid_param")
		require.Equal(t, "Mind", admin.Patch("/field-groups/"+group.Text("id"), object{"label": "Mind", "sort_order": 4}).Is(200).Text("label"))
		require.JSONEq(t, `{"label":{"old":"Body","new":"Mind"},"sort_order":{"old":1,"new":4}}`, s.Changes("update-field-group")[0])
		require.Len(t, admin.Get("/field-groups?entity=contact").Is(200).Items(), 1)
		admin.Delete("/field-groups/"+group.Text("id"), nil).Is(204)
		admin.Delete("/field-groups/"+group.Text("id"), nil).Fails(404, "svc_not_found")
		require.Nil(t, admin.Get("/fields?entity=contact").Is(200).Field("items.0.group"))
		staff := s.As("staff")
		staff.Post("/fields", object{"entity": "contact", "type": "text", "label": "D"}).Fails(403, "svc_forbidden")
	})
	t.Run("a template gets its fields", func(t *testing.T) {
		contactstest.Afresh(t, s)
		admin := s.As("svc_admin")
		send := func() {
			s.Send(apptest.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureFields, Key: "fields", Data: &proto.EnsureFields{Fields: []*proto.EnsureFields_Field{
				{Entity: "submission", Key: "budget", Label: "Budget", Type: "dropdown", Options: []string{"a", "b"}, Source: "quote"}}}})
			s.Settle()
		}
		send()
		a := admin.Get("/fields?entity=submission").Is(200)
		require.Equal(t, "quote", a.Text("items.0.source"))
		require.Equal(t, "budget", a.Text("items.0.key"))
		admin.Delete("/fields/"+a.Text("items.0.id"), nil).Is(200)
		require.Empty(t, admin.Get("/fields?entity=submission").Is(200).Items())
		send()
		require.Len(t, admin.Get("/fields?entity=submission").Is(200).Items(), 1)
	})
}
