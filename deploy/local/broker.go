package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// embeddedKafka is a broker in one small process. It speaks the Kafka protocol; with -dir, what it has acknowledged survives
// a kill.
func embeddedKafka(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("kafka", flag.ExitOnError)
	dir := flags.String("dir", "", "folder of the data; memory only when empty")
	listen := flags.String("listen", "127.0.0.1:9092", "address, which is also the one that clients are told")
	_ = flags.Parse(args)
	broker, err := startBroker(*dir, *listen, os.Getenv("SVC_KAFKA_PASSWORD"))
	if err != nil {
		return err
	}
	defer broker.Close()
	go tidy(ctx, broker)
	fmt.Println("listening on " + broker.ListenAddrs()[0])
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}

// startBroker starts the embedded broker at a host:port, with 0 for a free port. An empty dir keeps the data in memory. With the
// password of its administrator it asks everybody to sign in, and lets users do what they were granted; without one everybody may do
// everything.
func startBroker(dir, listen, password string) (*kfake.Cluster, error) {
	_, number, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	options := []kfake.Opt{
		kfake.WithLogger(kfake.BasicLogger(os.Stderr, kfake.LogLevelWarn)),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) { return net.Listen(network, listen) }),
		kfake.ClusterID("frontdesk"),
		// Its own hourly compaction ignores min.compaction.lag.ms, so a reader that was away for an hour would miss changes.
		// It never comes; tidy takes its place.
		kfake.BrokerConfigs(map[string]string{"log.cleaner.backoff.ms": "315360000000"}),
	}
	if port == 0 {
		options = append(options, kfake.NumBrokers(1))
	} else {
		options = append(options, kfake.Ports(port)) // one port, one broker
	}
	if password != "" {
		options = append(options, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("SCRAM-SHA-512", administrator, password))
		if err := dropUsersWithoutAdministrator(dir); err != nil {
			return nil, err
		}
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil { // it holds people's data
			return nil, err
		}
		options = append(options, kfake.DataDir(dir), kfake.SyncWrites())
	}
	return kfake.NewCluster(options...)
}

// dropUsersWithoutAdministrator removes the broker's list of users if its administrator is not among them, as in a folder from before
// there were users: the list on the disk takes the place of the administrator that the broker is started with.
func dropUsersWithoutAdministrator(dir string) error {
	path := filepath.Join(dir, "sasl.json")
	users, err := os.ReadFile(path)
	if dir == "" || errors.Is(err, fs.ErrNotExist) || bytes.Contains(users, []byte(`"`+administrator+`"`)) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

const (
	// The embedded broker drops messages that are too old, and compacts if that is due, a minute after its start and then every ten minutes:
	// a machine that runs for less than an hour at a time keeps its promises too.
	firstTidy, tidyEvery = time.Minute, 10 * time.Minute
	// compactEvery is how often it compacts, and so for how long a replaced value stays, if every service keeps up.
	compactEvery = 24 * time.Hour
	// nearly is how many messages services may be behind for a compaction to wait for them, for as long as catchUp: they commit every two seconds.
	nearly, catchUp = 1000, 5 * time.Second
)

// tidy drops what retention.ms lets go, and compacts once a day, until ctx ends. It does not know the age of a replaced value;
// instead it compacts only when every service has consumed everything, so no reader misses a change. If a service is away,
// nothing is compacted until it is back.
func tidy(ctx context.Context, broker *kfake.Cluster) {
	var compacted time.Time
	for wait := firstTidy; ; wait = tidyEvery {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		broker.ApplyRetention()
		if time.Since(compacted) > compactEvery && compact(ctx, broker, services) {
			compacted = time.Now()
		}
	}
}

// compact compacts the topics if these groups have consumed all that they follow, and reports whether they have. Under steady traffic they never
// have at any one moment, so nothing may be published while it waits for the last commits. Producers try again.
func compact(ctx context.Context, broker *kfake.Cluster, groups []string) bool {
	if n, known := behind(broker, groups); !known || n > nearly {
		return false
	}
	pause := broker.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	defer pause.Remove()
	for end := time.Now().Add(catchUp); ; {
		if n, known := behind(broker, groups); known && n == 0 {
			broker.Compact()
			return true
		}
		if time.Now().After(end) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// behind is how many messages these groups have yet to consume of what they follow; it is not known while one has never committed.
func behind(broker *kfake.Cluster, groups []string) (messages int64, known bool) {
	for _, name := range groups {
		group := broker.GroupInfo(name)
		if group == nil || len(group.Commits) == 0 {
			return 0, false
		}
		for topic, partitions := range group.Commits {
			for p, commit := range partitions {
				if info := broker.PartitionInfo(topic, p); info != nil {
					messages += max(0, info.HighWatermark-commit.Offset)
				}
			}
		}
	}
	return messages, true
}
