package bus_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// held are the numbers of partitions that the members of a group hold, smallest first; nil while it deals them.
func held(t *testing.T, client *kafka.Client, group string) (sizes []int) {
	t.Helper()
	res, err := client.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	require.NoError(t, err)
	if res.Groups[0].GroupState != "Stable" {
		return nil
	}
	for _, m := range res.Groups[0].Members {
		n := 0
		for _, topic := range m.MemberAssignments.Topics {
			n += len(topic.Partitions)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return sizes
}

func TestReplicasShareThePartitionsOfAllTopicsAndHandThemOver(t *testing.T) {
	addr := brokers(t)
	broker := client(t, addr)
	b, d := bus.New(addr, administrator(t)), notes(t)
	t.Cleanup(func() { _ = b.Close() })
	follows := []bus.Follow{{Topic: topic(t, b, 4), Handle: note}, {Topic: topic(t, b, 3), Handle: note}, {Topic: topic(t, b, 1), Handle: note}}
	var stops []func()
	for range 3 {
		c := &bus.Consumer{Bus: b, DB: d, Follows: follows}
		stops = append(stops, run(t, c.Run))
	}
	share := func(want ...int) {
		t.Helper()
		until.Holds(t, func() bool { return slices.Equal(held(t, broker, d.Schema), want) }, 10*time.Second, 10*time.Millisecond, want)
	}
	share(2, 3, 3)
	stops[0]()
	share(4, 4)
	for i := range 40 {
		emit(t, d, follows[i%3].Topic, fmt.Sprint(i), "made")
	}
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	stops[1]()
	share(8)
	until.Holds(t, func() bool { return len(seen(t, d)) >= 40 }, 10*time.Second, 10*time.Millisecond)
	stops[2]()
	require.Len(t, seen(t, d), 40)
}

func TestTheGroupKnowsThePositions(t *testing.T) {
	addr := brokers(t)
	b, d := bus.New(addr, administrator(t)), notes(t)
	t.Cleanup(func() { _ = b.Close() })
	name := topic(t, b, 1)
	committed := func() int64 {
		res, err := client(t, addr).OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: d.Schema, Topics: map[string][]int{name: {0}}})
		require.NoError(t, err)
		return res.Topics[name][0].CommittedOffset
	}
	emit(t, d, name, "a", "first")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
	stop := run(t, c.Run)
	until.Holds(t, func() bool { return committed() == 1 }, 10*time.Second, 10*time.Millisecond)
	emit(t, d, name, "a", "last")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	until.Holds(t, func() bool { return len(seen(t, d)) == 2 }, 10*time.Second, time.Millisecond)
	stop()
	require.EqualValues(t, 2, committed(), "a stop commits what was handled")
}

// Each of the two believes that it holds all partitions, like a replica that was frozen and the one that replaced it.
func TestReplicasOfTwoGenerationsHaveEachEffectOnce(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 2)
	frozen := &db.DB{Pool: d.Pool, Schema: "another_group", Now: d.Now} // its connections work in the same schema
	for _, d := range []*db.DB{d, frozen} {
		c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
		run(t, c.Run)
	}
	run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(error) {}) })
	for i := range 100 {
		emit(t, d, name, fmt.Sprint(i%7), fmt.Sprint(i))
		time.Sleep(5 * time.Millisecond)
	}
	until.Holds(t, func() bool { return len(seen(t, d)) >= 100 }, 20*time.Second, 10*time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	keys := seen(t, d)
	slices.Sort(keys)
	require.Len(t, keys, 100)
	require.Len(t, slices.Compact(keys), 100)
}

