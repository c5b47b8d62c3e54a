package settings

import (
	"context"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// announce publishes a manifest as another service would.
func announce(t *testing.T, s *apptest.Service, m *proto.Manifest) {
	t.Helper()
	s.SendMessage(proto.ManifestTopic, m.GetService(), m)
}

// present says that an instance of another service is alive.
func present(t *testing.T, s *apptest.Service, instance string, version int64) {
	t.Helper()
	s.SendMessage(proto.PresenceTopic, instance, &proto.Presence{Instance: instance, At: timestamppb.Now(), AppsVersion: version})
}

// startInside is start, with the service that was built.
func startInside(t *testing.T, configure ...func(*app.Config)) (*apptest.Service, *service) {
	t.Helper()
	var inside *service
	observed := Service
	observed.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		var err error
		if inside, err = newService(k); err != nil {
			return nil, err
		}
		return inside.parts(ctx)
	}
	return apptest.Start(t, observed, configure...), inside
}
