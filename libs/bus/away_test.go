package bus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
)

// withoutLeader makes the cluster refuse what concerns partition 0 of a topic while away is set.
func withoutLeader(cluster *kfake.Cluster, away *atomic.Bool) {
	refuse := func(key kmsg.Key, about func(kmsg.Request) bool, refusal func(kmsg.Request) kmsg.Response) {
		cluster.ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			if !away.Load() || !about(r) {
				return nil, nil, false
			}
			return refusal(r), nil, true
		})
	}
	refuse(kmsg.ListOffsets, func(r kmsg.Request) bool {
		t := r.(*kmsg.ListOffsetsRequest).Topics
		return len(t) == 1 && strings.HasPrefix(t[0].Topic, "test.") && t[0].Partitions[0].Partition == 0
	}, func(r kmsg.Request) kmsg.Response {
		res := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = r.(*kmsg.ListOffsetsRequest).Topics[0].Topic
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.ErrorCode = kerr.LeaderNotAvailable.Code
		t.Partitions = append(t.Partitions, p)
		res.Topics = append(res.Topics, t)
		return res
	})
	refuse(kmsg.Fetch, func(r kmsg.Request) bool {
		t := r.(*kmsg.FetchRequest).Topics
		return len(t) == 1 && strings.HasPrefix(t[0].Topic, "test.") && t[0].Partitions[0].Partition == 0
	}, func(r kmsg.Request) kmsg.Response {
		res := r.ResponseKind().(*kmsg.FetchResponse)
		t := kmsg.NewFetchResponseTopic()
		t.Topic = r.(*kmsg.FetchRequest).Topics[0].Topic
		p := kmsg.NewFetchResponseTopicPartition()
		p.ErrorCode = kerr.NotLeaderForPartition.Code
		t.Partitions = append(t.Partitions, p)
		res.Topics = append(res.Topics, t)
		return res
	})
}

func TestAPartitionWithoutALeaderHoldsItselfUpOnly(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"the start", "while it is read"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
			require.NoError(t, err)
			t.Cleanup(cluster.Close)
			var away atomic.Bool
			withoutLeader(cluster, &away)
			b := bus.New(cluster.ListenAddrs()[0], bus.Login{})
			t.Cleanup(func() { _ = b.Close() })
			d, log := notes(t), topic(t, b, 2)
			of := map[int][]string{}
			for _, key := range numbered("key", 40) {
				p := db.PartitionOf(key, 2)
				of[p] = append(of[p], key)
			}
			has := func(n int) func() bool { return func() bool { return len(seen(t, d)) >= n } }
			away.Store(from == "the start")
			run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: log, Handle: note}}}).Run)
			if !away.Load() {
				require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, of[0][0], of[1][0])))
				until.Holds(t, has(2), 20*time.Second, 5*time.Millisecond)
				away.Store(true)
			}
			before := len(seen(t, d))
			require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, of[0][1], of[1][1], of[1][2])))
			until.Holds(t, has(before+2), 20*time.Second, 5*time.Millisecond)
			if from == "the start" { // else a fetch may have been under way
				require.NotContains(t, seen(t, d), of[0][1]+"/made")
			}
			away.Store(false)
			until.Holds(t, has(before+3), 20*time.Second, 5*time.Millisecond)
		})
	}
}

// heard are the events that a handler has got, and whether each was history.
func heard(t *testing.T, d *db.DB, fails func(e bus.Event) error) (bus.Handler, func() map[string]bool) {
	t.Helper()
	_, err := d.Pool.Exec(t.Context(), `create table heard (key text primary key, history boolean)`)
	require.NoError(t, err)
	return func(ctx context.Context, tx *db.Tx, e bus.Event) error {
			if err := fails(e); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `insert into heard (key, history) values ($1, $2)`, e.Key, e.History)
			return err
		}, func() map[string]bool {
			all := map[string]bool{}
			rows, err := d.Pool.Query(t.Context(), `select key, history from heard`)
			require.NoError(t, err)
			defer rows.Close()
			for rows.Next() {
				var key string
				var history bool
				require.NoError(t, rows.Scan(&key, &history))
				all[key] = history
			}
			require.NoError(t, rows.Err())
			return all
		}
}