func TestAProcessTakesThePlaceOfTheKilledOneOfItsName(t *testing.T) {
	addr := brokers(t)
	b, d := bus.New(addr, administrator(t)), notes(t)
	t.Cleanup(func() { _ = b.Close() })
	name := topic(t, b, 2)
	// It joins and is never heard of again.
	killed, as := client(t, addr), transport(t)
	as.ClientID = "host:1"
	killed.Transport = as
	join := &kafka.JoinGroupRequest{GroupID: d.Schema, SessionTimeout: 20 * time.Second, RebalanceTimeout: 20 * time.Second,
		ProtocolType: "consumer", Protocols: []kafka.GroupProtocol{{Name: "frontdesk", Metadata: kafka.GroupProtocolSubscription{Topics: []string{name}}}}}
	until.Holds(t, func() bool { // a broker that has just started coordinates no group yet
		joined, err := killed.JoinGroup(t.Context(), join)
		require.NoError(t, err)
		join.MemberID = joined.MemberID
		return errors.Is(joined.Error, kafka.MemberIDRequired)
	}, 10*time.Second, 50*time.Millisecond)
	joined, err := killed.JoinGroup(t.Context(), join)
	require.NoError(t, err)
	require.NoError(t, joined.Error)
	emit(t, d, name, "a", "made")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	c := &bus.Consumer{Bus: b, DB: d, Member: "host:1", Follows: []bus.Follow{{Topic: name, Handle: note}}}
	run(t, c.Run)
	until.Holds(t, func() bool { return len(seen(t, d)) == 1 }, 5*time.Second, 5*time.Millisecond)
}

func TestReplicasOfOneNameBothStay(t *testing.T) {
	addr := brokers(t)
	broker := client(t, addr)
	b, d := bus.New(addr, administrator(t)), notes(t)
	t.Cleanup(func() { _ = b.Close() })
	name := topic(t, b, 4)
	for range 8 { // so many that they would end each other's memberships if they did it more than once
		c := &bus.Consumer{Bus: b, DB: d, Member: "localhost:8000", Follows: []bus.Follow{{Topic: name, Handle: note}}}
		run(t, c.Run)
	}
	shared := func() bool { return slices.Equal(held(t, broker, d.Schema), []int{0, 0, 0, 0, 1, 1, 1, 1}) }
	// A membership that is ended while it joins holds the group up once, for its session and for the wait for its members.
	until.Holds(t, shared, 20*time.Second, 10*time.Millisecond)
	for range 20 {
		require.True(t, shared())
		time.Sleep(50 * time.Millisecond)
	}
}

func TestAStopWaitsForTheRunningTransactionAndStartsNoOther(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	var begun, done atomic.Int64
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		begun.Add(1)
		time.Sleep(300 * time.Millisecond)
		tx.AfterCommit(func() { done.Add(1) })
		return note(ctx, tx, e)
	}}}}
	emit(t, d, name, "a", "made")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	stop := run(t, c.Run)
	until.Holds(t, func() bool { return begun.Load() == 1 }, 10*time.Second, time.Millisecond)
	emit(t, d, name, "a", "later")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	stop()
	require.EqualValues(t, 1, done.Load())
	require.EqualValues(t, 1, begun.Load())
	require.Equal(t, []string{"a/made"}, seen(t, d))
}

func TestATopicThatAppearsLaterIsDealtTooAndHoldsNoOtherUp(t *testing.T) {
	addr := brokers(t)
	broker := client(t, addr)
	b, d := bus.New(addr, administrator(t)), notes(t)
	t.Cleanup(func() { _ = b.Close() })
	name, later := topic(t, b, 1), "test."+db.NewID().String()
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}, {Topic: later, Handle: note}}}
	run(t, c.Run)
	until.Holds(t, func() bool { return slices.Equal(held(t, broker, d.Schema), []int{1}) }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: later, Partitions: 3, Compacted: true}}))
	until.Holds(t, func() bool { return slices.Equal(held(t, broker, d.Schema), []int{4}) }, 25*time.Second, 20*time.Millisecond)
}

func TestAConsumerThatHasStoppedLeavesNothingRunning(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 4)
	running := func() int {
		c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
		before := len(seen(t, d))
		stop := run(t, c.Run)
		emit(t, d, name, "a", "made")
		require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
		until.Holds(t, func() bool { return len(seen(t, d)) > before }, 10*time.Second, 5*time.Millisecond)
		stop()
		return runtime.NumGoroutine()
	}
	first := running() // connections of the bus stay open
	for range 4 {
		running()
	}
	// Readers end with the fetch that they have at the broker.
	until.Holds(t, func() bool { return runtime.NumGoroutine() <= first }, 10*time.Second, 20*time.Millisecond)
}
