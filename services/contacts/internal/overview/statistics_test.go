package overview_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewContactsAreCountedByWeekAndSource(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin, staff := s.As("site_admin"), s.As("staff")
	for _, source := range []string{"web", "web", "fair"} {
		admin.Post("/contacts", map[string]any{"first_name": "A", "source": source}).Is(201)
	}
	staff.Post("/contacts", `{"first_name":"B","source":"web"}`).Is(201)
	admin.Delete("/contacts/"+admin.Post("/contacts", `{"first_name":"C"}`).Is(201).Text("id"), nil).Is(204)

	a := admin.Get("/statistics/contacts?weeks=3").Is(200)
	require.Len(t, a.Field("weeks"), 3)
	require.Equal(t, []any{0.0, 4.0}, []any{a.Field("weeks.0.created"), a.Field("weeks.2.created")})
	require.Equal(t, []any{map[string]any{"source": "web", "contacts": 3.0}, map[string]any{"source": "fair", "contacts": 1.0}}, a.Field("sources"))
	require.Len(t, admin.Get("/statistics/contacts").Is(200).Field("weeks"), 12)
	require.Equal(t, 1.0, staff.Get("/statistics/contacts").Is(200).Field("weeks.11.created"), "their own")
	admin.Get("/statistics/contacts?weeks=54").Fails(400, "svc_invalid_param")
}
