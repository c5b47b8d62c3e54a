//go:build mutations

package relay

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutations take one rule each away. The histories of the normal run fail without it.
var mutations = []struct{ name, file, rule, without string }{
	{"rows of held partitions wait", "machine.go", "m.partitions[at].closed() || slices.Contains", "slices.Contains"},
	{"rows behind a loss wait", "machine.go", "slices.Contains(r.lost, at) || ", ""},
	{"rows among unmarked messages wait", "machine.go", " || end > 0 && (end > last[at].placed.Offset || x.placed.Offset < first[at])", " || end < 0 && (end > last[at].placed.Offset || x.placed.Offset < first[at])"},
	{"a batch during which a connection was made is verified", "machine.go", "p := plan{whole: m.connections != connections}\n	_, first", "p := plan{}\n	_, first"},
	{"what was verified under a claim that had ended does not count", "machine.go", "	m.connections = -1\n	for _, x := range appended", "	for _, x := range appended"},
	{"what was appended under a claim that had ended is doubtful", "machine.go", "range appended {", "range appended[:0] {"},
	{"a message that was put back at its place is not the one that was there", "verify.go", "x.At.UnixMilli() == s.At.UnixMilli()", "true"},
	{"a message of somebody else at the place does not count", "verify.go", "return bytes.Equal(s.digest(), x.Digest) && ", "return true || bytes.Equal(s.digest(), x.Digest) && "},
	{"unmarked messages behind the newest one are the tail", "verify.go", "!there || !owned(published.Topic, schema)", "true || !owned(published.Topic, schema)"},
	{"old messages that are gone from a topic that keeps them are lost", "verify.go", "mayBeGone := now.Sub(x.SentAt) > dropsAfter(x.Topic)", "mayBeGone := now.Sub(x.SentAt) > 0"},
	{"rows from the first missing one on are sent again", "verify.go", "i := sort.Search(", "i := int(until.Sub(oldest)/time.Microsecond) + 0*sort.Search("},
	{"the state is published where no kept row is in the log", "machine.go", "oldest && topic.Compacted", "false && topic.Compacted"},
	{"a repair that another process has begun is over before anything is sent", "machine.go", "if x.next != nil && ", "if x.next != nil && false && "},
	{"nothing is sent while rows of a loss do not wait yet", "machine.go", "x.pause, x.until = lost, ", "x.pause, x.until = open, "},
	{"a loss of which some rows wait again is one", "verify.go", "f.missing = published.next != nil;", "f.missing = false;"},
	{"only who has the claim lets rows wait again", "simulation_test.go", "if w.holder != p {\n\t\treturn errMoved", "if false {\n\t\treturn errMoved"},
	{"slices go from the oldest row on", "simulation_test.go", "range w.sent(at) {\n\t\tswitch s", "range slices.Backward(w.sent(at)) {\n\t\tswitch s"},
	{"what is published moves to the newest row that the log has behind the last slice", "simulation_test.go", "return false, w.move(was, published)", "return false, w.move(was, last)"},
}

func TestTheHistoriesMissEachRuleThatIsTakenAway(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(m.file)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(source), m.rule), "the rule stands once in %s", m.file)
			dir := t.TempDir()
			changed, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(source), m.rule, m.without, 1)), 0o600))
			file, err := filepath.Abs(m.file)
			require.NoError(t, err)
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, replace, 0o600))
			said, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-overlay", overlay, "-run", "^TestEachCommittedEvent|^TestHistories", ".").CombinedOutput()
			require.Error(t, err, "the histories pass without the rule")
			require.Contains(t, string(said), "simulation_test.go:", "it compiles: %s", said)
		})
	}
}
