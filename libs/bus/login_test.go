package bus_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/libs/authority"
	"frontdesk/libs/bus"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// guarded is a broker that asks for TLS, a user and rights. Its users are those of proto, each with a password of its own.
type guarded struct {
	brokers, ca string // ca is the file of its authority
	admin       *bus.Bus
	raw         *kafka.Client // the administrator's too
}

// guard returns the Apache Kafka at TEST_KAFKA_USERS_AT, or a broker in the process.
func guard(t *testing.T) guarded {
	t.Helper()
	g := guarded{brokers: os.Getenv("TEST_KAFKA_USERS_AT"), ca: os.Getenv("TEST_KAFKA_CA")}
	if g.brokers != "" {
		g.admin, g.raw = connect(t, brokers(t), administrator(t)), client(t, brokers(t))
	} else {
		dir := t.TempDir()
		a, err := authority.Open(dir)
		require.NoError(t, err)
		g.ca = filepath.Join(dir, "ca.pem")
		require.NoError(t, os.WriteFile(g.ca, a.PEM, 0o600))
		path := filepath.Join(dir, "broker.pem")
		require.NoError(t, a.Issue(path, "broker", "127.0.0.1"))
		pair, err := tls.LoadX509KeyPair(path, path)
		require.NoError(t, err)
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}), kfake.EnableSASL(), kfake.EnableACLs(),
			kfake.Superuser("SCRAM-SHA-512", "administrator", "administrator's password"))
		require.NoError(t, err)
		t.Cleanup(c.Close)
		g.brokers = c.ListenAddrs()[0]
		g.admin, g.raw = g.as(t, "administrator"), g.client(t, "administrator")
	}
	passwords := map[string]string{}
	for _, user := range proto.Users() {
		passwords[user] = user + "'s password"
	}
	require.NoError(t, g.admin.Ensure(t.Context(), proto.Topics))
	require.NoError(t, g.admin.Grant(t.Context(), passwords))
	return g
}

func newLogin(t *testing.T, o bus.LoginOptions) bus.Login {
	t.Helper()
	l, err := bus.NewLogin(o)
	require.NoError(t, err)
	return l
}

func connect(t *testing.T, brokers string, l bus.Login) *bus.Bus {
	t.Helper()
	b := bus.New(brokers, l)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func (g guarded) as(t *testing.T, user string) *bus.Bus {
	t.Helper()
	return connect(t, g.brokers, newLogin(t, bus.LoginOptions{CA: g.ca, User: user, Password: user + "'s password"}))
}

func TestAUserWritesAndReadsItsOwnTopicsOnly(t *testing.T) {
	g := guard(t)
	may := func(err error) bool {
		t.Helper()
		if err != nil {
			require.ErrorContains(t, err, "Authorization Failed")
		}
		return err == nil
	}
	for _, user := range proto.Users() {
		b := g.as(t, user)
		own := g.client(t, user)
		for _, topic := range proto.Topics {
			writes := topic.Owner == user || slices.Contains(topic.Writers, user)
			reads := slices.Contains(topic.Readers, user) || slices.Contains(topic.Copies, user)
			res, err := own.Produce(t.Context(), &kafka.ProduceRequest{Topic: topic.Name, RequiredAcks: kafka.RequireAll,
				Records: kafka.NewRecordReader(kafka.Record{Time: time.Now(), Key: kafka.NewBytes([]byte("key")), Value: kafka.NewBytes([]byte("value"))})})
			if err == nil {
				err = res.Error
			}
			require.Equal(t, writes, may(err), "%s writes %s", user, topic.Name)
			_, err = b.Read(t.Context(), relay.Partition{Topic: topic.Name}, 0, 1)
			if err != nil {
				require.ErrorIs(t, err, relay.ErrUnreadable)
			}
			require.Equal(t, reads || writes && topic.Compacted, err == nil, "%s reads %s", user, topic.Name)
		}
		if user != proto.Gateway {
			offsets, err := b.Committed(t.Context(), user, []relay.Partition{{Topic: proto.ForgetTopic}})
			require.NoError(t, err)
			require.Empty(t, offsets)
		}
	}

	t.Run("settings alone reads mails", func(t *testing.T) {
		for _, user := range proto.Users() {
			_, err := g.as(t, user).Read(t.Context(), relay.Partition{Topic: proto.MailTopic}, 0, 1)
			require.Equal(t, user == "settings", err == nil, user)
		}
	})
	t.Run("nobody joins another's group", func(t *testing.T) {
		client := g.client(t, "booking")
		res, err := client.JoinGroup(t.Context(), &kafka.JoinGroupRequest{GroupID: "settings", SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
			ProtocolType: "consumer", Protocols: []kafka.GroupProtocol{{Name: "range", Metadata: kafka.GroupProtocolSubscription{Topics: []string{proto.MailTopic}}}}})
		if err == nil {
			err = res.Error
		}
		require.ErrorIs(t, err, kafka.GroupAuthorizationFailed)
	})
	t.Run("nobody grants, deletes or makes what is not theirs", func(t *testing.T) {
		b := g.as(t, "booking")
		require.ErrorContains(t, b.Grant(t.Context(), map[string]string{"booking": "another"}), "Authorization Failed")
		client := g.client(t, "booking")
		gone, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{proto.AppointmentTopic}})
		require.NoError(t, err)
		require.ErrorIs(t, gone.Errors[proto.AppointmentTopic], kafka.TopicAuthorizationFailed)
		made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: "mine", NumPartitions: 1, ReplicationFactor: 1}}})
		require.NoError(t, err)
		require.ErrorIs(t, made.Errors["mine"], kafka.TopicAuthorizationFailed)
	})
	t.Run("rights that are no longer in the list go", func(t *testing.T) {
		client := g.client(t, "booking")
		deletes := func() error {
			res, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{"svc.none"}})
			require.NoError(t, err)
			return res.Errors["svc.none"]
		}
		_, err := g.raw.CreateACLs(t.Context(), &kafka.CreateACLsRequest{ACLs: []kafka.ACLEntry{{ResourceType: kafka.ResourceTypeTopic, ResourceName: "svc.none",
			ResourcePatternType: kafka.PatternTypeLiteral, Principal: "User:booking", Host: "*", Operation: kafka.ACLOperationTypeDelete, PermissionType: kafka.ACLPermissionTypeAllow}}})
		require.NoError(t, err)
		until.Holds(t, func() bool { return errors.Is(deletes(), kafka.UnknownTopicOrPartition) }, 10*time.Second, 10*time.Millisecond)
		require.NoError(t, g.admin.Grant(t.Context(), map[string]string{"booking": "booking's password"}))
		until.Holds(t, func() bool { return errors.Is(deletes(), kafka.TopicAuthorizationFailed) }, 10*time.Second, 10*time.Millisecond)
	})
}

