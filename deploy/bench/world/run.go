// Package world is what the programs of deploy/bench share: a database, a broker and a service (or the whole
// system) that run for one measurement, calls of the API, figures taken in turns, and the report.
package world

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Part is one measurement of a program.
type Part struct {
	Name string
	Take func(ctx context.Context) error
}

// Run is the main function of a program: it parses the flags, lets setUp start what is measured, takes the parts
// that -only names (all, if it is empty) and ends what was started. Ctrl-C ends the context. Exit status 1 means
// that a measurement failed; a missed limit is a line of the report and no failure.
func Run(setUp func(ctx context.Context, r *Report) (parts []Part, end func(), err error)) {
	only := flag.String("only", "", "the one part to measure")
	figures := flag.String("figures", "", "file that gets each figure as a line of JSON as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only, *figures, setUp); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, only, figures string, setUp func(context.Context, *Report) ([]Part, func(), error)) error {
	r := &Report{}
	if figures != "" {
		f, err := os.OpenFile(figures, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		r.file = f
	}
	parts, end, err := setUp(ctx, r)
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	defer end()
	var names []string
	taken := false
	for _, p := range parts {
		names = append(names, p.Name)
		if only != "" && only != p.Name {
			continue
		}
		taken = true
		if err := p.Take(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if !taken {
		return fmt.Errorf("-only is one of %s", strings.Join(names, ", "))
	}
	return nil
}
