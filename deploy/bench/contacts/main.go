// Command contacts measures the contacts service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/contacts`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	only := flag.String("only", "", "one of create, import, list, search, export, or large for the last three")
	contacts := flag.Int("contacts", 1_000_000, "contacts of the large site")
	rows := flag.Int("rows", 50_000, "rows of the import")
	length := flag.Duration("length", 5*time.Second, "length of each turn of measuring throughput")
	clients := flag.Int("clients", 16, "clients who create contacts at once")
	pgbench := flag.String("pgbench", "", "the program; looked for when empty")
	broker := flag.String("broker", "", "be the broker, with its data in this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *broker != "" {
		err = serveBroker(ctx, *broker)
	} else {
		err = measure(ctx, *only, *pgbench, *contacts, *rows, *clients, *length)
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

func measure(ctx context.Context, only, pgbench string, contacts, rows, clients int, length time.Duration) error {
	w, err := newWorld(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	wanted := func(name string) bool {
		return only == "" || only == name || only == "large" && name != "create" && name != "import"
	}
	if wanted("create") {
		if err := w.create(ctx, pgbench, clients, length); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	if wanted("import") {
		if err := w.importRows(ctx, rows); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	if !wanted("list") && !wanted("search") && !wanted("export") {
		return nil
	}
	if err := w.fill(ctx, 10_000); err != nil {
		return err
	}
	small, err := w.pages(ctx)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := w.fill(ctx, contacts); err != nil {
		return err
	}
	for _, m := range []struct {
		name string
		take func() error
	}{
		{"list", func() error { return w.list(ctx, small) }},
		{"search", func() error { return w.search(ctx) }},
		{"export", func() error { return w.export(ctx, contacts) }},
	} {
		if !wanted(m.name) {
			continue
		}
		if err := m.take(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// at is a quantile.
func at[T float64 | time.Duration](q float64, all []T) (v T) {
	if len(all) == 0 {
		return v
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

func report(what string, value, limit any, ok bool) {
	verdict := "ok"
	if !ok {
		verdict = "MISSED"
	}
	fmt.Printf("%-66s %12v   wanted %-10v %s\n", what, value, limit, verdict)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
