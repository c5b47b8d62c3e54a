package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is what deploy/gate/suite has kept of a run.
type suite struct {
	Name         string
	Code         int
	Milliseconds int
	Processor    int `json:"processor_milliseconds"` // of all its processes
	tests        []test
}

// test is one of `go test`, a package of it, or one of Node's.
type test struct {
	pkg, name string // name is empty for a package as a whole; pkg is the file for Node's
	outcome   string // pass, fail, skip
	took      time.Duration
	kept      bool // it passed in a run before, with the same program, variables and files: Go has kept the result
}

// read reads a suite's results. A suite without a result was cut off.
func read(dir, name string) (suite, error) {
	s := suite{Name: name}
	b, err := os.ReadFile(filepath.Join(dir, name, "result.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, err
	}
	files, err := filepath.Glob(filepath.Join(dir, name, "*.tests"))
	if err != nil {
		return s, err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return s, err
		}
		s.tests = append(s.tests, goTests(b)...)
	}
	log, err := os.ReadFile(filepath.Join(dir, name, "log"))
	s.tests = append(s.tests, nodeTests(log)...)
	return s, err
}

// goTests reads the events of `go test -json`. A test that began and did not end has failed: its package was stopped, by a panic or a limit of time.
func goTests(events []byte) (tests []test) {
	type at struct{ pkg, name string }
	running, kept := map[at]bool{}, map[string]bool{}
	for line := range bytes.Lines(events) {
		var e struct {
			Action, Package, Test, Output string
			Elapsed                       float64
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch e.Action {
		case "output":
			if e.Test == "" && strings.HasPrefix(e.Output, "ok  \t") && strings.Contains(e.Output, "\t(cached)") {
				kept[e.Package] = true
			}
		case "run":
			running[at{e.Package, e.Test}] = true
		case "pass", "fail", "skip":
			delete(running, at{e.Package, e.Test})
			tests = append(tests, test{pkg: e.Package, name: e.Test, outcome: e.Action, took: time.Duration(e.Elapsed * float64(time.Second))})
		}
	}
	for t := range running {
		tests = append(tests, test{pkg: t.pkg, name: t.name, outcome: "fail"})
	}
	// The line of a package says so behind its tests.
	for i, t := range tests {
		tests[i].kept = kept[t.pkg]
	}
	return tests
}

var (
	nodeLine   = regexp.MustCompile(`^\s*(✔|✖|﹣) (.+) \((\d+(?:\.\d+)?)ms\)`)
	nodeFile   = regexp.MustCompile(`^(\S+\.test\.mjs)$`)
	nodeFailed = regexp.MustCompile(`^FAILED (\S+): (.+)$`)
)

// nodeTests reads what deploy/browser/run.mjs prints under the name of each file, and Node's reporter "spec". Deeper levels are cases of a test, as with Go.
func nodeTests(log []byte) (tests []test) {
	file := ""
	for s := bufio.NewScanner(bytes.NewReader(log)); s.Scan(); {
		if m := nodeFile.FindStringSubmatch(s.Text()); m != nil {
			file = m[1]
		} else if m := nodeFailed.FindStringSubmatch(s.Text()); m != nil {
			tests = append(tests, test{pkg: m[1], name: m[2], outcome: "fail"})
		} else if m := nodeLine.FindStringSubmatch(s.Text()); m != nil && m[1] != "✖" {
			ms, _ := strconv.ParseFloat(m[3], 64)
			outcome := map[string]string{"✔": "pass", "﹣": "skip"}[m[1]]
			tests = append(tests, test{pkg: file, name: m[2], outcome: outcome, took: time.Duration(ms * float64(time.Millisecond))})
		}
	}
	return tests
}

// tally counts tests, with their cases and without packages. Of those that passed, kept did so in a run before.
type tally struct{ passed, failed, skipped, kept int }

func (t tally) plus(o tally) tally {
	return tally{t.passed + o.passed, t.failed + o.failed, t.skipped + o.skipped, t.kept + o.kept}
}

func (s suite) tally() (n tally) {
	for _, t := range s.tests {
		switch {
		case t.name == "":
		case t.outcome == "pass":
			n.passed++
			if t.kept {
				n.kept++
			}
		case t.outcome == "skip":
			n.skipped++
		default:
			n.failed++
		}
	}
	return n
}

// failure is a test that failed, or a package or a suite of which no test did.
type failure struct{ suite, pkg, name string }

func (f failure) String() string {
	return strings.Join(slices.DeleteFunc([]string{f.suite, f.pkg, f.name}, func(s string) bool { return s == "" }), " ")
}

// arguments are those with which make runs f alone.
func (f failure) arguments() []string {
	args := []string{f.suite}
	switch {
	case strings.HasSuffix(f.pkg, ".test.mjs"):
		return append(args, "ONLY="+strings.TrimSuffix(f.pkg, ".mjs"))
	case f.pkg != "":
		args = append(args, "PACKAGES="+f.pkg)
	}
	if f.name != "" {
		args = append(args, "RUN=^"+regexp.QuoteMeta(f.name)+"$$")
	}
	return args
}

// failures are the tests of a failed suite to look at, without their cases.
func (s suite) failures() (all []failure) {
	whole := map[string]bool{}
	for _, t := range s.tests {
		name, _, _ := strings.Cut(t.name, "/")
		if t.outcome == "fail" && strings.HasSuffix(t.pkg, ".test.mjs") {
			name = "" // a file is what runs alone
		}
		if f := (failure{s.Name, t.pkg, name}); t.outcome == "fail" && t.name != "" && !slices.Contains(all, f) {
			all = append(all, f)
			whole[t.pkg] = true
		}
	}
	for _, t := range s.tests {
		if t.outcome == "fail" && t.name == "" && !whole[t.pkg] {
			all = append(all, failure{s.Name, t.pkg, ""})
		}
	}
	if len(all) == 0 {
		all = append(all, failure{s.Name, "", ""})
	}
	return all
}

// table is a line for each suite, the sum of the processors' seconds, and the five slowest tests of those that ran now.
func table(suites []suite) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-14s %8s %10s %7s %7s %7s\n", "step", "seconds", "processor", "tests", "kept", "failed")
	var tests []test
	processor := 0
	for _, s := range suites {
		n := s.tally()
		said := ""
		if s.Code != 0 {
			said = "  failed"
		}
		processor += s.Processor
		fmt.Fprintf(&b, "%-14s %8.0f %10.0f %7d %7d %7d%s\n", s.Name, float64(s.Milliseconds)/1000, float64(s.Processor)/1000, n.passed+n.failed+n.skipped, n.kept, n.failed, said)
		tests = append(tests, slices.DeleteFunc(slices.Clone(s.tests), func(t test) bool { return t.name == "" || t.kept || strings.Contains(t.name, "/") })...)
	}
	fmt.Fprintf(&b, "%-14s %8s %10.0f\n", "all", "", float64(processor)/1000)
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(b.took, a.took) })
	for i, t := range tests[:min(5, len(tests))] {
		if i == 0 {
			b.WriteString("the slowest tests\n")
		}
		fmt.Fprintf(&b, "%6.1f s  %s %s\n", t.took.Seconds(), t.pkg, t.name)
	}
	return b.String()
}
