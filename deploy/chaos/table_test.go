package chaos

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var table = flag.String("table", "", "the README whose table takes the rows of this run")

// rows are those of this run, by fault.
var rows = struct {
	sync.Mutex
	m map[string]string
}{m: map[string]string{}}

// row adds a row to the table; it replaces that of an earlier run of the same fault.
func row(fault, load string, lost, doubled int, recovered string) {
	line := fmt.Sprintf("| %s | %s | %d | %d | %s | %s |", fault, load, lost, doubled, recovered, time.Now().Format("2006-01-02"))
	fmt.Println(line)
	rows.Lock()
	defer rows.Unlock()
	rows.m[fault] = line
}

// Report stops the load, waits until the system is settled, compares everything, adds the row of the fault and requires that
// nothing was lost, nothing doubled and every copy equals its owner.
func (w *world) Report(t *testing.T, fault string, l *load, recovered time.Duration) {
	t.Helper()
	l.Stop(t)
	w.Settled(t)
	f := w.Check(t, l)
	row(fault, fmt.Sprintf("%s, %d changes", l.about, l.Acknowledged()), len(f.lost), len(f.doubled), recovered.Round(100*time.Millisecond).String())
	assert.Empty(t, f.lost, "lost")
	assert.Empty(t, f.doubled, "doubled")
	assert.Empty(t, f.unequal, "unequal")
}

// TestMain runs the tests and writes their rows.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *table != "" {
		if err := writeTable(*table); err != nil {
			fmt.Fprintln(os.Stderr, "chaos:", err)
			code = 1
		}
	}
	os.Exit(code)
}

const (
	tableBegin = "<!-- table -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

// writeTable replaces the rows of this run between the marks of a file, and keeps the others.
func writeTable(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(raw), tableBegin)
	old, after, ended := strings.Cut(rest, tableEnd)
	if !ok || !ended {
		return fmt.Errorf("%s has no marks of a table", file)
	}
	all := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := strings.Split(line, " | "); len(cells) == 6 && !strings.HasPrefix(line, "| fault |") {
			all[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSpace(line)
		}
	}
	maps.Copy(all, rows.m)
	lines := slices.SortedFunc(maps.Values(all), cmp.Compare[string])
	out := before + tableBegin + fmt.Sprintf("\nLast run: %s, %d processors, %s.\n\n", time.Now().Format("2006-01-02"), runtime.NumCPU(), memory()) +
		"| fault | load | lost | doubled | time to recover | date |\n|---|---|---|---|---|---|\n" + strings.Join(lines, "\n") + "\n\n" + tableEnd + after
	fmt.Println(strings.Join(lines, "\n"))
	return os.WriteFile(file, []byte(out), 0o644)
}

// memory is that of the machine.
func memory() string {
	raw, _ := os.ReadFile("/proc/meminfo")
	var kib int
	_, _ = fmt.Sscanf(string(raw), "MemTotal: %d kB", &kib)
	return fmt.Sprintf("%d GB of memory", kib>>20)
}
