package contacts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestATakeoutHasEveryContactWithTheTrash(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	s.Eventually(func() bool { return admin.Get("/contacts").Status == 200 })
	require.Empty(t, s.Takeout()["contacts"], "a list without rows is a list")
	kept := admin.Post("/contacts", object{"first_name": "=1+1", "email": "kept@example.com", "tags": []string{"x", "y, z"}}).Is(201).Text("id")
	gone := admin.Post("/contacts", object{"email": "gone@example.com"}).Is(201).Text("id")
	admin.Call("DELETE /contacts/"+gone, nil).Is(204)
	firm := admin.Post("/organizations", object{"name": "Bakery"}).Is(201).Text("id")

	lists := s.Takeout()
	require.Len(t, lists["contacts"], 2)
	first, second := lists["contacts"][0], lists["contacts"][1]
	require.Equal(t, []any{kept, "=1+1", "kept@example.com", []any{"x", "y, z"}, nil}, []any{first["id"], first["first_name"], first["email"], first["tags"], first["deleted_at"]})
	require.Equal(t, gone, second["id"])
	require.NotNil(t, second["deleted_at"])
	require.Equal(t, firm, lists["organizations"][0]["id"])
	require.Len(t, lists["tags"], 2)
	require.NotEmpty(t, lists["activities"])
}
