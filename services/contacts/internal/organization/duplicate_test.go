package organization_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/services/contacts/contactstest"
)

func TestAPairThatWasDismissedIsListedAgain(t *testing.T) {
	t.Parallel()
	s := contactstest.Start(t)
	admin := s.As("svc_admin")
	one := admin.Post("/organizations", object{"name": "Café Noir BV"}).Is(201).Text("id")
	two := admin.Post("/organizations", object{"name": "CAFE NOIR, nv"}).Is(201).Text("id")
	listed := func() int { return len(admin.Get("/organizations/possible-duplicates").Is(200).Items()) }
	admin.Post("/organizations/"+two+"/not-duplicate", object{"other_id": one}).Is(204)
	require.Zero(t, listed())
	for range 2 {
		admin.Delete("/organizations/"+one+"/not-duplicate?other_id="+two, nil).Is(204)
		require.Equal(t, 1, listed())
	}
	admin.Delete("/organizations/"+one+"/not-duplicate", nil).Fails(400, "svc_invalid_param")
	admin.Delete("/organizations/"+one+"/not-duplicate?other_id="+one, nil).Fails(400, "svc_invalid_param")
	admin.Delete("/organizations/"+one+"/not-duplicate?other_id="+uuid.NewString(), nil).Fails(404, "svc_not_found")
}
