package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

// embeddedKafka is a broker in one small process. It speaks the Kafka protocol; with -dir, what it has acknowledged survives
// a kill.
func embeddedKafka(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("kafka", flag.ExitOnError)
	dir := flags.String("dir", "", "folder of the data; memory only when empty")
	listen := flags.String("listen", "127.0.0.1:9092", "address, which is also the one that clients are told")
	_ = flags.Parse(args)
	broker, err := startBroker(*dir, *listen)
	if err != nil {
		return err
	}
	defer broker.Close()
	fmt.Println("listening on " + broker.ListenAddrs()[0])
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}

// startBroker starts the embedded broker at a host:port, with 0 for a free port. An empty dir keeps the data in memory.
func startBroker(dir, listen string) (*kfake.Cluster, error) {
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
	}
	if port == 0 {
		options = append(options, kfake.NumBrokers(1))
	} else {
		options = append(options, kfake.Ports(port)) // one port, one broker
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil { // it holds people's data
			return nil, err
		}
		options = append(options, kfake.DataDir(dir), kfake.SyncWrites())
	}
	return kfake.NewCluster(options...)
}
