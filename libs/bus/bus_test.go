package bus_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/freeport"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// brokers are the ones at TEST_KAFKA_BROKERS, an Apache Kafka for instance, or one in the process.
func brokers(t *testing.T) string {
	t.Helper()
	// Not an input of the test, as os.Getenv would have it: Go's cache of tests may keep a result although the broker has another port.
	if b, _ := syscall.Getenv("TEST_KAFKA_BROKERS"); b != "" {
		return b
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return strings.Join(cluster.ListenAddrs(), ",")
}

// administrator is the login at brokers: with the certificate in TEST_KAFKA_CERT, signed by the authority in TEST_KAFKA_CA, if they are set.
func administrator(t *testing.T) bus.Login {
	t.Helper()
	pair := os.Getenv("TEST_KAFKA_CERT")
	return newLogin(t, bus.LoginOptions{CA: os.Getenv("TEST_KAFKA_CA"), Cert: pair, Key: pair})
}

// transport connects to brokers as the administrator, without the code under test.
func transport(t *testing.T) *kafka.Transport {
	t.Helper()
	out := &kafka.Transport{}
	t.Cleanup(out.CloseIdleConnections)
	if path := os.Getenv("TEST_KAFKA_CERT"); path != "" {
		pair, err := tls.LoadX509KeyPair(path, path)
		require.NoError(t, err)
		out.TLS = &tls.Config{RootCAs: roots(t, os.Getenv("TEST_KAFKA_CA")), Certificates: []tls.Certificate{pair}}
	}
	return out
}

func client(t *testing.T, brokers string) *kafka.Client {
	t.Helper()
	return &kafka.Client{Addr: kafka.TCP(strings.Split(brokers, ",")...), Transport: transport(t)}
}

// topic makes one of the test's own.
func topic(t *testing.T, b *bus.Bus, partitions int) string {
	t.Helper()
	name := "test." + db.NewID().String()
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: name, Partitions: partitions, Compacted: true}}))
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: name, Partitions: partitions, Compacted: true}}), "twice is once")
	return name
}

func TestATopicThatWasJustMadeTakesMessagesInEveryPartition(t *testing.T) {
	b := open(t)
	for range 10 {
		name := "test." + db.NewID().String()
		require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: name, Partitions: 8, Compacted: true}}))
		var all []db.Message
		for range 20 {
			all = append(all, db.Message{Topic: name, Key: db.NewID().String(), Value: []byte("x")})
		}
		require.NoError(t, b.Send(t.Context(), all))
	}
}

func TestTopicsThatExistGetTheSettingsOfTodayToo(t *testing.T) {
	addr := brokers(t)
	b := bus.New(addr, administrator(t))
	t.Cleanup(func() { _ = b.Close() })
	client := client(t, addr)
	kept, dropped := "test."+db.NewID().String(), "test."+db.NewID().String()
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: kept, NumPartitions: 1, ReplicationFactor: 1, ConfigEntries: []kafka.ConfigEntry{{ConfigName: "cleanup.policy", ConfigValue: "compact"}}},
		{Topic: dropped, NumPartitions: 1, ReplicationFactor: 1}}})
	require.NoError(t, err)
	require.NoError(t, errors.Join(made.Errors[kept], made.Errors[dropped]))
	require.NoError(t, b.Ensure(t.Context(), []proto.Topic{{Name: kept, Partitions: 1, Compacted: true}, {Name: dropped, Partitions: 1}}))

	for topic, want := range map[string]map[string]string{
		kept: {"cleanup.policy": "compact", "retention.ms": "-1", "min.insync.replicas": "1", "min.compaction.lag.ms": "604800000", "max.compaction.lag.ms": "691200000", "delete.retention.ms": "604800000",
			"segment.ms": "86400000"},
		dropped: {"cleanup.policy": "delete", "min.insync.replicas": "1", "retention.ms": "604800000", "segment.ms": "86400000"},
	} {
		got := map[string]string{}
		// The broker that answers may hear of the change a moment later.
		until.Holds(t, func() bool {
			res, err := client.DescribeConfigs(t.Context(), &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
				{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
			require.NoError(t, err)
			for _, e := range res.Resources[0].ConfigEntries {
				if _, ok := want[e.ConfigName]; ok {
					got[e.ConfigName] = e.ConfigValue
				}
			}
			return maps.Equal(want, got)
		}, 10*time.Second, 50*time.Millisecond, "%s has %v", topic, got)
	}
}

func open(t *testing.T) *bus.Bus {
	t.Helper()
	b := bus.New(brokers(t), administrator(t))
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// seen is what handlers have noted, in order.
func seen(t *testing.T, d *db.DB) (keys []string) {
	t.Helper()
	rows, err := d.Pool.Query(t.Context(), `select key from noted order by n`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var k string
		require.NoError(t, rows.Scan(&k))
		keys = append(keys, k)
	}
	return keys
}

func notes(t *testing.T) *db.DB {
	t.Helper()
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `create table noted (n bigint generated always as identity, key text)`)
	require.NoError(t, err)
	return d
}

func note(ctx context.Context, tx *db.Tx, e bus.Event) error {
	_, err := tx.Exec(ctx, `insert into noted (key) values ($1)`, e.Key+"/"+e.Kind)
	return err
}

func emit(t *testing.T, d *db.DB, topic, key, kind string) {
	t.Helper()
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		return tx.Emit(t.Context(), db.Event{Topic: topic, Kind: kind, Key: key, Version: 1, Data: map[string]int{"a": 1}})
	}))
}

