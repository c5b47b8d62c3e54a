package settings

import (
	"testing"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// announce publishes a manifest as another service would.
func announce(t *testing.T, s *apptest.Service, m *proto.Manifest) {
	t.Helper()
	s.SendMessage(proto.ManifestTopic, m.GetService(), m)
}
