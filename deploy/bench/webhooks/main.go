// Command webhooks measures the webhooks service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/webhooks`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	events := flag.Int("events", 5000, "events of the fan-out")
	seconds := flag.Int("seconds", 15, "length of each measurement of times")
	rows := flag.Int("rows", 1_000_000, "rows of the log")
	only := flag.String("only", "", "one of latency, fan-out, bad, log")
	broker := flag.String("broker", "", "be the broker, with its data in this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *broker != "" {
		err = serveBroker(ctx, *broker)
	} else {
		err = measure(ctx, *only, *events, time.Duration(*seconds)*time.Second, *rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func serveBroker(ctx context.Context, dir string) error {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SyncWrites())
	if err != nil {
		return err
	}
	defer cluster.Close()
	fmt.Println(cluster.ListenAddrs()[0])
	<-ctx.Done()
	return nil
}

func measure(ctx context.Context, only string, events int, length time.Duration, rows int) error {
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	for _, m := range []struct {
		name string
		take func() error
	}{
		{"latency", func() error { return w.latency(ctx, length) }},
		{"fan-out", func() error { return w.fanOut(ctx, events) }},
		{"bad", func() error { return w.badReceiver(ctx, length) }},
		{"log", func() error { return w.log(ctx, rows) }},
	} {
		if only != "" && only != m.name {
			continue
		}
		if err := m.take(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// at is a quantile of times.
func at(q float64, times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(q*float64(len(times))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
