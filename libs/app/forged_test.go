package app_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// A whole service beside a producer that may write to every topic, and has the keys of another service.
func TestAForeignProducerIsNobodyAndTurnsNothingOff(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, desk)
	admin := s.As(auth.SiteAdmin)
	own := s.AsSession(auth.SiteAdmin)
	brokers := s.Kit.Config.Brokers
	login, err := bus.NewLogin(bus.LoginOptions{User: "tester", Password: "tester's password"})
	require.NoError(t, err)
	unsigned := &kafka.Writer{Addr: kafka.TCP(brokers), Transport: login.Transport(), RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond}
	t.Cleanup(func() { _ = unsigned.Close() })
	thief := apptest.Connect(brokers)
	t.Cleanup(func() { _ = thief.Close() })

	token := "made up by a thief"
	hash := sha256.Sum256([]byte(token))
	forged := map[string]struct {
		topic, key string
		m          protobuf.Message
	}{
		"session": {proto.IdentityTopic, auth.SessionKey(hash[:]), &proto.Identity{Version: 1, Record: &proto.Identity_Session{Session: &proto.Session{Hash: hash[:], UserId: admin.UserID,
			Channel: db.ChannelApp, SeenAt: timestamppb.New(s.Now()), ExpiresAt: timestamppb.New(s.Now().Add(time.Hour))}}}},
		"end of a user": {proto.IdentityTopic, auth.UserKey(fmt.Sprint(admin.UserID)), nil},
		"role": {proto.IdentityTopic, auth.RoleKey("nobody"), &proto.Identity{Version: 9, Record: &proto.Identity_Role{Role: &proto.Role{
			Name: "nobody", Visibility: "all", Capabilities: auth.Permissions}}}},
		"apps": {proto.AppsTopic, "apps", &proto.Envelope{Version: 99, Data: []byte(`{"apps":[{"id":"notes","enabled":false}]}`)}},
		"site": {proto.SiteTopic, "general", &proto.Envelope{Version: 99, Data: []byte(`{"ip_header":"X-Thief"}`)}},
	}
	for name, f := range forged {
		var value []byte
		if f.m != nil {
			var err error
			value, err = protobuf.Marshal(f.m)
			require.NoError(t, err, name)
		}
		require.NoError(t, unsigned.WriteMessages(t.Context(), kafka.Message{Topic: f.topic, Key: []byte(f.key), Value: value}), name)
		// Every service but the owner, and a stranger.
		for _, by := range []string{"contacts", "booking", "forms", "webhooks"} {
			message := trust.Message{Topic: f.topic, Key: f.key, Value: value, Stamp: time.Now().UnixMicro()}
			signature, err := apptest.Trust(by).Sign(message)
			require.NoError(t, err)
			require.NoError(t, unsigned.WriteMessages(t.Context(), kafka.Message{Topic: f.topic, Key: []byte(f.key), Value: value,
				Headers: []kafka.Header{{Key: "signature", Value: signature}}}), name)
		}
		thief.Trust = trust.New("settings", []string{"a key of a thief, which is long enough"}, nil)
		require.NoError(t, thief.Send(t.Context(), []db.Message{{Topic: f.topic, Key: f.key, Value: value}}), name)
	}
	s.SetSite("privacy", map[string]any{"behind": "the forged site record"})
	s.Role("last", "own")
	s.Eventually(func() bool { _, ok := s.Kit.Identity.Table.Get(auth.RoleKey("last")); return ok })

	thiefs := s.Visitor().With("Cookie", auth.Cookie+"="+token)
	require.Equal(t, 401, thiefs.Call("GET /notes", nil).Status)
	require.Equal(t, 200, own.Call("GET /notes", nil).Status)
	require.Equal(t, 200, admin.Call("GET /notes", nil).Status)
	require.Equal(t, 403, s.As("nobody").Call("GET /notes", nil).Status)
	require.True(t, s.Kit.Apps.On("notes"))
	_, ok := s.Kit.Site.Table.Get("general")
	require.False(t, ok)
}
