package e2e

import (
	"bufio"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
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

	var source strings.Builder
	for _, dir := range []string{"../../libs", "../../services", "../../gateway"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				b, err := os.ReadFile(path)
				source.Write(b)
				return err
			}
			return nil
		}))
	}
	measured := regexp.MustCompile(`"(?:frontdesk[._]|db\.client\.|)([a-z][a-z._]+)"`).FindAllStringSubmatch(source.String(), -1)
	for metric := range table {
		short := strings.TrimPrefix(strings.TrimPrefix(metric, "frontdesk_"), "db_client_")
		found := false
		for _, m := range measured {
			found = found || strings.HasPrefix(short, strings.ReplaceAll(m[1], ".", "_"))
		}
		require.True(t, found, "%s is in the table, and no code measures it", metric)
	}
}
