package world

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build compiles a package of the checkout in the current folder.
func build(binary, pkg string) error {
	cmd := exec.Command("go", "build", "-o", binary, pkg)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}

// Memory is a figure of a process in KiB: "VmRSS" is what it holds, "VmHWM" the most that it held since ForgetPeak.
// It is 0 where there is no /proc.
func Memory(pid int, name string) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// ForgetPeak makes VmHWM start anew.
func ForgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200)
}

// Family is a process and all that descend from it, as they run now.
func Family(pid int) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, f := range files {
		if fields := stat(f); len(fields) > 1 {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], child)
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// stat is the fields of a process in its file /proc/…/stat, from its state on, which is the third; nil if it has ended.
func stat(file string) []string {
	raw, _ := os.ReadFile(file)
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // the name before it may hold blanks
}

// Worked is how long processes, and children of theirs that have ended, have kept a processor busy so far. It is 0 where there is no /proc.
func Worked(pids []int) (d time.Duration) {
	for _, pid := range pids {
		if fields := stat(fmt.Sprintf("/proc/%d/stat", pid)); len(fields) > 14 {
			for _, ticks := range fields[11:15] {
				n, _ := strconv.Atoi(ticks)
				d += time.Duration(n) * 10 * time.Millisecond // a hundred ticks a second, on every Linux that Go runs on
			}
		}
	}
	return d
}

// Cost is how long the processors work for one of many calls, by who works.
type Cost map[string]time.Duration

// Costs measures the load that f makes: f returns calls a second, who names the processes.
func Costs(who map[string]func() []int, f func() (float64, error)) (perSecond float64, cost Cost, err error) {
	before, began := map[string]time.Duration{}, time.Now()
	for name, pids := range who {
		before[name] = Worked(pids())
	}
	perSecond, err = f()
	calls := perSecond * time.Since(began).Seconds()
	cost = Cost{}
	for name, pids := range who {
		cost[name] = time.Duration(float64(Worked(pids())-before[name]) / max(1, calls))
	}
	return perSecond, cost, err
}

// closers run last to first.
type closers []func()

// Defer makes Close run f.
func (c *closers) Defer(f func()) { *c = append(*c, f) }

// Close ends everything that was started.
func (c *closers) Close() {
	for len(*c) > 0 {
		last := len(*c) - 1
		f := (*c)[last]
		*c = (*c)[:last]
		f()
	}
}

// folder makes one that the user who runs Postgres can enter too.
func (c *closers) folder() (string, error) {
	dir, err := os.MkdirTemp("", "frontdesk-bench-")
	if err != nil {
		return "", err
	}
	c.Defer(func() { _ = os.RemoveAll(dir) })
	return dir, os.Chmod(dir, 0o755)
}

// pgbench is the program; Debian keeps it out of the PATH.
func pgbench() (string, error) {
	if program, err := exec.LookPath("pgbench"); err == nil {
		return program, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return "", fmt.Errorf("pgbench is not there: install it (Debian: postgresql), or put it into the PATH")
	}
	return found[len(found)-1], nil
}
