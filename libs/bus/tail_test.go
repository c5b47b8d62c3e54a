package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// tail follows topics and returns what it hears, with "begin" for each begin.
func tail(t *testing.T, b *bus.Bus, topics ...string) <-chan string {
	t.Helper()
	heard := make(chan string, 1000)
	run(t, func(ctx context.Context) {
		b.Tail(ctx, topics, func() { heard <- "begin" }, func(e bus.Event) { heard <- e.Key + "/" + e.Kind })
	})
	return heard
}

func next(t *testing.T, heard <-chan string) string {
	t.Helper()
	select {
	case h := <-heard:
		return h
	case <-time.After(20 * time.Second):
		require.Fail(t, "nothing was heard for 20 s")
		return ""
	}
}

func TestEveryTailHearsWhatIsPublishedAfterItsBeginning(t *testing.T) {
	t.Parallel()
	b, d := open(t), notes(t)
	one, two := topic(t, b, 4), topic(t, b, 1)
	emit(t, d, one, "key", "before")
	run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(err error) { t.Log(err) }) })
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	replicas := []<-chan string{tail(t, b, one, two), tail(t, b, one, two)}
	for _, heard := range replicas {
		require.Equal(t, "begin", next(t, heard))
	}
	for i := range 20 {
		emit(t, d, one, "key", fmt.Sprint(i))
	}
	for _, heard := range replicas {
		for i := range 20 {
			require.Equal(t, fmt.Sprint("key/", i), next(t, heard))
		}
	}
	emit(t, d, two, "other", "last")
	for _, heard := range replicas {
		require.Equal(t, "other/last", next(t, heard))
	}
}

func TestATailThatWasCutOffBeginsAgain(t *testing.T) {
	t.Parallel()
	broker, b := cluster(t)
	name := topic(t, b, 1)
	require.NoError(t, b.Send(t.Context(), []db.Message{{Topic: name, Key: "a"}, {Topic: name, Key: "b"}}))
	heard := tail(t, b, name)
	require.Equal(t, "begin", next(t, heard))
	// A topic that was made anew ends the reading of the one before.
	require.NoError(t, broker.DeleteTopic(name))
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: name, Partitions: 1, Compacted: true}}))
	require.Equal(t, "begin", next(t, heard))
}