func TestAMessageThatWasHistoryWhenItWasParkedIsReplayedAsHistory(t *testing.T) {
	t.Parallel()
	b, d, sender := open(t), notes(t), notes(t)
	log := topic(t, b, 1)
	var mended atomic.Bool
	handle, all := heard(t, d, func(bus.Event) error {
		if !mended.Load() {
			return errors.New("not yet")
		}
		return nil
	})
	c := (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: log, Handle: handle}}}).ParkAtOnce()
	sender.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
	require.NoError(t, b.Send(t.Context(), madeEvents(t, sender, log, "yesterday")))
	sender.Now = time.Now
	stop := run(t, c.Run)
	var parked []bus.Parked
	arrived := func(n int) func() bool {
		return func() bool {
			var err error
			parked, err = c.Parked(t.Context())
			return err == nil && len(parked) == n
		}
	}
	until.Holds(t, arrived(1), 20*time.Second, 5*time.Millisecond)
	today := madeEvent(t, sender, log, "today", "made")
	require.NoError(t, b.Send(t.Context(), []db.Message{today, {Topic: log, Key: "not \x00 a \xff key", Value: madeEvent(t, sender, log, "odd", "made").Value}}))
	until.Holds(t, arrived(3), 20*time.Second, 5*time.Millisecond)
	stop()
	mended.Store(true)
	for _, p := range parked {
		require.NoError(t, c.Replay(t.Context(), p.ID))
	}
	require.Equal(t, map[string]bool{"yesterday": true, "today": false, "not  a ? key": false}, all())
}

func TestAfterALogWasMadeAnewARestoreOfAnOlderBackupTakesAllOfItForHistory(t *testing.T) {
	t.Parallel()
	d, log := notes(t), "test."+db.NewID().String()
	handle, all := heard(t, d, func(bus.Event) error { return nil })
	first, second := folder(t, log, madeEvents(t, d, log, numbered("old", 3)...)), folder(t, log, madeEvents(t, d, log, numbered("fresh", 5)...))
	cluster, port := startBroker(t, first, 0)
	b := bus.New(fmt.Sprint("127.0.0.1:", port), bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	consumer := func() *bus.Consumer {
		return &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: log, Handle: handle}}}
	}
	stop := run(t, consumer().Run)
	until.Holds(t, func() bool { return len(all()) == 3 }, 20*time.Second, 5*time.Millisecond)
	stop()
	// The backup.
	_, err := d.Pool.Exec(t.Context(), `create table backup as table position`)
	require.NoError(t, err)

	cluster.Close()
	startBroker(t, second, port)
	stop = run(t, consumer().Run)
	until.Holds(t, func() bool { return len(all()) == 8 }, 20*time.Second, 5*time.Millisecond)
	until.Holds(t, func() bool {
		at, err := b.Committed(t.Context(), d.Schema, []relay.Partition{{Topic: log}})
		return err == nil && at[relay.Partition{Topic: log}] == 5
	}, 20*time.Second, 5*time.Millisecond)
	stop()

	// The schema goes back to it.
	_, err = d.Pool.Exec(t.Context(), `truncate position, inbox, heard; insert into position select * from backup`)
	require.NoError(t, err)
	require.NoError(t, consumer().TakeAsHistory(t.Context()))
	require.NoError(t, consumer().CatchUp(t.Context()))
	run(t, consumer().Run)
	require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, "news")))
	until.Holds(t, func() bool { return slices.Contains(keys(all()), "news") }, 20*time.Second, 5*time.Millisecond)
	want := map[string]bool{"news": false}
	for _, key := range numbered("fresh", 5) {
		want[key] = true
	}
	require.Equal(t, want, all())
}

func keys(m map[string]bool) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}
