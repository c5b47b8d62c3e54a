package apptest

import (
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
)

// A zip file is held against its manifest, not against a schema.
func init() { openapi3filter.RegisterBodyDecoder("application/zip", openapi3filter.FileBodyDecoder) }

// Takeout returns the lists of the service's takeout by their names, see answer.Takeout. Nobody but an administrator in a session gets it.
func (s *Service) Takeout() map[string][]map[string]any {
	s.t.Helper()
	path := "/exports/" + s.Kit.Service + ".zip"
	key, manager, admin := s.As(auth.SiteAdmin), s.AsSession("svc_admin"), s.AsSession(auth.SiteAdmin)
	require.Equal(s.t, "person_only", key.Get(path).Fails(403, "svc_forbidden").Text("data.reason"))
	require.Equal(s.t, "admin_only", manager.Get(path).Fails(403, "svc_forbidden").Text("data.reason"))
	return admin.Get(path).Is(200).Takeout()
}
