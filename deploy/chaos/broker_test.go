package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"frontdesk/deploy/system"
	"frontdesk/libs/db"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// Apache Kafka keeps the last offset of a batch whose last message was compacted away, and answers with the batch again.
func TestResyncReadsWhatApacheKafkaHasCompacted(t *testing.T) {
	t.Setenv("SVC_KAFKA", "apache")
	w := start(t, "SVC_KAFKA=apache")
	var people []string
	for range 60 {
		people = append(people, w.person(t, system.Address("kept")))
	}
	w.Settled(t)
	saved := filepath.Join(t.TempDir(), "backup")
	w.local(t, "backup", saved)

	client, _, err := w.System.Now(t).Broker()
	require.NoError(t, err)
	eager := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: proto.ContactTopic}
	for name, value := range map[string]string{"segment.ms": "1000", "min.compaction.lag.ms": "0", "min.cleanable.dirty.ratio": "0.01"} {
		eager.Configs = append(eager.Configs, kafka.IncrementalAlterConfigsRequestConfig{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
	}
	altered, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{eager}})
	require.NoError(t, err)
	require.NoError(t, altered.Resources[0].Error)
	for round := range 3 {
		for _, id := range people {
			w.Admin.Call(t, "PATCH", "/contacts/"+id, map[string]any{"mode": "overwrite", "last_name": fmt.Sprint("Maes ", round)}).Is(200)
		}
		w.Settled(t)
		time.Sleep(1200 * time.Millisecond) // the next message begins a segment
	}
	size := w.segments(t, proto.ContactTopic)
	until.Holds(t, func() bool { return w.segments(t, proto.ContactTopic) < size }, 2*time.Minute, 500*time.Millisecond, "nothing is compacted")
	version := w.number(t, `select min(version) from contacts.contact where id = any($1::uuid[])`, people)

	began := time.Now()
	w.nothingSentAgain(t, func() { w.local(t, "restore", "-services", "contacts", saved) })
	took := time.Since(began)
	counts := map[string]int{}
	for _, id := range people {
		counts["version of "+id] = w.number(t, `select count(*) from contacts.contact where id = $1 and version > $2`, id, version)
	}
	reportCounts(t, "contacts goes back to a backup, with segments that Apache Kafka has compacted", fmt.Sprint(len(people), " contacts"), took, counts)
}

// segments is the size of a topic's log in the folder of Apache Kafka.
func (w *world) segments(t *testing.T, topic string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(w.System.Data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.Contains(path, "/"+topic+"-") || filepath.Ext(path) != ".log" {
			return nil // a segment may go meanwhile
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	}))
	return n
}

// While a version runs beside one that follows another topic more, the group deals its partitions for each that comes or goes, and no more.
func TestVersionsWithDifferentTopicsShareAGroup(t *testing.T) {
	w := start(t)
	l := w.Load(t, 4, 4)
	from := time.Now()
	next := alsoFollows(t, "contacts", "SiteTopic")
	admins := []string{w.System.Now(t).Processes["contacts"].Admin}
	replicas := []*replica{w.Replica(t, "contacts"), w.replica(t, "contacts", how{binary: next}), w.replica(t, "contacts", how{binary: next})}
	for _, r := range replicas {
		admins = append(admins, r.Admin)
	}
	w.stable(t, "contacts")
	before := rebalances(t, admins)
	time.Sleep(lasts(30*time.Second, 8*time.Second)) // the leader looks for other partitions every two seconds
	again := rebalances(t, admins) - before
	replicas[0].Stop(t)
	w.stable(t, "contacts")
	took := w.Recovered(t, time.Minute)
	require.Empty(t, l.Failed(from, time.Now()))
	require.Zero(t, again, "the group dealt its partitions without a cause")
	l.about += fmt.Sprintf(", %d rebalances in %s", again, lasts(30*time.Second, 8*time.Second))
	w.Report(t, "two versions of contacts with different topics", l, took)
}

