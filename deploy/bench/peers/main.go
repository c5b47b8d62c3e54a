// Command peers measures Frontdesk beside PocketBase and Directus, and booking and webhooks beside the database and River alone, on
// this machine and in turns: `make bench-peers`. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db/pgserver"
)

var (
	tools   = flag.String("tools", ".run/tools/peers", "folder with the programs that make bench-peers builds")
	sizes   = flag.String("sizes", "10000,100000", "how many contacts there are, in ascending order; a million takes half an hour more")
	turns   = flag.Int("turns", 3, "how often each figure is taken; the median counts")
	many    = flag.Duration("many", 700*time.Millisecond, "length of each turn of 16 clients")
	single  = flag.Duration("single", 400*time.Millisecond, "length of each turn of one client")
	jobs    = flag.Int("jobs", 2000, "webhooks of each turn")
	booking = flag.Duration("booking", time.Second, "length of each turn of bookings")
	into    = flag.String("table", "", "file whose table, between two marks, is replaced")
)

// bench is what is measured in one run.
type bench struct {
	*world.Report
	dir      string
	postgres *pgserver.Server // of Directus, River and the bare bookings
	ours     *ours
	subjects []*subject
	without  string // why Directus is left out
	table    table
	sizes    []int
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "river" {
		if err := work(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "river:", err)
			os.Exit(1)
		}
		return
	}
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		b := &bench{Report: r}
		end, err := b.start(ctx)
		if err != nil {
			end()
			return nil, nil, err
		}
		parts := []world.Part{{Name: "contacts", Take: b.contacts}, {Name: "booking", Take: b.booking}, {Name: "webhooks", Take: b.webhooks}, {Name: "write", Take: b.write}}
		return parts, func() { fmt.Print(b.text()); end() }, nil
	})
}

// start starts all that is measured.
func (b *bench) start(ctx context.Context) (end func(), err error) {
	var ends []func()
	end = func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}
	for word := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 5000 || n%100 != 0 {
			return end, fmt.Errorf("-sizes is of numbers from 5000 on that a hundred divides, not %q", word)
		}
		b.sizes = append(b.sizes, n)
	}
	if b.dir, err = os.MkdirTemp("", "frontdesk-peers-"); err != nil {
		return end, err
	}
	ends = append(ends, func() { _ = os.RemoveAll(b.dir) })
	if err := os.Chmod(b.dir, 0o755); err != nil { // PostgreSQL's user has to pass
		return end, err
	}
	if b.postgres, err = pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(b.dir, "pg"), Durable: true}); err != nil {
		return end, fmt.Errorf("start Postgres: %w", err)
	}
	ends = append(ends, b.postgres.Stop)
	progress("starting Frontdesk, twice")
	if b.ours, err = startOurs(ctx, filepath.Join(b.dir, "ours")); err != nil {
		return end, fmt.Errorf("start Frontdesk: %w", err)
	}
	ends = append(ends, b.ours.stop)
	b.subjects = b.ours.subjects
	for _, full := range []bool{false, true} {
		progress("starting PocketBase, twice")
		s, err := startPocketBase(ctx, b.dir, full)
		if err != nil {
			return end, fmt.Errorf("start PocketBase: %w", err)
		}
		ends = append(ends, s.stop)
		b.subjects = append(b.subjects, s)
	}
	if _, err := os.Stat(filepath.Join(*tools, "directus", "installed")); err != nil {
		b.without = "Directus is left out, because it is not installed: deploy/bench/peers/directus/install says why."
		progress(b.without)
		return end, nil
	}
	progress("starting Directus, twice")
	s, err := startDirectus(ctx, b.dir, b.postgres)
	if err != nil {
		return end, fmt.Errorf("start Directus: %w", err)
	}
	ends = append(ends, s.stop)
	b.subjects = append(b.subjects, s)
	return end, nil
}

func progress(text string) { fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), text) }