func TestEachProcessVerifiesTheTopicsWithItsRights(t *testing.T) {
	g := guard(t)
	for _, user := range proto.Users() {
		require.NoError(t, g.as(t, user).Ensure(t.Context(), proto.Topics), user)
	}
}

func TestALoginThatTheBrokersRefuseEndsInASentence(t *testing.T) {
	g := guard(t)
	other, err := authority.Open(t.TempDir())
	require.NoError(t, err)
	foreign := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(foreign, other.PEM, 0o600))
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	// The broker in the process ends the connection of a wrong user without a word.
	apache := os.Getenv("TEST_KAFKA_USERS_AT") != ""
	user := map[bool]string{true: "refuse the user", false: "SVC_KAFKA_USER and SVC_KAFKA_PASSWORD"}[apache]
	for name, c := range map[string]struct {
		brokers string
		login   bus.LoginOptions
		want    string
		refused bool
	}{
		"a wrong password":       {g.brokers, bus.LoginOptions{CA: g.ca, User: "booking", Password: "guess"}, user, apache},
		"an unknown user":        {g.brokers, bus.LoginOptions{CA: g.ca, User: "nobody", Password: "guess"}, user, apache},
		"another authority":      {g.brokers, bus.LoginOptions{CA: foreign, User: "booking", Password: "booking's password"}, "an authority that SVC_KAFKA_CA does not hold", true},
		"the system's":           {g.brokers, bus.LoginOptions{TLS: true, User: "booking", Password: "booking's password"}, "an authority that SVC_KAFKA_CA does not hold", true},
		"nobody":                 {g.brokers, bus.LoginOptions{CA: g.ca}, "SVC_KAFKA_USER", false},
		"no TLS":                 {g.brokers, bus.LoginOptions{}, "SVC_KAFKA_CA", false},
		"TLS where there is not": {web.Listener.Addr().String(), bus.LoginOptions{CA: g.ca}, "do not speak TLS", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := connect(t, c.brokers, newLogin(t, c.login)).Ensure(t.Context(), proto.Topics)
			require.ErrorContains(t, err, c.want)
			var refused bus.Refused
			require.Equal(t, c.refused, errors.As(err, &refused), "%v", err)
			require.NotContains(t, err.Error(), "guess")
		})
	}
}

func TestKnobsThatMakeNoLoginAreNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for want, o := range map[string]bus.LoginOptions{
		"SVC_KAFKA_CA cannot be read":                  {CA: "/nowhere"},
		"holds no certificate":                         {CA: empty},
		"SVC_KAFKA_PASSWORD belong together":           {User: "booking"},
		"SVC_KAFKA_CERT_KEY belong together":           {Cert: "/nowhere"},
		"SVC_KAFKA_CERT_KEY cannot be used":            {Cert: empty, Key: empty},
		"SVC_KAFKA_USER and SVC_KAFKA_PASSWORD belong": {Password: "x"},
	} {
		_, err := bus.NewLogin(o)
		require.ErrorContains(t, err, want)
	}
}

// client is a user's, without the code under test.
func (g guarded) client(t *testing.T, user string) *kafka.Client {
	t.Helper()
	m, err := scram.Mechanism(scram.SHA512, user, user+"'s password")
	require.NoError(t, err)
	transport := &kafka.Transport{TLS: &tls.Config{RootCAs: roots(t, g.ca)}, SASL: m}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(g.brokers), Transport: transport}
}

// roots are the authorities in a file.
func roots(t *testing.T, ca string) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(ca)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pem))
	return pool
}