// alsoFollows builds a service that follows one more topic.
func alsoFollows(t *testing.T, service, topic string) (program string) {
	t.Helper()
	root, err := system.Root()
	require.NoError(t, err)
	file := filepath.Join(root, "libs", "app", "run.go")
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	const follows = "[]bus.Follow{{Topic: proto.ForgetTopic, Handle: r.forgetPerson}}"
	require.Equal(t, 1, bytes.Count(source, []byte(follows)))
	dir := t.TempDir()
	changed := strings.Replace(string(source), follows, strings.TrimSuffix(follows, "}")+
		", {Topic: proto."+topic+", Handle: func(context.Context, *db.Tx, bus.Event) error { return nil }}}", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.go"), []byte(changed), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: filepath.Join(dir, "run.go")}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	return system.Build(t, service, "-overlay", filepath.Join(dir, "overlay.json"))
}

// stable waits until the group of a service is stable, and has been for longer than its leader takes to look for partitions.
func (w *world) stable(t *testing.T, service string) {
	t.Helper()
	var since time.Time
	until.Holds(t, func() bool {
		if w.shares(t, service) == nil {
			since = time.Time{}
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) > 3*time.Second
	}, time.Minute, 50*time.Millisecond, "the group of %s is not stable", service)
}

var rebalanced = regexp.MustCompile(`(?m)^frontdesk_consumer_rebalances_total(?:\{[^}]*\})? (\S+)$`)

// rebalances is how often the replicas were dealt partitions, by the metrics of their admin ports.
func rebalances(t *testing.T, admins []string) (n int) {
	t.Helper()
	for _, a := range admins {
		res, err := http.Get(a + "/metrics")
		require.NoError(t, err)
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		require.NoError(t, err)
		m := rebalanced.FindSubmatch(raw)
		require.NotNil(t, m, "%s has no count of rebalances", a)
		x, err := strconv.ParseFloat(string(m[1]), 64)
		require.NoError(t, err)
		n += int(x)
	}
	return n
}

// A broker of several is gone, and nobody else has its partitions: what has them for its own waits, and nothing else.
func TestAPartitionHasNoLeader(t *testing.T) {
	lost := place{proto.ContactTopic, 0}
	address := freeport.Address()
	_, port, _ := strings.Cut(address, ":")
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(number))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	var away atomic.Bool
	leaderless(cluster, lost, &away)
	w := start(t, "KAFKA_BROKERS="+cluster.ListenAddrs()[0])
	l := w.Load(t, 4, 4)
	from := time.Now()
	away.Store(true)
	began := time.Now()
	var there, waits string
	for there == "" || waits == "" {
		id := w.person(t, system.Address("meanwhile"))
		if db.PartitionOf(id, proto.TopicNamed(lost.topic).Partitions) == lost.partition {
			waits = id
		} else {
			there = id
		}
	}
	copied := func(id string) func() bool {
		return func() bool { return w.number(t, `select count(*) from booking.contact where id = $1`, id) == 1 }
	}
	until.Holds(t, copied(there), 20*time.Second, 50*time.Millisecond, "the other partitions wait too")
	time.Sleep(max(0, lasts(time.Minute, 10*time.Second)-time.Since(began)))
	require.False(t, copied(waits)())
	away.Store(false)
	took := w.Recovered(t, time.Minute)
	require.True(t, copied(waits)())
	require.Empty(t, l.Failed(from, time.Now()))
	w.Report(t, fmt.Sprintf("a partition of contacts is without its leader for %s", lasts(time.Minute, 10*time.Second)), l, took)
}

// leaderless makes a cluster refuse what asks for one partition alone, which is all that has to do with its messages, while away is set.
func leaderless(cluster *kfake.Cluster, p place, away *atomic.Bool) {
	on := func(key kmsg.Key, refuse func(kmsg.Request) kmsg.Response) {
		cluster.ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			if !away.Load() {
				return nil, nil, false
			}
			res := refuse(r)
			return res, nil, res != nil
		})
	}
	on(kmsg.ListOffsets, func(r kmsg.Request) kmsg.Response {
		asked := r.(*kmsg.ListOffsetsRequest).Topics
		if len(asked) != 1 || asked[0].Topic != p.topic || int(asked[0].Partitions[0].Partition) != p.partition {
			return nil
		}
		res, topic, part := r.ResponseKind().(*kmsg.ListOffsetsResponse), kmsg.NewListOffsetsResponseTopic(), kmsg.NewListOffsetsResponseTopicPartition()
		part.Partition, part.ErrorCode = int32(p.partition), kerr.LeaderNotAvailable.Code
		topic.Topic, topic.Partitions = p.topic, append(topic.Partitions, part)
		res.Topics = append(res.Topics, topic)
		return res
	})
	on(kmsg.Fetch, func(r kmsg.Request) kmsg.Response {
		asked := r.(*kmsg.FetchRequest).Topics
		if len(asked) != 1 || asked[0].Topic != p.topic || int(asked[0].Partitions[0].Partition) != p.partition {
			return nil
		}
		res, topic, part := r.ResponseKind().(*kmsg.FetchResponse), kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
		part.Partition, part.ErrorCode = int32(p.partition), kerr.NotLeaderForPartition.Code
		topic.Topic, topic.Partitions = p.topic, append(topic.Partitions, part)
		res.Topics = append(res.Topics, topic)
		return res
	})
	on(kmsg.Produce, func(r kmsg.Request) kmsg.Response {
		asked := r.(*kmsg.ProduceRequest).Topics
		if len(asked) != 1 || asked[0].Topic != p.topic || int(asked[0].Partitions[0].Partition) != p.partition {
			return nil
		}
		res, topic, part := r.ResponseKind().(*kmsg.ProduceResponse), kmsg.NewProduceResponseTopic(), kmsg.NewProduceResponseTopicPartition()
		part.Partition, part.ErrorCode = int32(p.partition), kerr.NotLeaderForPartition.Code
		topic.Topic, topic.Partitions = p.topic, append(topic.Partitions, part)
		res.Topics = append(res.Topics, topic)
		return res
	})
}
