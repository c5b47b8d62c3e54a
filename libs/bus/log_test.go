package bus_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// cluster is a broker of the test's own, and a connection to it.
func cluster(t *testing.T) (*kfake.Cluster, *bus.Bus) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	b := bus.New(strings.Join(c.ListenAddrs(), ","), bus.Login{})
	b.Trust = bus.TrustOf("settings")
	t.Cleanup(func() { _ = b.Close() })
	return c, b
}

// stored are the messages on a partition, in order.
func stored(t *testing.T, b *bus.Bus, p relay.Partition) (all []relay.Stored) {
	t.Helper()
	for next := int64(0); ; next = all[len(all)-1].Offset + 1 {
		found, err := b.Read(t.Context(), p, next, 1000)
		require.NoError(t, err)
		if len(found) == 0 {
			return all
		}
		all = append(all, found...)
	}
}

// kinds are those on a partition, in order, with their keys.
func kinds(t *testing.T, b *bus.Bus, p relay.Partition) (all []string) {
	t.Helper()
	for _, m := range stored(t, b, p) {
		env, err := bus.OpenEnvelope(m.Value, nil)
		require.NoError(t, err)
		all = append(all, m.Key+"/"+env.GetKind())
	}
	return all
}

func TestAPartitionWithoutALeaderDelaysNoOther(t *testing.T) {
	t.Parallel()
	c, b := cluster(t)
	d := dbtest.New(t, "contacts", nil)
	topics := []proto.Topic{proto.TopicNamed(proto.ContactTopic), proto.TopicNamed(proto.AuditTopic)}
	require.NoError(t, b.Ensure(t.Context(), topics))
	stuck := relay.Partition{Topic: proto.ContactTopic, Number: db.PartitionOf("k0", topics[0].Partitions)}
	fault := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce, kmsg.ListOffsets}, Topic: stuck.Topic, Partitions: []int32{int32(stuck.Number)},
		Err: kerr.NotLeaderForPartition, Count: -1})
	run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(err error) { t.Log(err) }) })
	for i := range 30 {
		emit(t, d, proto.ContactTopic, fmt.Sprint("k", i%10), fmt.Sprint(i))
		emit(t, d, proto.AuditTopic, fmt.Sprint("a", i), "audit")
	}
	began := time.Now()
	sent := func(topic proto.Topic) (n int) {
		for p := range topic.Partitions {
			n += len(stored(t, b, relay.Partition{Topic: topic.Name, Number: p}))
		}
		return n
	}
	of := 0 // messages for the partition that is stuck
	for i := range 30 {
		if db.PartitionOf(fmt.Sprint("k", i%10), topics[0].Partitions) == stuck.Number {
			of++
		}
	}
	until.Holds(t, func() bool { return sent(topics[1]) == 30 && sent(topics[0]) == 30-of }, 10*time.Second, 10*time.Millisecond)
	t.Log("the others were sent after", time.Since(began))
	fault.Remove()
	until.Holds(t, func() bool { return sent(topics[0]) == 30 }, 10*time.Second, 10*time.Millisecond)
	next := map[string]int{}
	for _, line := range kinds(t, b, stuck) {
		key, kind, _ := strings.Cut(line, "/")
		var first int
		_, err := fmt.Sscanf(key, "k%d", &first)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(first+10*next[key]), kind, "in the order of its key")
		next[key]++
	}
	require.Equal(t, 30, sent(topics[1]), "nothing was sent twice")
}

