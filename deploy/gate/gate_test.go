package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goEvents = `{"Action":"start","Package":"frontdesk/a"}
{"Action":"run","Package":"frontdesk/a","Test":"TestOne"}
{"Action":"output","Package":"frontdesk/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"run","Package":"frontdesk/a","Test":"TestOne/case"}
{"Action":"fail","Package":"frontdesk/a","Test":"TestOne/case","Elapsed":0.5}
{"Action":"fail","Package":"frontdesk/a","Test":"TestOne","Elapsed":0.5}
{"Action":"run","Package":"frontdesk/a","Test":"TestTwo"}
{"Action":"pass","Package":"frontdesk/a","Test":"TestTwo","Elapsed":1.5}
{"Action":"fail","Package":"frontdesk/a","Elapsed":2.1}
not an event
{"Action":"run","Package":"frontdesk/b","Test":"TestThatStopsItsPackage"}
{"Action":"fail","Package":"frontdesk/b","Elapsed":600}
{"Action":"fail","Package":"frontdesk/c","Elapsed":0}
{"Action":"run","Package":"frontdesk/d","Test":"TestLater"}
{"Action":"skip","Package":"frontdesk/d","Test":"TestLater","Elapsed":0}
{"Action":"output","Package":"frontdesk/d","Output":"ok  \tfrontdesk/d\t0.1s\n"}
{"Action":"pass","Package":"frontdesk/d","Elapsed":0.1}
{"Action":"run","Package":"frontdesk/e","Test":"TestOfARunBefore"}
{"Action":"pass","Package":"frontdesk/e","Test":"TestOfARunBefore","Elapsed":90}
{"Action":"output","Package":"frontdesk/e","Output":"ok  \tfrontdesk/e\t(cached)\n"}
{"Action":"pass","Package":"frontdesk/e","Elapsed":0}
`

const nodeLog = `booking.test.mjs
✔ a visitor > books (1234.5ms)
✖ a visitor > moves the appointment (20ms)
AssertionError: no
✔ a page without scripts works (3.25ms)
FAILED booking.test.mjs: a visitor > moves the appointment
`

func write(t *testing.T, dir, name, result string, files map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	for file, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o600))
	}
	if result != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "result.json"), []byte(result), 0o600))
	}
}

func TestEachFailedTestOfGoIsFoundOnceAlsoOneThatStopsItsPackage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "units", `{"code": 1, "milliseconds": 2100, "processor_milliseconds": 3400}`, map[string]string{"units.tests": goEvents, "log": ""})
	s, err := read(dir, "units")
	require.NoError(t, err)
	require.Equal(t, tally{passed: 2, failed: 3, skipped: 1, kept: 1}, s.tally())
	require.ElementsMatch(t, []failure{{"units", "frontdesk/a", "TestOne"}, {"units", "frontdesk/b", "TestThatStopsItsPackage"}, {"units", "frontdesk/c", ""}}, s.failures())
	require.Equal(t, []string{"units", "PACKAGES=frontdesk/a", "RUN=^TestOne$$"}, failure{"units", "frontdesk/a", "TestOne"}.arguments())
	said := table([]suite{s, s})
	require.Contains(t, said, "   1.5 s  frontdesk/a TestTwo\n")
	require.NotContains(t, said, "TestOfARunBefore", "it has not run now")
	require.Regexp(t, `(?m)^units +2 +3 +6 +1 +3  failed$`, said)
	require.Regexp(t, `(?m)^all +7$`, said)
}

func TestASuiteKeepsWhatItsProcessesTookOfTheProcessors(t *testing.T) {
	name := "test-of-the-gate"
	dir := filepath.Join("..", "..", ".run", "suites")
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(dir, name)) })
	// A process of a process.
	out, err := exec.Command("./suite", name, "bash", "-c", "(for i in {1..100000}; do :; done); echo done").CombinedOutput()
	require.NoError(t, err, string(out))
	s, err := read(dir, name)
	require.NoError(t, err)
	require.Zero(t, s.Code)
	require.Positive(t, s.Processor)
}

