package live

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"frontdesk/deploy/observe"
	"frontdesk/deploy/system"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// faster is how the times of the rules are shortened.
const faster = observe.Clock(1. / 60)

// monitor is a running Prometheus.
type monitor struct {
	url   string
	began time.Time
}

// watch starts Prometheus as prometheus/local.yml says, but every two seconds and beside a system.
func watch(t *testing.T, sys *system.System) monitor {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	require.NoError(t, err, "make observe fetches it")
	text, err := os.ReadFile("../prometheus/local.yml")
	require.NoError(t, err)
	const standard = "../../../.run/targets.json"
	config := string(text)
	require.Contains(t, config, standard)
	config = strings.Replace(config, standard, filepath.Join(sys.Data, "targets.json"), 1)
	config = strings.ReplaceAll(config, "_interval: 15s", "_interval: 2s")
	rules, err := yaml.Marshal(observe.Rules(faster))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yml"), rules, 0o600))

	address := freeport.Address()

	cmd := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--enable-feature=exemplar-storage", "--log.level=warn")
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	m := monitor{"http://" + address, time.Now()}
	until.Holds(t, func() bool {
		res, err := http.Get(m.url + "/-/ready")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond, "Prometheus is not ready")
	return m
}

// get asks Prometheus and reads data of its answer into v.
func (m monitor) get(t *testing.T, path string, query url.Values, v any) {
	t.Helper()
	res, err := http.Get(m.url + path + "?" + query.Encode())
	require.NoError(t, err)
	defer res.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	require.Equal(t, "success", answer.Status, "%s: %s", query, answer.Error)
	require.NoError(t, json.Unmarshal(answer.Data, v))
}

// numbers is how many values a query has had since the start that are numbers.
func (m monitor) numbers(t *testing.T, query string) (n int) {
	t.Helper()
	var found struct {
		Result []struct{ Values [][2]any }
	}
	m.get(t, "/api/v1/query_range", url.Values{"query": {query}, "start": {unix(m.began)}, "end": {unix(time.Now())}, "step": {"1"}}, &found)
	for _, series := range found.Result {
		for _, v := range series.Values {
			if f, err := strconv.ParseFloat(v[1].(string), 64); err == nil && !math.IsNaN(f) {
				n++
			}
		}
	}
	return n
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// firing reports whether an alert fires with these labels.
func (m monitor) firing(t *testing.T, name string, labels map[string]string) bool {
	t.Helper()
	var found struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	m.get(t, "/api/v1/alerts", nil, &found)
	for _, a := range found.Alerts {
		if a.Labels["alertname"] != name || a.State != "firing" {
			continue
		}
		same := true
		for k, v := range labels {
			same = same && a.Labels[k] == v
		}
		if same {
			return true
		}
	}
	return false
}
