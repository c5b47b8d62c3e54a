package settings

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func bare(t *testing.T, s *apptest.Service, topic, key string, m protobuf.Message) {
	t.Helper()
	value, err := protobuf.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, s.Kit.Bus.Send(context.Background(), []db.Message{{Topic: topic, Key: key, Value: value}}))
}

// announce publishes a manifest as another service would.
func announce(t *testing.T, s *apptest.Service, m *proto.Manifest) {
	t.Helper()
	bare(t, s, proto.ManifestTopic, m.GetService(), m)
}

// present says that an instance of another service is alive.
func present(t *testing.T, s *apptest.Service, instance string, version int64) {
	t.Helper()
	bare(t, s, proto.PresenceTopic, instance, &proto.Presence{Instance: instance, At: timestamppb.Now(), AppsVersion: version})
}

// startInside is start, with the service that was built.
func startInside(t *testing.T, configure ...func(*app.Config)) (*apptest.Service, *service) {
	t.Helper()
	var inside *service
	observed := Service
	observed.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		inside = newService(k)
		return inside.parts(ctx)
	}
	return apptest.Start(t, observed, configure...), inside
}
