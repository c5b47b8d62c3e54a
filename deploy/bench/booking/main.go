// Command booking measures the booking service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/booking`. Each figure stands beside a limit taken in the same run.
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
	only := flag.String("only", "", "one of slots, calendar, one-slot, distinct")
	rounds := flag.Int("rounds", 200, "rounds of 64 visitors on one slot")
	length := flag.Duration("length", 15*time.Second, "length of each measurement of throughput, in turns")
	clients := flag.Int("clients", 16, "visitors who book distinct slots at once")
	broker := flag.String("broker", "", "be the broker, with its data in this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *broker != "" {
		err = serveBroker(ctx, *broker)
	} else {
		err = measure(ctx, *only, *rounds, *clients, *length)
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

func measure(ctx context.Context, only string, rounds, clients int, length time.Duration) error {
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	for _, m := range []struct {
		name string
		take func() error
	}{
		{"slots", func() error { return w.slots(ctx) }},
		{"calendar", func() error { return w.calendar(ctx) }},
		{"one-slot", func() error { return w.oneSlot(ctx, rounds) }},
		{"distinct", func() error { return w.distinct(ctx, clients, length) }},
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

func report(what string, value, limit any, ok bool) {
	verdict := "ok"
	if !ok {
		verdict = "MISSED"
	}
	fmt.Printf("%-62s %12v   wanted %-10v %s\n", what, value, limit, verdict)
}
