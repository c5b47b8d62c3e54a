package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// brokerWithATopic is an embedded broker, a connection to it, and a compacted topic that it has.
func brokerWithATopic(t *testing.T) (*kfake.Cluster, *bus.Bus, proto.Topic) {
	t.Helper()
	broker, err := startBroker("", "127.0.0.1:0", "")
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	b := bus.New(broker.ListenAddrs()[0], bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	topic := proto.TopicNamed(proto.FormTopic)
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{topic}))
	return broker, b, topic
}

func TestTheEmbeddedBrokerCompactsOnlyWhatEveryServiceHasConsumed(t *testing.T) {
	t.Parallel()
	broker, b, topic := brokerWithATopic(t)
	for i := range 10 {
		require.NoError(t, b.Send(t.Context(), []db.Message{{Topic: topic.Name, Key: "one", Value: fmt.Append(nil, i)}}))
	}
	kept := func() int {
		found, err := b.Read(t.Context(), relay.Partition{Topic: topic.Name}, 0, 100)
		require.NoError(t, err)
		return len(found)
	}
	groups := []string{"booking", "webhooks"}
	require.False(t, compact(t.Context(), broker, groups), "webhooks has read nothing")
	commit(t, broker, "booking", topic.Name, 10)
	commit(t, broker, "webhooks", topic.Name, 9)
	require.False(t, compact(t.Context(), broker, groups))
	require.Equal(t, 10, kept())
	commit(t, broker, "webhooks", topic.Name, 10)
	require.True(t, compact(t.Context(), broker, groups))
	require.Less(t, kept(), 3, "the broker keeps its newest batch besides")
	require.NoError(t, b.Send(t.Context(), []db.Message{{Topic: topic.Name, Key: "two", Value: []byte("x")}}), "producers go on")
}

// Somebody always publishes, and what services commit is always a little behind.
func TestTheEmbeddedBrokerCompactsUnderSteadyTraffic(t *testing.T) {
	t.Parallel()
	broker, b, topic := brokerWithATopic(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		for ctx.Err() == nil {
			_ = b.Send(ctx, []db.Message{{Topic: topic.Name, Key: "one", Value: []byte("again")}})
		}
	})
	end := func() int64 { return broker.PartitionInfo(topic.Name, 0).HighWatermark }
	until.Holds(t, func() bool { return end() > 20 }, 10*time.Second, time.Millisecond)
	commit(t, broker, "booking", topic.Name, end()-1)
	running.Go(func() {
		client := &kafka.Client{Addr: kafka.TCP(broker.ListenAddrs()...)}
		for ctx.Err() == nil {
			at := end()
			time.Sleep(50 * time.Millisecond)
			_, _ = client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: "booking", GenerationID: -1,
				Topics: map[string][]kafka.OffsetCommit{topic.Name: {{Partition: 0, Offset: at}}}})
		}
	})
	require.True(t, compact(ctx, broker, []string{"booking"}))
	before := end()
	until.Holds(t, func() bool { return end() > before }, 10*time.Second, time.Millisecond, "producers do not go on")
}

func commit(t *testing.T, broker *kfake.Cluster, group, topic string, offset int64) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(broker.ListenAddrs()...)}
	res, err := client.OffsetCommit(context.Background(), &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset}}}})
	require.NoError(t, err)
	require.NoError(t, res.Topics[topic][0].Error)
}
