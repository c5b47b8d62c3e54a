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
		require.Empty(t, m.plan(now.Add(pause), -1).some, "its pause is not over")
		now = now.Add(pause + 1)
		require.Equal(t, []Partition{p}, m.plan(now, -1).some)
		m.verified(p)
		require.Empty(t, m.leftOut())
		require.Empty(t, took(away), "that is no news")
	}
	m.verified(p)
	require.Empty(t, took(nil))
	require.Len(t, took(away), 1, "a new failure is")
	require.Equal(t, 100*time.Millisecond, m.partitions[p].pause)
}
