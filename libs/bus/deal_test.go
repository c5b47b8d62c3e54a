package bus

import (
	"fmt"
	"slices"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"pgregory.net/rapid"

	"frontdesk/proto"
)

func TestPartitionsAreDealtEvenlyAndEquallyForEqualMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var topics []string
		var partitions []kafka.Partition
		for n := range rapid.IntRange(1, 8).Draw(t, "topics") {
			topics = append(topics, fmt.Sprint("topic", n))
			for p := range rapid.IntRange(1, 13).Draw(t, "partitions") {
				partitions = append(partitions, kafka.Partition{Topic: topics[n], ID: p})
			}
		}
		var members []kafka.GroupMember
		for n := range rapid.IntRange(1, 7).Draw(t, "members") {
			members = append(members, kafka.GroupMember{ID: fmt.Sprint("member", n), Topics: topics})
		}
		d := &dealer{}
		dealt := d.AssignGroups(members, partitions)
		require.Equal(t, dealt, d.AssignGroups(rapid.Permutation(members).Draw(t, "members"), rapid.Permutation(partitions).Draw(t, "partitions")))

		owners := map[string]int{}
		var sizes []int
		perTopic := map[string][]int{}
		for _, m := range members {
			size := 0
			for _, topic := range topics {
				mine := dealt[m.ID][topic]
				for _, p := range mine {
					owners[fmt.Sprint(topic, "/", p)]++
				}
				perTopic[topic] = append(perTopic[topic], len(mine))
				size += len(mine)
			}
			sizes = append(sizes, size)
		}
		for _, p := range partitions {
			require.Equal(t, 1, owners[fmt.Sprint(p.Topic, "/", p.ID)], "owners of %v", p)
		}
		require.Len(t, owners, len(partitions))
		require.LessOrEqual(t, slices.Max(sizes)-slices.Min(sizes), 1)
		for topic, of := range perTopic {
			require.LessOrEqual(t, slices.Max(of)-slices.Min(of), 1, topic)
		}
	})
}

func TestAPartitionIsDealtOnlyToAMemberThatFollowsItsTopic(t *testing.T) {
	d := &dealer{}
	got := d.AssignGroups(
		[]kafka.GroupMember{{ID: "new", Topics: []string{"old", "added"}}, {ID: "former", Topics: []string{"old"}}},
		[]kafka.Partition{{Topic: "old", ID: 0}, {Topic: "old", ID: 1}, {Topic: "added", ID: 0}, {Topic: "added", ID: 1}, {Topic: "nobody's", ID: 0}})
	require.Equal(t, kafka.GroupMemberAssignments{"new": {"added": {0, 1}}, "former": {"old": {0, 1}}}, got)
	require.Equal(t, map[string]int{"old": 2, "added": 2, "nobody's": 1}, d.take("new"))
	require.Nil(t, d.take("new"), "taken once")
}

func TestAMemberOfAnotherVersionIsNoReasonToDealAgain(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	b := New(cluster.ListenAddrs()[0], Login{})
	t.Cleanup(func() { _ = b.Close() })
	require.NoError(t, b.Ensure(t.Context(), proto.Topics))
	leader := &Consumer{Bus: b, Follows: []Follow{{Topic: proto.ContactTopic}}}
	later := []string{proto.ContactTopic, proto.PageTopic}
	d := &dealer{Consumer: leader}
	members := []kafka.GroupMember{{ID: "leader", Topics: leader.topics()}, {ID: "later", Topics: later}}
	all, err := leader.partitions(t.Context(), later)
	require.NoError(t, err)
	d.AssignGroups(members, all)
	dealt := d.take("leader")
	require.False(t, leader.changed(t.Context(), dealt))
	dealt[proto.ContactTopic]--
	require.True(t, leader.changed(t.Context(), dealt))

	// kafka-go passes none while one topic is missing.
	got := d.AssignGroups(append(members, kafka.GroupMember{ID: "latest", Topics: []string{"contacts.missing"}}), nil)
	require.Equal(t, []int{0}, got["later"][proto.PageTopic])
}
