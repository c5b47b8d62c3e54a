package bus_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// startBroker runs a broker with its data in dir, at a free port when port is 0. It returns its port, which no other process takes
// while the broker is away.
func startBroker(t *testing.T, dir string, port int) (*kfake.Cluster, int) {
	t.Helper()
	if port == 0 {
		port = freeport.Port()
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SyncWrites(), kfake.Ports(port))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return cluster, port
}

// madeEvents are messages as d's relay would send them: of the kind made, one for each key.
func madeEvents(t *testing.T, d *db.DB, topic string, keys ...string) (all []db.Message) {
	t.Helper()
	for _, key := range keys {
		all = append(all, madeEvent(t, d, topic, key, "made"))
	}
	return all
}

func madeEvent(t *testing.T, d *db.DB, topic, key, kind string) (m db.Message) {
	t.Helper()
	emit(t, d, topic, key, kind)
	require.NoError(t, d.Pool.QueryRow(t.Context(), `delete from outbox returning topic, key, value`).Scan(&m.Topic, &m.Key, &m.Value))
	return m
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%02d", prefix, i))
	}
	return names
}

// folder is the data of a broker whose topic has these messages and no others.
func folder(t *testing.T, topic string, messages []db.Message) string {
	t.Helper()
	dir := t.TempDir()
	cluster, port := startBroker(t, dir, 0)
	b := bus.New(fmt.Sprint("127.0.0.1:", port), bus.Login{})
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: topic, Partitions: 1, Compacted: true}}))
	for _, m := range messages { // one batch each, as under light load
		require.NoError(t, b.Send(t.Context(), []db.Message{m}))
	}
	require.NoError(t, b.Close())
	cluster.Close()
	return dir
}

func TestALogThatIsNotTheOneThatWasReadIsReadFromItsFirstMessage(t *testing.T) {
	const before = 10
	// The log has the kept messages, then the fresh ones, then the last of the old ones, sent again.
	for name, c := range map[string]struct{ kept, fresh, again int }{
		"its newest messages are lost, and it is shorter":          {6, 2, 0},
		"its newest messages are lost, and it is longer":           {6, 9, 0},
		"it lost one message and got another":                      {9, 1, 0},
		"it was made anew, and is shorter":                         {0, 3, 0},
		"it was made anew, and is as long":                         {0, 10, 0},
		"it was made anew, and is longer":                          {0, 12, 0},
		"it was made anew, and the same message stands at its end": {5, 1, 4},
		"its folder was emptied":                                   {0, 0, 0},
	} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, consumer away %v", name, away), func(t *testing.T) {
				t.Parallel()
				d, log := notes(t), "test."+db.NewID().String()
				old, fresh := madeEvents(t, d, log, numbered("old", before)...), madeEvents(t, d, log, numbered("fresh", c.fresh)...)
				first, second := folder(t, log, old), folder(t, log, slices.Concat(old[:c.kept], fresh, old[before-c.again:]))
				cluster, port := startBroker(t, first, 0)
				b := bus.New(fmt.Sprint("127.0.0.1:", port), bus.Login{})
				t.Cleanup(func() { _ = b.Close() })
				consume := func() func() {
					return run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: log, Handle: note}}}).Run)
				}
				stop := consume()
				until.Holds(t, func() bool { return len(seen(t, d)) == before }, 10*time.Second, 5*time.Millisecond)
				if away {
					stop()
				}
				cluster.Close()
				startBroker(t, second, port)
				if away {
					consume()
				}
				until.Holds(t, func() bool { return len(seen(t, d)) >= before+c.fresh }, 20*time.Second, 10*time.Millisecond)
				require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, "last")))
				until.Holds(t, func() bool { return len(seen(t, d)) > before+c.fresh }, 20*time.Second, 10*time.Millisecond)
				var want []string
				for _, kind := range append(append(numbered("old", before), numbered("fresh", c.fresh)...), "last") {
					want = append(want, kind+"/made")
				}
				require.Equal(t, want, seen(t, d), "each once")
			})
		}
	}
}

func TestALogThatIsTheSameIsNotReadAgain(t *testing.T) {
	t.Parallel()
	d, log, dir := notes(t), "test."+db.NewID().String(), t.TempDir()
	cluster, port := startBroker(t, dir, 0)
	b := bus.New(fmt.Sprint("127.0.0.1:", port), bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: log, Partitions: 1, Compacted: true}}))
	require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, "a", "b", "c")))
	run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: log, Handle: note}}}).KeptFor(time.Second).Run)
	until.Holds(t, func() bool { return len(seen(t, d)) == 3 }, 10*time.Second, 5*time.Millisecond)
	_, err := d.Pool.Exec(t.Context(), `delete from inbox`) // so that reading again would show
	require.NoError(t, err)
	cluster.Close()
	startBroker(t, dir, port)
	time.Sleep(1500 * time.Millisecond) // it checks every tenth of a second
	require.NoError(t, b.Send(t.Context(), madeEvents(t, d, log, "d")))
	until.Holds(t, func() bool { return len(seen(t, d)) >= 4 }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, []string{"a/made", "b/made", "c/made", "d/made"}, seen(t, d))
}

