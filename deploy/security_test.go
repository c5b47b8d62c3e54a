package deploy_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asvs is how many requirements of levels 1 and 2 each section of OWASP ASVS 5.0.0 begins with; those of level 3 follow them.
var asvs = map[string]int{
	"1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2,
	"2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1,
	"3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2,
	"4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4,
	"5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3,
	"6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4,
	"7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2,
	"8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1,
	"9.1": 3, "9.2": 4,
	"10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3,
	"11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
	"12.1": 3, "12.2": 2, "12.3": 4,
	"13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5,
	"14.1": 2, "14.2": 4, "14.3": 3,
	"15.1": 3, "15.2": 3, "15.3": 7,
	"16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3,
	"17.1": 1, "17.2": 4, "17.3": 2,
}

var (
	row = regexp.MustCompile(`(?m)^\| ([0-9]+\.[0-9]+\.[0-9]+) \| (met|not applicable|open) \| (.+) \|$`)
	// proven is a test, a check, or a document and a section of it.
	proven = regexp.MustCompile("`Test\\w|`make |\\.md`|\" above")
	quoted = regexp.MustCompile("`([^`]+)`")
)

func TestEachRequirementOfASVSHasItsAnswer(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	answered := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		require.False(t, answered[m[1]], "%s stands twice", m[1])
		answered[m[1]] = true
		require.True(t, m[2] != "met" || proven.MatchString(m[3]), "%s names no test, no check and no document", m[1])
	}
	wanted := 0
	for section, requirements := range asvs {
		for n := range requirements {
			wanted++
			require.True(t, answered[fmt.Sprintf("%s.%d", section, n+1)], "%s.%d has no answer", section, n+1)
		}
	}
	require.Equal(t, 253, wanted)
	require.Len(t, answered, wanted)
}

// What stands in the way of an attacker is tried; nothing stands in the way of who runs the host.
func TestWhatStandsInTheWayOfEachAttackerIsTried(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "\n## Who might attack")
	attackers, _, _ := strings.Cut(rest, "\n## ")
	lines := regexp.MustCompile(`(?m)^\| .*\|$`).FindAllString(attackers, -1)
	require.Greater(t, len(lines), 9)
	for _, line := range lines[1:] {
		require.True(t, strings.HasPrefix(line, "| who runs the host |") || strings.Contains(line, "`Test"), line)
	}
}

// Each line about keys, data and logs names the test that holds it.
func TestWhatIsSaidOfKeysDataAndLogsIsTried(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	for _, section := range []string{"Keys", "Data", "Logs"} {
		_, rest, there := strings.Cut(string(text), "\n## "+section+"\n")
		require.True(t, there, section)
		lines, _, _ := strings.Cut(rest, "\n## ")
		rows := regexp.MustCompile(`(?m)^\| .*\|$`).FindAllString(lines, -1)
		require.Greater(t, len(rows), 5, section)
		for _, line := range rows[1:] {
			require.Contains(t, line, "`Test", section)
		}
		for said := range strings.SplitSeq(strings.TrimSpace(regexp.MustCompile(`(?m)^\|.*\|$`).ReplaceAllString(lines, "")), "\n\n") {
			require.True(t, strings.TrimSpace(said) == "" || strings.Contains(said, "`Test"), said)
		}
	}
}

// An answer names files and tests of the tree. Those it names exist.
func TestWhatTheAnswersNameExists(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	tests := testsOf(t)
	named := 0
	for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
		switch name := m[1]; {
		case strings.HasPrefix(name, "Test"):
			require.True(t, slices.Contains(tests, name), "there is no %s", name)
			named++
		case strings.Contains(name, "/") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, ".run/") && !strings.Contains(name, " "):
			_, err := os.Stat(filepath.Join("..", name))
			require.NoError(t, err, name)
			named++
		}
	}
	require.Greater(t, named, 150)
}

// testsOf are the names of all tests in the tree.
func testsOf(t *testing.T) (names []string) {
	t.Helper()
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && path != ".." && (e.Name() == "node_modules" || strings.HasPrefix(e.Name(), ".")) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range test.FindAllStringSubmatch(string(raw), -1) {
			names = append(names, m[1])
		}
		return err
	})
	require.NoError(t, err)
	return names
}
