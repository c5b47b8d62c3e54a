package people_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

func TestManyContactsAreChangedEachForItself(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	one := admin.Post("/contacts", object{"first_name": "Ann", "tags": []string{"old", "VIP"}}).Is(201).Text("id")
	two := admin.Post("/contacts", object{"first_name": "Bob", "status": "customer", "tags": []string{"fair", "VIP"}}).Is(201).Text("id")
	trashed := admin.Post("/contacts", object{"first_name": "Gone"}).Is(201).Text("id")
	admin.Delete("/contacts/"+trashed, nil).Is(204)
	nobody := uuid.NewString()

	done := admin.Post("/contacts/bulk", object{"ids": []string{one, two, two, trashed, nobody}, "add_tags": []string{"Fair"}, "remove_tags": []string{"OLD"}, "status": "customer"}).Is(200)
	require.Equal(t, []any{1.0, 1.0}, []any{done.Field("changed"), done.Field("skipped")}, "named twice counts once, and what is so stays")
	refused := map[any]any{}
	for _, f := range done.Field("failed").([]any) {
		refused[f.(object)["id"]] = f.(object)["code"]
	}
	require.Equal(t, map[any]any{trashed: "svc_invalid_status", nobody: "svc_not_found"}, refused)
	c := admin.Get("/contacts/" + one).Is(200)
	require.Equal(t, []any{"VIP", "fair"}, c.Field("tags"))
	require.Equal(t, "customer", c.Text("status"))
	require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated}, s.Kinds(proto.ContactTopic, one))
	require.Equal(t, []string{proto.KindContactCreated}, s.Kinds(proto.ContactTopic, two))
	entry := admin.Get("/contacts/" + one + "/activities").Is(200).Items()[0]
	require.Equal(t, "updated", entry["type"])

	admin.Post("/contacts/bulk", object{"ids": []string{one}, "owner_user_id": own.UserID}).Is(200)
	require.EqualValues(t, own.UserID, admin.Get("/contacts/"+one).Is(200).Field("owner_user_id"))
	mine := own.Post("/contacts/bulk", object{"ids": []string{one, two}, "status": "inactive"}).Is(200)
	require.Equal(t, []any{1.0, "svc_not_found"}, []any{mine.Field("changed"), mine.Text("failed.0.code")}, "who sees their own changes their own")
	admin.Post("/contacts/bulk", object{"ids": []string{one}, "owner_user_id": nil}).Is(200)
	require.Nil(t, admin.Get("/contacts/"+one).Is(200).Field("owner_user_id"))

	var many []string
	for i := range 99 {
		many = append(many, fmt.Sprint("tag ", i))
	}
	full := admin.Post("/contacts", object{"first_name": "Many", "tags": many}).Is(201).Text("id")
	require.Equal(t, "svc_invalid_param", admin.Post("/contacts/bulk", object{"ids": []string{full}, "add_tags": []string{"a", "b"}}).Is(200).Text("failed.0.code"), "100 are the most")
	require.EqualValues(t, 1, admin.Post("/contacts/bulk", object{"ids": []string{full}, "add_tags": []string{"a", "b"}, "remove_tags": []string{"tag 0"}}).Is(200).Field("changed"))

	for name, body := range map[string]object{
		"no ids":               {"ids": []string{}, "status": "lead"},
		"no verb":              {"ids": []string{one}},
		"trash beside others":  {"ids": []string{one}, "trash": true, "status": "lead"},
		"an owner who is gone": {"ids": []string{one}, "owner_user_id": 99999},
		"a long tag":           {"ids": []string{one}, "add_tags": []string{longTag}},
	} {
		t.Run(name, func(t *testing.T) { admin.For(t).Post("/contacts/bulk", body).Fails(400, "svc_invalid_param") })
	}
	own.Post("/contacts/bulk", object{"ids": []string{one}, "trash": true}).Fails(403, "svc_forbidden")
	own.Post("/contacts/bulk", object{"ids": []string{one}, "restore": true}).Fails(403, "svc_forbidden")
}

const longTag = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

func TestManyContactsGoToTheTrashAndComeBack(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	company := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	one := admin.Post("/contacts", object{"email": "one@example.com"}).Is(201).Text("id")
	two := admin.Post("/contacts", object{"email": "two@example.com"}).Is(201).Text("id")
	admin.Put("/organizations/"+company+"/contacts/"+one, nil).Is(204)
	ids := []string{one, two}
	require.EqualValues(t, 2, admin.Post("/contacts/bulk", object{"ids": ids, "trash": true}).Is(200).Field("changed"))
	require.EqualValues(t, 2, admin.Post("/contacts/bulk", object{"ids": ids, "trash": true}).Is(200).Field("skipped"))
	require.NotNil(t, admin.Get("/contacts/"+one).Is(200).Field("deleted_at"))
	require.EqualValues(t, 0, admin.Get("/organizations/"+company).Is(200).Field("contacts_count"))
	admin.Post("/contacts", object{"email": "two@example.com"}).Is(201)

	back := admin.Post("/contacts/bulk", object{"ids": ids, "restore": true}).Is(200)
	require.Equal(t, []any{1.0, two, "svc_duplicate"}, []any{back.Field("changed"), back.Text("failed.0.id"), back.Text("failed.0.code")})
	require.Nil(t, admin.Get("/contacts/"+one).Is(200).Field("deleted_at"))
	require.EqualValues(t, 1, admin.Get("/organizations/"+company).Is(200).Field("contacts_count"))
	require.Equal(t, []string{proto.KindContactCreated, proto.KindContactUpdated, proto.KindContactDeleted, proto.KindContactRestored}, s.Kinds(proto.ContactTopic, one))
}
