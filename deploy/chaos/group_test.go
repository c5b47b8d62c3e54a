package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

// shares are the numbers of partitions that the members of a service's group hold; nil while the group deals them.
func (w *world) shares(t *testing.T, service string) (shares []int) {
	t.Helper()
	client, _, err := w.System.Now(t).Broker()
	require.NoError(t, err)
	res, err := client.DescribeGroups(t.Context(), &kafka.DescribeGroupsRequest{GroupIDs: []string{service}})
	require.NoError(t, err)
	if res.Groups[0].GroupState != "Stable" {
		return nil
	}
	for _, m := range res.Groups[0].Members {
		n := 0
		for _, topic := range m.MemberAssignments.Topics {
			n += len(topic.Partitions)
		}
		shares = append(shares, n)
	}
	return shares
}

// shared waits until so many replicas of each service share its partitions evenly, and returns how long that took.
func (w *world) shared(t *testing.T, within time.Duration, replicas int, services ...string) time.Duration {
	t.Helper()
	began := time.Now()
	for _, s := range services {
		var partitions int
		require.NoError(t, w.DB.QueryRow(t.Context(), `select count(*) from `+s+`.position`).Scan(&partitions))
		want := map[int]int{}
		for i := range replicas {
			want[(partitions+i)/replicas]++
		}
		var have []int
		until.Holds(t, func() bool {
			have = w.shares(t, s)
			got := map[int]int{}
			for _, n := range have {
				got[n]++
			}
			return fmt.Sprint(got) == fmt.Sprint(want)
		}, within-time.Since(began), 20*time.Millisecond, "%s: %v", s, &have)
	}
	return time.Since(began)
}

// A replica that answers nobody any more is replaced within 15 seconds, whether its process is frozen, its host is gone or it was
// killed. When it is back it repeats nothing. One that stops in good order is replaced at once.
func TestAReplicaIsReplaced(t *testing.T) {
	w := start(t)
	services := []string{"booking", "contacts"}
	var near, far []*replica
	for _, s := range services {
		near = append(near, w.Replica(t, s))
		far = append(far, w.Far(t, s))
	}
	w.shared(t, 10*time.Second, 3, services...)

	each := func(of []*replica, f func(*replica, *testing.T)) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, r := range of {
				f(r, t)
			}
		}
	}
	kill := func(r *replica, _ *testing.T) { r.Kill() }
	gone := func(*testing.T) {}
	for _, c := range []struct {
		what       string
		begin, end func(*testing.T)
		within     time.Duration
		left       int // replicas while it is away
		again      int // and afterwards
	}{
		{"frozen", each(near, (*replica).Freeze), each(near, (*replica).Thaw), 15 * time.Second, 2, 3},
		{"cut off", each(far, (*replica).CutOff), each(far, (*replica).Connect), 15 * time.Second, 2, 3},
		{"stopped", each(near, (*replica).Stop), gone, 5 * time.Second, 2, 2},
		{"killed", each(far, kill), gone, 15 * time.Second, 1, 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := w.Load(t, 4, 4)
			from := time.Now()
			c.begin(t)
			began := time.Now()
			time.Sleep(time.Second) // messages for its partitions wait by now
			w.Recovered(t, c.within-time.Second)
			w.shared(t, c.within-time.Since(began), c.left, services...)
			replaced := time.Since(began)
			require.Empty(t, l.Failed(from, time.Now()), "the gateway sends it nothing")
			time.Sleep(lasts(20*time.Second, 3*time.Second))
			c.end(t)
			w.shared(t, 15*time.Second, c.again, services...)
			w.Report(t, "a replica of booking and one of contacts "+c.what, l, replaced)
		})
	}
}
