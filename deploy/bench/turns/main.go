// Command turns measures two checkouts in turns, so that whatever else the machine does falls on both:
//
//	go run ./deploy/bench/turns -before DIR [-after DIR] [-rounds 3] [program…]
//
// A program is contacts, booking, webhooks, forms or system, with its flags: 'contacts -only create'; without any, all
// five. Both checkouts are measured by the programs of the second, so that only what is measured differs.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"frontdesk/deploy/bench/world"
)

func main() {
	before := flag.String("before", "", "checkout to compare with")
	after := flag.String("after", ".", "checkout to measure")
	rounds := flag.Int("rounds", 3, "how often each program measures each checkout; the median counts")
	flag.Parse()
	programs := flag.Args()
	if len(programs) == 0 {
		programs = []string{"contacts", "booking", "webhooks", "forms", "system"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *before, *after, *rounds, programs); err != nil {
		fmt.Fprintln(os.Stderr, "turns:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, before, after string, rounds int, programs []string) error {
	if before == "" {
		return errors.New("-before is missing")
	}
	after, err := filepath.Abs(after)
	if err != nil {
		return err
	}
	if before, err = filepath.Abs(before); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "frontdesk-turns-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, p := range programs {
		words := strings.Fields(p)
		sides := []*side{{checkout: before}, {checkout: after}}
		for i, s := range sides {
			if err := s.build(ctx, filepath.Join(dir, fmt.Sprint(words[0], i)), words[0], after); err != nil {
				return err
			}
		}
		for round := range rounds {
			// The two checkouts begin in turn, so that neither always runs on a warmer machine.
			for i := range sides {
				if err := sides[(i+round)%2].measure(ctx, words[1:]); err != nil {
					return fmt.Errorf("%s in %s: %w", p, sides[(i+round)%2].checkout, err)
				}
			}
			fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", p, round+1, rounds)
		}
		compare(words[0], sides[0], sides[1])
	}
	return nil
}

// side is one of the two checkouts, with what one program has measured there.
type side struct {
	checkout string
	program  string
	figures  []world.Figure // of the last round, in the program's order
	values   map[string][]float64
}

// build compiles the program from the sources of the checkout after, against the libraries of this side.
func (s *side) build(ctx context.Context, binary, name, after string) error {
	replace := map[string]string{}
	for _, from := range []string{s.checkout, after} { // the second wins
		top := filepath.Join(from, "deploy", "bench")
		err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			rest, err := filepath.Rel(from, path)
			replace[filepath.Join(s.checkout, rest)] = ""
			if from == after {
				replace[filepath.Join(s.checkout, rest)] = path
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(binary+".json", overlay, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", binary+".json", "-o", binary, "./deploy/bench/"+name)
	cmd.Dir = s.checkout
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", name, s.checkout, err, out)
	}
	s.program, s.values = binary, map[string][]float64{}
	return nil
}

// measure runs the program once, in the checkout, whose services it builds and starts.
func (s *side) measure(ctx context.Context, args []string) error {
	file := s.program + ".figures"
	defer os.Remove(file)
	cmd := exec.CommandContext(ctx, s.program, append(args, "-figures", file)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = s.checkout
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s.figures = nil
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var f world.Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return err
		}
		// One that the program takes in each of its turns is one line.
		if !slices.ContainsFunc(s.figures, func(x world.Figure) bool { return x.Name == f.Name }) {
			s.figures = append(s.figures, f)
		}
		s.values[f.Name] = append(s.values[f.Name], f.Value.Number)
	}
	return nil
}

// compare prints each figure's medians, after ÷ before, and the limit.
func compare(program string, before, after *side) {
	fmt.Printf("\n%-64s %12s %12s %8s\n", program, "before", "after", "÷")
	for _, f := range after.figures {
		was := world.Median(before.values[f.Name])
		f.Value.Number = world.Median(after.values[f.Name])
		share := "-"
		if was != 0 {
			share = world.Ratio(f.Value.Number, was).String()
		}
		line := fmt.Sprintf("%-64s %12s %12s %8s", f.Name, world.Value{Number: was, Unit: f.Value.Unit}, f.Value, share)
		if f.Bound != "" {
			line += fmt.Sprintf("   %s %s", f.Bound, f.Limit)
			if f.Missed() {
				line += "  MISSED"
			}
		}
		fmt.Println(line)
	}
}