func run(t *testing.T, f func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func TestWhatIsCommittedArrivesOnceAndInTheOrderOfItsKey(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 4)
	// Two relays and two consumers: two replicas.
	for range 2 {
		run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(err error) { t.Log(err) }) })
		c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
		run(t, c.Run)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 25 {
				emit(t, d, name, fmt.Sprint("key", k), fmt.Sprintf("%03d", i))
			}
		})
	}
	wg.Wait()
	until.Holds(t, func() bool { return len(seen(t, d)) >= 100 }, 20*time.Second, 10*time.Millisecond)
	next := map[string]int{}
	for _, line := range seen(t, d) {
		key, n, _ := strings.Cut(line, "/")
		require.Equal(t, fmt.Sprintf("%03d", next[key]), n, key)
		next[key]++
	}
	var left int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select count(*) from outbox where sent_at is null`).Scan(&left))
	require.Zero(t, left)
}

// deaf is a log whose answers are lost.
type deaf struct{ *bus.Bus }

func (d deaf) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	placed := d.Bus.Append(ctx, batch)
	for i := range placed {
		placed[i].Err = context.DeadlineExceeded
	}
	return placed
}

func TestARelayThatDiesAfterSendingCausesNoSecondEffect(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
	run(t, c.Run)
	emit(t, d, name, "a", "first")
	// The brokers have it, the relay does not learn it.
	require.Error(t, (&relay.Relay{DB: d, Log: deaf{b}}).Flush(t.Context()))
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	emit(t, d, name, "a", "last")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	until.Holds(t, func() bool { return len(seen(t, d)) >= 2 }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, []string{"a/first", "a/last"}, seen(t, d))
}

func TestConsumersThatLoseTheirConnectionsGoOnWithEachEffectOnce(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 2)
	for range 2 {
		c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
		run(t, c.Run)
	}
	run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(error) {}) })
	// The writer's only connection is spared.
	at, err := url.Parse(d.Pool.Config().ConnString())
	require.NoError(t, err)
	query := at.Query()
	query.Set("pool_max_conns", "1")
	at.RawQuery = query.Encode()
	writer, err := db.Open(t.Context(), at.String(), d.Schema)
	require.NoError(t, err)
	defer writer.Close()
	for i := range 60 {
		emit(t, writer, name, fmt.Sprint(i%7), fmt.Sprint(i))
		if i%20 == 10 {
			_, err := writer.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
			require.NoError(t, err)
		}
	}
	until.Holds(t, func() bool { return len(seen(t, writer)) >= 60 }, time.Minute, 10*time.Millisecond)
	once := map[string]bool{}
	for _, line := range seen(t, writer) {
		require.False(t, once[line], line)
		once[line] = true
	}
}

func TestAPositionOutsideTheTopicStartsAtWhatThereIs(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	emit(t, d, name, "a", "kept")
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	_, err := d.Pool.Exec(t.Context(), `insert into position (topic, partition, next) values ($1, 0, 99)`, name)
	require.NoError(t, err)
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
	run(t, c.Run)
	until.Holds(t, func() bool { return len(seen(t, d)) == 1 }, 10*time.Second, 5*time.Millisecond)
}

func TestATableHoldsTheNewestValueOfEachKey(t *testing.T) {
	b := open(t)
	name := topic(t, b, 1)
	send := func(key, value string) {
		m := db.Message{Topic: name, Key: key}
		if value != "" {
			m.Value = []byte(value)
		}
		require.NoError(t, b.Send(context.Background(), []db.Message{m}))
	}
	for _, m := range [][2]string{{"a", "1"}, {"b", "1"}, {"a", "2"}, {"b", ""}, {"c", "bad"}} {
		send(m[0], m[1])
	}
	table := bus.NewTable(b, name, func(_ string, v []byte) (string, int64, error) {
		if string(v) == "bad" {
			return "", 0, fmt.Errorf("cannot be read")
		}
		return string(v), 0, nil
	})
	var changes []string
	table.Watch(func(key, value string, gone bool) { changes = append(changes, fmt.Sprint(key, value, gone)) })
	run(t, table.Run)
	until.Holds(t, table.Ready, 10*time.Second, time.Millisecond)
	require.Equal(t, map[string]string{"a": "2"}, table.All())
	require.Equal(t, []string{"a1false", "b1false", "a2false", "b1true"}, changes)

	var sent sync.WaitGroup
	sent.Go(func() { time.Sleep(20 * time.Millisecond); send("d", "4") })
	defer sent.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.True(t, table.Wait(ctx, func() bool { v, _ := table.Get("d"); return v == "4" }))
}

func TestABrokerThatGoesAndComesBackLosesNothing(t *testing.T) {
	dir := t.TempDir()
	cluster, port := startBroker(t, dir, 0)
	b, d := bus.New(freeport.At(port), bus.Login{}), notes(t)
	defer b.Close()
	name := topic(t, b, 1)
	run(t, func(ctx context.Context) { (&relay.Relay{DB: d, Log: b}).Run(ctx, func(error) {}) })
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: note}}}
	run(t, c.Run)
	emit(t, d, name, "a", "before")
	until.Holds(t, func() bool { return len(seen(t, d)) == 1 }, 10*time.Second, 5*time.Millisecond)
	cluster.Close()
	emit(t, d, name, "a", "during")
	time.Sleep(300 * time.Millisecond)
	startBroker(t, dir, port)
	emit(t, d, name, "a", "after")
	until.Holds(t, func() bool { return len(seen(t, d)) == 3 }, 20*time.Second, 10*time.Millisecond)
	require.Equal(t, []string{"a/before", "a/during", "a/after"}, seen(t, d))
}
