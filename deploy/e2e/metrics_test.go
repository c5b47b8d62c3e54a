package e2e

import (
	"bufio"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ofLibraries are metrics of Go, of the exporters and of the database driver, which their own documents describe.
var ofLibraries = regexp.MustCompile(`^(go|process|promhttp|otel_scope|target|db_client_operation)_`)

func TestTheTableOfMetricsIsWhatTheProcessesShow(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	table := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		table[row[1]] = true
	}
	shown := 0
	for name, p := range sys.Now(t).Processes {
		if p.Admin == "" || name == "traefik" {
			continue
		}
		res, err := http.Get(p.Admin + "/metrics")
		require.NoError(t, err)
		defer res.Body.Close()
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			if metric, ok := strings.CutPrefix(s.Text(), "# TYPE "); ok {
				metric, _, _ = strings.Cut(metric, " ")
				if !ofLibraries.MatchString(metric) {
					require.Contains(t, table, metric, "shown by %s", name)
					shown++
				}
			}
		}
	}
	require.Greater(t, shown, 50)
}
