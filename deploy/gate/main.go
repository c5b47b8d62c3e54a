// Command gate says how suites of tests went, from what deploy/gate/suite keeps of them: a table, the slowest tests, and a line with the sum. Of the
// tests in the table, those of the column "kept" have not run: Go has their result from a run before, with the same program, variables and files.
// A test that failed may run once more, alone:
//
//	gate [-again] [-checks verify,build] [-long FILE] SUITE...
//
// The exit code is 0 if every check and every suite has passed, in its second run at the latest.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Above this number of failed tests the change is at fault and not chance, so nothing runs again.
const mostAgain = 10

func main() {
	again := flag.Bool("again", false, "run each test that failed once more, alone; one that passes then is written to deploy/FLAKY.md")
	checks := flag.String("checks", "", "names of steps without tests, separated by commas, which have to pass the first time")
	long := flag.String("long", "", "note in the table of this file how long each suite took that has passed, and today's date")
	flag.Parse()
	if *long != "" {
		if err := remember(*long, ".run/suites", flag.Args(), time.Now()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if !gate(".run/suites", strings.FieldsFunc(*checks, func(r rune) bool { return r == ',' }), flag.Args(), *again) {
		os.Exit(1)
	}
}

// gate prints the table and reports whether all has passed.
func gate(dir string, checks, names []string, again bool) bool {
	var suites []suite
	passed := true
	for _, name := range slices.Concat(checks, names) {
		s, err := read(dir, name)
		if err != nil {
			fmt.Printf("%s did not run to its end: %v\n", name, err)
			passed = false
			continue
		}
		suites = append(suites, s)
	}
	var failed []failure
	for _, s := range suites {
		switch {
		case s.Code == 0:
		case slices.Contains(checks, s.Name):
			passed = false
		default:
			failed = append(failed, s.failures()...)
		}
	}
	ended := failed
	if again && len(failed) <= mostAgain {
		ended = slices.DeleteFunc(slices.Clone(failed), passesAlone)
	}
	fmt.Print(table(suites))
	for _, f := range ended {
		fmt.Println("FAILED", f)
	}
	var sum tally
	for _, s := range suites {
		sum = sum.plus(s.tally())
	}
	flaky := len(failed) - len(ended)
	fmt.Printf("%d passed, %d failed, %d skipped\n", sum.passed+flaky, max(sum.failed-flaky, len(ended)), sum.skipped)
	return passed && len(ended) == 0
}

// passesAlone runs a failed test again and reports whether it passes. Such a test is noted in deploy/FLAKY.md, and its line in the log is for
// whoever reads only that.
func passesAlone(f failure) bool {
	fmt.Printf("once more, alone: %s\n", f)
	cmd := exec.Command("make", append([]string{"--no-print-directory"}, f.arguments()...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		os.Stdout.Write(out)
		return false
	}
	fmt.Println("FLAKY", f)
	if err := note(filepath.Join("deploy", "FLAKY.md"), f, time.Now()); err != nil {
		fmt.Println("deploy/FLAKY.md:", err)
		return false
	}
	return true
}

// note adds a line for f to the table at the end of a file.
func note(file string, f failure, at time.Time) error {
	to, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = fmt.Fprintf(to, "| %s | `%s` |\n", at.Format(time.DateOnly), strings.ReplaceAll(f.String(), "|", "\\|"))
	return err
}

// remember writes the minutes and the day of each suite that has passed into its line of a table: suite, what it does, minutes, day.
func remember(file, dir string, names []string, at time.Time) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(b), "\n")
	for _, name := range names {
		s, err := read(dir, name)
		if err != nil || s.Code != 0 {
			continue
		}
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "| `"+name+"` |") })
		if i < 0 {
			return fmt.Errorf("%s has no line for %s", file, name)
		}
		cells := strings.Split(lines[i], "|")
		cells[3], cells[4] = fmt.Sprintf(" %.0f ", math.Ceil(float64(s.Milliseconds)/60_000)), at.Format(" 2006-01-02 ")
		lines[i] = strings.Join(cells, "|")
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600)
}
