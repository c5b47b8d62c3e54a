// Package observe makes what operators run beside Frontdesk: rules and alerts for Prometheus with their unit tests, and dashboards for
// Grafana. The files lie in prometheus/ and grafana/; UPDATE_OBSERVE=1 go test ./deploy/observe writes them.
package observe

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Services are those with a dashboard of their own.
var Services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// Files are all files that this package makes, by their path below its folder.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	var err error
	if files["prometheus/rules.yml"], err = inYAML(Rules(1)); err != nil {
		return nil, err
	}
	// A chart reads files of its own folder only.
	files["../kubernetes/files/rules.yml"] = files["prometheus/rules.yml"]
	if files["prometheus/rules_test.yml"], err = inYAML(unitTests(false)); err != nil {
		return nil, err
	}
	if files["prometheus/rules_slow_test.yml"], err = inYAML(unitTests(true)); err != nil {
		return nil, err
	}
	for _, d := range dashboards() {
		if files[filepath.Join("grafana/dashboards", d.uid+".json")], err = d.json(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func inYAML(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Made by the Go code of deploy/observe: change that, and run UPDATE_OBSERVE=1 go test ./deploy/observe\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Runbook is the runbook's table of alerts, in Markdown.
func Runbook() string {
	var b strings.Builder
	b.WriteString("| alert | meaning | what to do |\n|---|---|---|\n")
	for _, a := range Alerts() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, a.Summary, a.Runbook)
	}
	return b.String()
}

// Clock is how many seconds a second of the rules takes: 1, or less in a test that does not wait for hours.
type Clock float64

func (c Clock) of(d time.Duration) time.Duration { return time.Duration(float64(d) * float64(c)) }