func TestAFileHasTheSameTimeInEveryCheckoutUntilItsContentChanges(t *testing.T) {
	times, err := filepath.Abs("times")
	require.NoError(t, err)
	run := func(dir string, command ...string) {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	at := func(path ...string) time.Time {
		t.Helper()
		info, err := os.Stat(filepath.Join(path...))
		require.NoError(t, err)
		return info.ModTime()
	}
	first, second := t.TempDir(), t.TempDir()
	write(t, first, "folder", "", map[string]string{"a file": "1", "other": "1"})
	run(first, "git", "init", "-q")
	run(first, "git", "add", ".")
	run(first, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first")
	run(second, "git", "clone", "-q", first, ".")
	run(first, times)
	run(second, times)
	for _, name := range []string{"", "folder", "folder/a file", "folder/other"} {
		require.Equal(t, at(first, name), at(second, name), name)
		require.True(t, at(first, name).Before(time.Now().AddDate(-10, 0, 0)), name)
	}

	write(t, second, "folder", "", map[string]string{"a file": "2"})
	run(second, times)
	require.True(t, at(second, "folder/a file").After(time.Now().Add(-time.Hour)), "no commit has it")
	run(second, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qam", "second")
	run(second, times)
	require.NotEqual(t, at(first, "folder/a file"), at(second, "folder/a file"), "of the same size")
	require.Equal(t, at(first, "folder/other"), at(second, "folder/other"))
}

func TestAFailedTestOfTheBrowserRunsAgainByItsFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "browser", `{"code": 1, "milliseconds": 9}`, map[string]string{"log": nodeLog})
	s, err := read(dir, "browser")
	require.NoError(t, err)
	require.Equal(t, tally{passed: 2, failed: 1}, s.tally())
	require.Equal(t, []failure{{"browser", "booking.test.mjs", ""}}, s.failures())
	require.Equal(t, []string{"browser", "ONLY=booking.test"}, s.failures()[0].arguments())
}

func TestASuiteThatFailsWithoutATestRunsAgainWhole(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "clients", `{"code": 2, "milliseconds": 9}`, map[string]string{"log": "it broke\n"})
	s, err := read(dir, "clients")
	require.NoError(t, err)
	require.Equal(t, []string{"clients"}, s.failures()[0].arguments())
}

func TestTheGateHoldsWhatFailedAndWhatNeverEnded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good", `{"code": 0, "milliseconds": 9}`, map[string]string{"log": ""})
	write(t, dir, "bad", `{"code": 1, "milliseconds": 9}`, map[string]string{"log": ""})
	write(t, dir, "cut", "", map[string]string{"log": ""})
	require.True(t, gate(dir, []string{"good"}, []string{"good"}, false))
	require.False(t, gate(dir, []string{"bad"}, []string{"good"}, true), "a check passes the first time")
	require.False(t, gate(dir, nil, []string{"bad"}, false))
	require.False(t, gate(dir, nil, []string{"good", "cut"}, false))
	require.False(t, gate(dir, nil, []string{"missing"}, false))
}

func TestATestThatPassesAloneIsNotedWithItsDay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "FLAKY.md")
	require.NoError(t, os.WriteFile(file, []byte("|---|---|\n"), 0o600))
	require.NoError(t, note(file, failure{"units", "frontdesk/a", "TestOne"}, time.Date(2026, 11, 26, 23, 59, 0, 0, time.UTC)))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "|---|---|\n| 2026-11-26 | `units frontdesk/a TestOne` |\n", string(b))
}

func TestALongProofThatPassedHasItsMinutesAndItsDay(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "LONG.md")
	table := "| suite | what | minutes | last passed |\n|---|---|---|---|\n| `narrow` | one connection | 9 | 2026-01-01 |\n| `soak` | an hour | 60 | 2026-01-01 |\n"
	require.NoError(t, os.WriteFile(file, []byte(table), 0o600))
	write(t, dir, "narrow", `{"code": 0, "milliseconds": 301000}`, map[string]string{"log": ""})
	write(t, dir, "soak", `{"code": 1, "milliseconds": 1000}`, map[string]string{"log": ""})
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	require.NoError(t, remember(file, dir, []string{"narrow", "soak"}, at))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "| suite | what | minutes | last passed |\n|---|---|---|---|\n| `narrow` | one connection | 6 | 2026-11-26 |\n| `soak` | an hour | 60 | 2026-01-01 |\n", string(b))
	write(t, dir, "unknown", `{"code": 0, "milliseconds": 1}`, map[string]string{"log": ""})
	require.Error(t, remember(file, dir, []string{"unknown"}, at))
}

func TestEveryLongProofHasALine(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^LONG := (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, names)
	table, err := os.ReadFile("../LONG.md")
	require.NoError(t, err)
	lines := []string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(.+?)` \\|").FindAllSubmatch(table, -1) {
		lines = append(lines, string(m[1]))
	}
	require.Equal(t, strings.Fields(string(names[1])), lines)
}
