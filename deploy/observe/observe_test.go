package observe

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheFilesAreWhatTheCodeMakes(t *testing.T) {
	files, err := Files()
	require.NoError(t, err)
	for name, want := range files {
		if os.Getenv("UPDATE_OBSERVE") != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, want, 0o644))
		}
		have, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, string(have) == string(want), "%s is not what the code makes: UPDATE_OBSERVE=1 go test ./deploy/observe", name)
	}
	made, err := filepath.Glob("grafana/dashboards/*")
	require.NoError(t, err)
	require.Len(t, made, len(Services)+1, "one of each service, and the overview")
}

func TestTheRunbookSaysOfEachAlertWhatToDo(t *testing.T) {
	const file, from, to = "../README.md", "<!-- alerts -->\n", "<!-- end of alerts -->"
	readme, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(readme), from)
	require.True(t, ok)
	have, after, ok := strings.Cut(rest, to)
	require.True(t, ok)
	if os.Getenv("UPDATE_OBSERVE") != "" {
		have = Runbook()
		require.NoError(t, os.WriteFile(file, []byte(before+from+have+to+after), 0o644))
	}
	require.True(t, have == Runbook(), "the table of alerts is not what the code makes: UPDATE_OBSERVE=1 go test ./deploy/observe")
}

func TestEachMetricOfAQueryIsInTheTable(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	queries := Queries("1m")
	for _, g := range Rules(1).Groups {
		for _, r := range g.Rules {
			queries = append(queries, r.Expr)
		}
	}
	for _, q := range queries {
		for _, name := range regexp.MustCompile(`\b(frontdesk|db_client_connection)_[a-z_]+`).FindAllString(q, -1) {
			name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			if name == "db_client_connection" || strings.HasSuffix(name, "_bad") || name == "db_client_connection_state" {
				name = "db_client_connection_count"
			}
			require.Contains(t, string(readme), "| `"+name+"` |", q)
		}
	}
}

func TestAClockShortensAllTimesOfARule(t *testing.T) {
	require.Equal(t, `rate(a[5s]) > 1 and b > 60 and c{d="e"}`, Clock(1./60).scale(`rate(a[5m]) > 1 and b > {1h} and c{d="e"}`))
	for _, a := range Rules(1. / 60).Groups[1].Rules {
		require.NotContains(t, a.Expr, "[1h]")
		require.NotContains(t, a.Expr, "{3h}")
	}
	require.Equal(t, "30s", span(Clock(.5).of(time.Minute)))
}
