package organization_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/proto"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

func TestManyOrganizationsAreChangedEachForItself(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin, own := s.As("svc_admin"), s.As("staff")
	one := admin.Post("/organizations", object{"name": "Acme"}).Is(201).Text("id")
	two := admin.Post("/organizations", object{"name": "Beta", "owner_user_id": own.UserID}).Is(201).Text("id")
	person := admin.Post("/contacts", object{"first_name": "Ann"}).Is(201).Text("id")
	admin.Put("/organizations/"+one+"/contacts/"+person, object{"is_primary": true}).Is(204)
	done := admin.Post("/organizations/bulk", object{"ids": []string{one, two, uuid.NewString()}, "owner_user_id": own.UserID}).Is(200)
	require.Equal(t, []any{1.0, 1.0, "svc_not_found"}, []any{done.Field("changed"), done.Field("skipped"), done.Text("failed.0.code")})
	require.EqualValues(t, own.UserID, admin.Get("/organizations/"+one).Is(200).Field("owner_user_id"))

	ids := []string{two, one}
	require.EqualValues(t, 2, admin.Post("/organizations/bulk", object{"ids": ids, "trash": true}).Is(200).Field("changed"))
	require.EqualValues(t, 2, admin.Post("/organizations/bulk", object{"ids": ids, "trash": true}).Is(200).Field("skipped"))
	require.Nil(t, admin.Get("/contacts/"+person).Is(200).Field("organization"))
	late := admin.Post("/organizations/bulk", object{"ids": ids, "owner_user_id": nil}).Is(200)
	require.Equal(t, "svc_invalid_status", late.Text("failed.1.code"))
	require.EqualValues(t, 2, admin.Post("/organizations/bulk", object{"ids": ids, "restore": true}).Is(200).Field("changed"))
	require.Equal(t, "Acme", admin.Get("/contacts/"+person).Is(200).Text("organization.name"))
	kinds := s.Kinds(proto.OrganizationTopic, one)
	require.Equal(t, []string{proto.KindOrganizationDeleted, proto.KindOrganizationRestored}, kinds[len(kinds)-2:])

	admin.Post("/organizations/bulk", object{"ids": ids}).Fails(400, "svc_invalid_param")
	admin.Post("/organizations/bulk", object{"ids": ids, "trash": true, "owner_user_id": nil}).Fails(400, "svc_invalid_param")
	own.Post("/organizations/bulk", object{"ids": ids, "trash": true}).Fails(403, "svc_forbidden")
}
