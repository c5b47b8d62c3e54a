// Command forms measures how fast the system that `make run` has started takes submissions, each figure
// beside a limit taken in the same run: `SVC_RATE_FACTOR=0 make run`, then `go run ./deploy/bench/forms`. With
// -faults it kills processes instead, and counts what came of the submissions.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// run is what the launcher says of the system.
type run struct {
	Gateway   string `json:"gateway"`
	Database  string `json:"database_url"`
	Admin     struct{ Login, Password string }
	Processes map[string]struct {
		PID int    `json:"pid"`
		URL string `json:"url"`
	}

	dir string
}

func main() {
	dir := flag.String("data", ".run", "data folder of the run")
	seconds := flag.Int("seconds", 10, "length of each measurement")
	rounds := flag.Int("rounds", 3, "how often rates are taken, in turn; the median counts")
	only := flag.String("only", "", "one of rates, times, visible")
	faults := flag.Bool("faults", false, "kill contacts and forms in the middle of submissions")
	count := flag.Int("submissions", 10_000, "submissions of the faults")
	pace := flag.Int("pace", 200, "submissions a second, where that is given")
	pgbench := flag.String("pgbench", "", "the program; looked for when empty")
	flag.Parse()
	if err := measure(*dir, *pgbench, *only, time.Duration(*seconds)*time.Second, *rounds, *pace, *faults, *count); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(dir, pgbench, only string, length time.Duration, rounds, pace int, faults bool, count int) error {
	ctx := context.Background()
	r, err := readRun(dir)
	if err != nil {
		return err
	}
	db, err := pgxpool.New(ctx, r.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := newSite(r, db, pace)
	if err != nil {
		return err
	}
	if faults {
		if err := s.killContacts(ctx, count); err != nil {
			return err
		}
		return s.killForms(ctx, count/10)
	}
	bare, err := newBare(ctx, r, db, pgbench)
	if err != nil {
		return err
	}
	defer bare.drop()
	for _, m := range []struct {
		name string
		take func() error
	}{
		{"rates", func() error { return s.rates(ctx, bare, length, rounds) }},
		{"times", func() error { return s.times(ctx, bare, length) }},
		{"visible", func() error { return s.visible(ctx, length) }},
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

func readRun(dir string) (run, error) {
	r := run{dir: dir}
	raw, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return r, fmt.Errorf("is the system running? %w", err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, err
	}
	if r.Admin.Password == "" {
		r.Admin.Password = os.Getenv("SVC_ADMIN_PASSWORD")
	}
	return r, nil
}

// at is a quantile.
func at[T int | float64 | time.Duration](q float64, all []T) (v T) {
	if len(all) == 0 {
		return v
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
