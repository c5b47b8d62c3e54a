package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestTheEmbeddedBrokerCompactsOnlyWhatEveryServiceHasConsumed(t *testing.T) {
	t.Parallel()
	broker, err := startBroker("", "127.0.0.1:0", "")
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	b := bus.New(broker.ListenAddrs()[0], bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	topic := proto.TopicNamed(proto.FormTopic)
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{topic}))
	for i := range 10 {
		require.NoError(t, b.Send(t.Context(), []db.Message{{Topic: topic.Name, Key: "one", Value: fmt.Append(nil, i)}}))
	}
	kept := func() int {
		found, err := b.Read(t.Context(), db.Partition{Topic: topic.Name}, 0, 100)
		require.NoError(t, err)
		return len(found)
	}
	groups := []string{"booking", "webhooks"}
	require.False(t, compact(broker, groups), "webhooks has read nothing")
	commit(t, broker, "booking", topic.Name, 10)
	commit(t, broker, "webhooks", topic.Name, 9)
	require.False(t, compact(broker, groups))
	require.Equal(t, 10, kept())
	commit(t, broker, "webhooks", topic.Name, 10)
	require.True(t, compact(broker, groups))
	require.Less(t, kept(), 3, "the broker keeps its newest batch besides")
	require.NoError(t, b.Send(t.Context(), []db.Message{{Topic: topic.Name, Key: "two", Value: []byte("x")}}), "producers go on")
}

func commit(t *testing.T, broker *kfake.Cluster, group, topic string, offset int64) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(broker.ListenAddrs()...)}
	res, err := client.OffsetCommit(context.Background(), &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset}}}})
	require.NoError(t, err)
	require.NoError(t, res.Topics[topic][0].Error)
}
