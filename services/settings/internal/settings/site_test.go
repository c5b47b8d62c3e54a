package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestTheWholeTeamMayReadWhatThePortalShows(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.As("site_admin").Patch("/settings/general", `{"business":{"name":"Atelier"},"currency":"CHF"}`).Is(200)
	a := s.As("staff").Get("/site").Is(200)
	require.Equal(t, []any{"Atelier", "CHF", "Europe/Brussels", "team"}, []any{a.Text("name"), a.Text("currency"), a.Text("timezone"), a.Text("path")})
	s.As("nobody").Get("/site").Fails(403, "svc_forbidden")
	s.Visitor().Get("/site").Fails(401, "svc_unauthorized")
}