// copied is a service whose handler keeps a copy: the kind of the newest event of each key.
func copied(t *testing.T) (*db.DB, bus.Follow) {
	t.Helper()
	d := notes(t)
	_, err := d.Pool.Exec(t.Context(), `create table copy (key text primary key, kind text, history boolean)`)
	require.NoError(t, err)
	return d, bus.Follow{
		Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
			if e.Tombstone {
				_, err := tx.Exec(ctx, `delete from copy where key = $1`, e.Key)
				return err
			}
			_, err := tx.Exec(ctx, `insert into copy (key, kind, history) values ($1, $2, $3) on conflict (key) do update set kind = excluded.kind, history = excluded.history`,
				e.Key, e.Kind, e.History)
			return err
		},
		Keys: func(ctx context.Context, tx *db.Tx, after string, limit int) ([]string, error) {
			rows, err := tx.Query(ctx, `select key from copy where key > $1 order by key limit $2`, after, limit)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowTo[string])
		},
	}
}

func copies(t *testing.T, d *db.DB) map[string]string {
	t.Helper()
	rows, err := d.Pool.Query(t.Context(), `select key, kind || case when history then ' (history)' else '' end from copy`)
	require.NoError(t, err)
	all := map[string]string{}
	var key, kind string
	_, err = pgx.ForEachRow(rows, []any{&key, &kind}, func() error { all[key] = kind; return nil })
	require.NoError(t, err)
	return all
}

func TestACopyConvergesAfterALongAbsenceFromACompactedTopic(t *testing.T) {
	t.Parallel()
	const kept = 2 * time.Second
	cluster, port := startBroker(t, t.TempDir(), 0)
	b := bus.New(fmt.Sprint("127.0.0.1:", port), bus.Login{})
	t.Cleanup(func() { _ = b.Close() })
	d, f := copied(t)
	f.Topic = "test." + db.NewID().String()
	require.NoError(t, cluster.CreateTopic(f.Topic, 3, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "0"}))
	send := func(kind string, keys ...string) {
		t.Helper()
		for _, key := range keys {
			m := db.Message{Topic: f.Topic, Key: key}
			if kind != "" {
				m = madeEvent(t, d, f.Topic, key, kind)
			}
			require.NoError(t, b.Send(t.Context(), []db.Message{m}))
		}
	}
	var locked sync.Map
	f.Lock = func(_ context.Context, _ *db.Tx, events []bus.Event) error {
		for _, e := range events {
			locked.Store(e.Key, e.Tombstone)
		}
		return nil
	}
	consume := func() func() {
		return run(t, (&bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{f}}).KeptFor(kept).Run)
	}
	send("made", numbered("stays", 5)...)
	send("made", numbered("changes", 5)...)
	send("made", numbered("goes", 5)...)
	stop := consume()
	until.Holds(t, func() bool { return len(copies(t, d)) == 15 }, 10*time.Second, 5*time.Millisecond)
	stop()

	send("changed", numbered("changes", 5)...)
	send("", numbered("goes", 5)...)
	send("made", numbered("new", 20)...) // each partition ends in one of these: its end is never compacted
	cluster.Compact()
	time.Sleep(kept + 100*time.Millisecond)
	send("made", "now")
	consume()
	until.Holds(t, func() bool { return copies(t, d)["now"] != "" && len(copies(t, d)) == 31 }, 10*time.Second, 5*time.Millisecond)
	got := copies(t, d)
	for _, key := range numbered("changes", 5) {
		require.Equal(t, "changed (history)", got[key], key)
	}
	for _, key := range numbered("new", 20) {
		require.Equal(t, "made (history)", got[key], key)
	}
	together := 0
	for _, key := range numbered("goes", 5) {
		require.NotContains(t, got, key, "its tombstone is compacted away")
		if gone, ok := locked.Load(key); ok && gone == true {
			together++
		}
	}
	require.Greater(t, together, 1, "several at once are locked in the service's order")
	require.Equal(t, "made", got["now"])
}

func TestANewServiceTakesAFullTopicForHistory(t *testing.T) {
	t.Parallel()
	b, sender := open(t), notes(t)
	d, f := copied(t)
	f.Topic = topic(t, b, 2)
	sender.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) } // long before the tests' databases were made
	require.NoError(t, b.Send(t.Context(), madeEvents(t, sender, f.Topic, "yesterday")))
	sender.Now = time.Now
	consume := func(follows ...bus.Follow) func() {
		return run(t, (&bus.Consumer{Bus: b, DB: d, Follows: follows}).Run)
	}
	stop := consume(f)
	require.NoError(t, b.Send(t.Context(), madeEvents(t, sender, f.Topic, "today")))
	want := map[string]string{"yesterday": "made (history)", "today": "made"}
	until.Holds(t, func() bool { return len(copies(t, d)) == len(want) }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, want, copies(t, d))

	// A later version follows one more topic.
	stop()
	sender.Now = func() time.Time { return time.Now().Add(-2 * time.Second) }
	g := f
	g.Topic = topic(t, b, 1)
	require.NoError(t, b.Send(t.Context(), madeEvents(t, sender, g.Topic, "before the upgrade")))
	consume(f, g)
	until.Holds(t, func() bool { return copies(t, d)["before the upgrade"] == "made (history)" }, 10*time.Second, 5*time.Millisecond)
}
