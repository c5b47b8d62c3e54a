package e2e

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

//e2e:broker
func TestWhoReachesTheBrokerIsNobodyByThat(t *testing.T) {
	now := sys.Now(t)
	// A session of the first administrator, as settings would publish it.
	token := rand.Text()
	hash := sha256.Sum256([]byte(token))
	session, err := protobuf.Marshal(&proto.Identity{Version: time.Now().UnixMilli(), Record: &proto.Identity_Session{Session: &proto.Session{Hash: hash[:], UserId: 1,
		Channel: db.ChannelApp, SeenAt: timestamppb.Now(), ExpiresAt: timestamppb.New(time.Now().Add(time.Hour))}}})
	require.NoError(t, err)
	forged := kafka.Message{Topic: proto.IdentityTopic, Key: []byte(auth.SessionKey(hash[:])), Value: session}
	write := func(brokers string, login bus.LoginOptions, m kafka.Message) error {
		l, err := bus.NewLogin(login)
		require.NoError(t, err)
		w := &kafka.Writer{Addr: kafka.TCP(brokers), Transport: l.Transport(), RequiredAcks: kafka.RequireAll, BatchTimeout: time.Millisecond, MaxAttempts: 1, WriteTimeout: 5 * time.Second}
		defer w.Close()
		return w.WriteMessages(t.Context(), m)
	}
	raw, err := os.ReadFile(filepath.Join(sys.Data, "secrets.json"))
	require.NoError(t, err)
	var secrets struct {
		KafkaPasswords map[string]string `json:"kafka_passwords"`
	}
	require.NoError(t, json.Unmarshal(raw, &secrets))
	booking := bus.LoginOptions{TLS: now.KafkaLogin.TLS, CA: now.KafkaLogin.CA, User: "booking", Password: secrets.KafkaPasswords["booking"]}
	nobody := booking
	nobody.User, nobody.Password = "", ""

	t.Run("without a user", func(t *testing.T) {
		require.Error(t, write(now.KafkaUsers, nobody, forged))
	})
	t.Run("as another service", func(t *testing.T) {
		require.ErrorContains(t, write(now.KafkaUsers, booking, forged), "Topic Authorization Failed")
		require.NoError(t, write(now.KafkaUsers, booking, kafka.Message{Topic: proto.StaffTopic, Key: []byte("nobody"), Value: []byte("unsigned")}), "its own topic it may write")
	})
	t.Run("with all rights", func(t *testing.T) {
		require.NoError(t, write(now.Kafka, now.KafkaLogin, forged))
		thief := visitor.With("Cookie", auth.Cookie+"="+token)
		// A session that begins later is known, so the forged record was read.
		known := sys.SignIn(t)
		for _, path := range []string{"/me", "/contacts", "/appointments", "/submissions", "/webhooks"} {
			known.Get(t, path).Is(200)
			thief.Get(t, path).Fails(401, "svc_unauthorized")
		}
	})
}
