package bus

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// tableOf runs a table of identities on a broker of its own, which looks at its place ten times a second.
func tableOf(t *testing.T, topic string) (cluster *kfake.Cluster, b *Bus, table *Table[string], stop func()) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	b = New(strings.Join(cluster.ListenAddrs(), ","), Login{})
	b.Trust = TrustOf("settings")
	t.Cleanup(func() { _ = b.Close() })
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{proto.TopicNamed(topic)}))
	table = NewTable(b, topic, func(_ string, value []byte) (string, int64, error) {
		env, err := OpenEnvelope(value, nil)
		return string(env.GetData()), env.GetVersion(), err
	})
	table.check = 100 * time.Millisecond
	stop = follow(t, table)
	until.Holds(t, table.Ready, 10*time.Second, time.Millisecond)
	return cluster, b, table, stop
}

// follow runs a table until stop.
func follow[T any](t *testing.T, table *Table[T]) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); table.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func send(t *testing.T, b *Bus, topic, key string, version int64, data string) {
	t.Helper()
	m := db.Message{Topic: topic, Key: key}
	if data != "" {
		kind := proto.KindSiteUpdated
		if key == proto.StateKey {
			kind = proto.KindStatePublished
		}
		var err error
		m.Value, err = protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Kind: kind, Version: version, Data: []byte(data)})
		require.NoError(t, err)
	}
	require.NoError(t, b.Send(context.Background(), []db.Message{m}))
}

func becomes[T any](t *testing.T, table *Table[T], want map[string]T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	if !table.Wait(ctx, func() bool { return equal(table.All(), want) }) {
		require.Equal(t, want, table.All())
	}
}

func equal[T any](a, b map[string]T) bool { return len(a) == len(b) && assert.ObjectsAreEqual(a, b) }

func TestAnOlderVersionReplacesNothingInATable(t *testing.T) {
	t.Parallel()
	topic := proto.SiteTopic
	_, b, table, _ := tableOf(t, topic)
	send(t, b, topic, "a", 2, "new")
	send(t, b, topic, "a", 1, "old")
	send(t, b, topic, "b", 5, "session")
	send(t, b, topic, "b", 0, "")
	send(t, b, topic, "b", 5, "session of a relay that is late")
	send(t, b, topic, "c", 1, "last")
	becomes(t, table, map[string]string{"a": "new", "c": "last"})
	send(t, b, topic, "a", 2, "the same version again")
	becomes(t, table, map[string]string{"a": "the same version again", "c": "last"})
}

func TestATableWhoseTopicWasMadeAnewServesWhatItHasUntilItsOwnerHasPublishedAgain(t *testing.T) {
	t.Parallel()
	topic := proto.SiteTopic
	cluster, b, table, _ := tableOf(t, topic)
	send(t, b, topic, "a", 1, "a")
	send(t, b, topic, "b", 1, "b")
	send(t, b, topic, proto.StateKey, 0, "x")
	send(t, b, topic, "c", 1, "c")
	all := map[string]string{"a": "a", "b": "b", "c": "c"}
	becomes(t, table, all)
	require.NoError(t, cluster.DeleteTopic(topic))
	require.NoError(t, cluster.CreateTopic(topic, 1, nil))
	until.Holds(t, func() bool { return !table.Whole() }, 10*time.Second, time.Millisecond)
	require.Equal(t, all, table.All())
	// The owner has deleted b meanwhile, and changed c.
	send(t, b, topic, "a", 1, "a")
	send(t, b, topic, "c", 2, "c2")
	becomes(t, table, map[string]string{"a": "a", "b": "b", "c": "c2"})
	require.False(t, table.Whole())
	require.True(t, table.Ready())
	send(t, b, topic, proto.StateKey, 0, "x")
	becomes(t, table, map[string]string{"a": "a", "c": "c2"})
	until.Holds(t, table.Whole, 10*time.Second, time.Millisecond)
}

func TestATableDropsTheKeysThatWereCompactedWhileItWasAway(t *testing.T) {
	t.Parallel()
	topic := proto.SiteTopic
	cluster, b, table, stop := tableOf(t, topic)
	for _, key := range []string{"a", "b", "c"} {
		send(t, b, topic, key, 1, key)
	}
	becomes(t, table, map[string]string{"a": "a", "b": "b", "c": "c"})
	stop()
	// While it is away the topic drops what stood there, and what came after.
	send(t, b, topic, "a", 0, "")
	send(t, b, topic, "c", 2, "c2")
	require.NoError(t, cluster.DeleteRecords(topic, 0, 4))
	follow(t, table)
	becomes(t, table, map[string]string{"c": "c2"})
	until.Holds(t, table.Ready, 10*time.Second, time.Millisecond)
}