// kafka-go keeps a page of 64 KB for each batch of an answer. Relays and consumers read a message far before the end twice a minute.
func TestOneMessageIsReadWithoutThoseBehindIt(t *testing.T) {
	b := open(t)
	p := relay.Partition{Topic: topic(t, b, 1)}
	for i := range 300 {
		require.NoError(t, b.Append(t.Context(), []db.Message{{Topic: p.Topic, Key: fmt.Sprint(i), Value: []byte("v")}})[0].Err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := b.Read(t.Context(), p, 5, 1)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "5", found[0].Key)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	found, err = b.Read(t.Context(), p, 5, 1000)
	require.NoError(t, err)
	require.Len(t, found, 295)
}

func TestATopicThatIsDeletedIsMadeAnewWithAllThatIsKept(t *testing.T) {
	t.Parallel()
	c, b := cluster(t)
	d := dbtest.New(t, "settings", nil)
	publish := func(ctx context.Context, topic string) error {
		return d.Do(ctx, func(tx *db.Tx) error {
			return tx.Emit(ctx, db.Event{Topic: topic, Kind: "state", Key: "apps", Version: 5, State: true, Data: map[string]int{}})
		})
	}
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{proto.TopicNamed(proto.AppsTopic), proto.TopicNamed(proto.AuditTopic)}))
	run(t, func(ctx context.Context) {
		(&relay.Relay{DB: d, Log: b, PublishState: publish}).Run(ctx, func(err error) { t.Log(err) })
	})
	p := relay.Partition{Topic: proto.AppsTopic}
	for i := range 5 {
		emit(t, d, p.Topic, "apps", fmt.Sprint(i))
	}
	until.Holds(t, func() bool { return len(kinds(t, b, p)) == 5 }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, c.DeleteTopic(p.Topic))
	emit(t, d, p.Topic, "apps", "5")
	emit(t, d, proto.AuditTopic, "a", "audit")
	want := []string{"apps/0", "apps/1", "apps/2", "apps/3", "apps/4", "apps/5", "apps/state", proto.StateKey + "/" + proto.KindStatePublished}
	until.Holds(t, func() bool {
		found, err := b.Read(t.Context(), p, 0, 1)
		return err == nil && len(found) == 1 && len(kinds(t, b, p)) == len(want)
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, want, kinds(t, b, p))
	info := c.TopicInfo(p.Topic)
	require.Equal(t, "compact", *info.Configs["cleanup.policy"])
}

func TestATopicThatCannotBeUsedIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*kfake.Cluster) error
		want    []string
	}{
		"more partitions": {func(c *kfake.Cluster) error { return c.CreateTopic(proto.ContactTopic, 6, nil) },
			[]string{"contacts.contact has 6 partitions", "4 are wanted", "order", "delete the topic"}},
		"fewer partitions": {func(c *kfake.Cluster) error { return c.CreateTopic(proto.ContactTopic, 1, nil) }, []string{"has 1 partitions", "4 are wanted"}},
		"a setting that must not be changed": {func(c *kfake.Cluster) error {
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.IncrementalAlterConfigs}, Err: kerr.TopicAuthorizationFailed, Count: -1})
			keep := "3600000"
			return c.CreateTopic(proto.ContactTopic, 4, map[string]string{"cleanup.policy": "delete", "retention.ms": keep})
		}, []string{"contacts.contact has cleanup.policy=delete", "compact is wanted", "Set it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, b := cluster(t)
			require.NoError(t, test.prepare(c))
			err := b.Ensure(t.Context(), proto.Topics)
			require.ErrorAs(t, err, new(bus.Refused))
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestATopicIsUsedAsItIsWhereItsSettingsAreRight(t *testing.T) {
	t.Parallel()
	c, b := cluster(t)
	require.NoError(t, b.Ensure(t.Context(), proto.Topics))
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.IncrementalAlterConfigs}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	require.NoError(t, b.Ensure(t.Context(), proto.Topics))
	n, err := b.Partitions(t.Context(), proto.ContactTopic)
	require.NoError(t, err)
	require.Equal(t, proto.TopicNamed(proto.ContactTopic).Partitions, n)
}

func TestHowFarAGroupHasConsumedIsAsked(t *testing.T) {
	t.Parallel()
	c, b := cluster(t)
	topic := proto.TopicNamed(proto.AuditTopic)
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{topic}))
	of := []relay.Partition{{Topic: topic.Name, Number: 0}, {Topic: topic.Name, Number: 1}}
	none, err := b.Committed(t.Context(), "settings", of)
	require.NoError(t, err)
	require.Empty(t, none)
	client := &kafka.Client{Addr: kafka.TCP(c.ListenAddrs()...)}
	_, err = client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{GroupID: "settings", GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic.Name: {{Partition: 1, Offset: 7}}}})
	require.NoError(t, err)
	some, err := b.Committed(t.Context(), "settings", of)
	require.NoError(t, err)
	require.Equal(t, map[relay.Partition]int64{of[1]: 7}, some)
}
