package relay

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// A night without Kafka leaves many rows, and each look reads all of them.
func TestLooksThatFindOnlyHeldRowsTakeASmallPartOfTheTime(t *testing.T) {
	m, now := newMachine(), time.Now()
	require.Zero(t, m.rest(time.Second), "nothing is held")
	m.appended([]*row{{Message: db.Message{Topic: proto.AuditTopic}, placed: Placed{Partition: -1, Err: errors.New("no broker")}}}, now)
	require.Equal(t, 20*time.Millisecond, m.rest(time.Millisecond))
	require.Equal(t, longestHold, m.rest(time.Minute), "it looks again when a hold can be over")
}

func TestAPartitionIsHeldForLongerEachTimeUntilItTakesAMessage(t *testing.T) {
	m, now, p := newMachine(), time.Now(), Partition{proto.AuditTopic, 0}
	took := func(err error) (failed []error) {
		_, failed = m.appended([]*row{{Message: db.Message{Topic: p.Topic}, placed: Placed{Of: 1, Err: err}}}, now)
		return failed
	}
	away := errors.New("no leader")
	require.Len(t, took(away), 1)
	for _, ms := range []int{100, 200, 400, 800, 1600, 2000, 2000} {
		pause := time.Duration(ms) * time.Millisecond
		require.Equal(t, []Partition{p}, m.leftOut())
		some := func(now time.Time) []Partition {
			plan, ok := m.plan(now, -1)
			require.True(t, ok)
			return plan.some
		}
		require.Empty(t, some(now.Add(pause)), "its pause is not over")
		now = now.Add(pause + 1)
		require.Equal(t, []Partition{p}, some(now))
		m.verified(p)
		require.Empty(t, m.leftOut())
		require.Empty(t, took(away), "that is no news")
	}
	m.verified(p)
	require.Empty(t, took(nil))
	require.Len(t, took(away), 1, "a new failure is")
	require.Equal(t, 100*time.Millisecond, m.partitions[p].pause)
}

func TestNothingIsSentBeforeTheLogIsVerifiedOverItsConnections(t *testing.T) {
	m, now := newMachine(), time.Now()
	first, ok := m.plan(now, 0)
	require.True(t, ok && first.whole, "a process that starts verifies")
	m.failed(first, now)
	_, ok = m.plan(now.Add(longestHold), 0)
	require.False(t, ok, "what failed is tried again later, and nothing is sent meanwhile")
	again, ok := m.plan(now.Add(longestHold+1), 0)
	require.True(t, ok && again.whole)
	m.checked(again, 0)
	rest, ok := m.plan(now.Add(time.Hour), 0)
	require.True(t, ok && !m.verifies(rest))
	anew, _ := m.plan(now.Add(time.Hour), 1)
	require.True(t, anew.whole, "over another connection")
	require.True(t, m.behind(nil, nil, "settings", 1).whole, "and so does a batch during which one was made")
}
