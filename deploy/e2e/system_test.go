// Package e2e tests the whole system: the processes that `make run` starts, through the gateway.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// run is what run.json of the local run says.
type run struct {
	PID      int    `json:"pid"`
	Ready    bool   `json:"ready"`
	Gateway  string `json:"gateway"`
	MailPage string `json:"mail_page"`
	Database string `json:"database_url"`
	Admin    struct{ Login, Password string }
	// Processes by name, with the pid of each.
	Processes map[string]struct {
		PID      int    `json:"pid"`
		Restarts int    `json:"restarts"`
		Admin    string `json:"admin"`
		URL      string `json:"url"`
	}
}

var dataDir string

const password = "correct horse battery staple"

// TestMain starts the system once for all tests, or uses the one whose folder E2E_DATA_DIR names.
func TestMain(m *testing.M) { os.Exit(withSystem(m)) }

func withSystem(m *testing.M) int {
	if dataDir = os.Getenv("E2E_DATA_DIR"); dataDir != "" {
		return m.Run()
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return fail(err)
	}
	if dataDir, err = os.MkdirTemp("", "frontdesk-e2e-"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dataDir)
	// Postgres runs as another user and has to get through.
	if err := os.Chmod(dataDir, 0o755); err != nil {
		return fail(err)
	}
	launcher := filepath.Join(root, ".run", "bin", "local")
	build := exec.Command("go", "build", "-o", launcher, "./deploy/local")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		return fail(err)
	}
	system := exec.Command(launcher, "run")
	system.Dir, system.Stdout, system.Stderr = root, os.Stderr, os.Stderr
	system.Env = append(environment(), "SVC_HTTP_PORT=0", "SVC_DATA_DIR="+dataDir, "SVC_ADMIN_PASSWORD="+password, "SVC_RATE_FACTOR=0",
		// As in a cluster: events of different records come in any order.
		"SVC_KAFKA_PARTITIONS=4")
	if err := system.Start(); err != nil {
		return fail(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- system.Wait() }()
	defer func() {
		_ = system.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = system.Process.Kill()
			<-ended
		}
	}()
	for until := time.Now().Add(15 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if r, err := state(); err == nil && r.Ready {
			break
		}
		select {
		case err := <-ended:
			ended <- err
			return fail(fmt.Errorf("the system ended before it was ready: %w", err))
		default:
		}
		if time.Now().After(until) {
			return fail(errors.New("the system did not become ready"))
		}
	}
	code := m.Run()
	if code != 0 {
		logs()
	}
	return code
}

// environment is ours without the servers that the caller may use: the system under test has its own.
func environment() (env []string) {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "DATABASE_URL" && name != "KAFKA_BROKERS" {
			env = append(env, e)
		}
	}
	return env
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

// logs prints the end of each process's log, for the reader of a failed run.
func logs() {
	files, _ := filepath.Glob(filepath.Join(dataDir, "log", "*.log"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || strings.Contains(f, "traefik") {
			continue
		}
		fmt.Fprintf(os.Stderr, "--- %s\n%s\n", filepath.Base(f), b[max(0, len(b)-3000):])
	}
}

func state() (r run, err error) {
	b, err := os.ReadFile(filepath.Join(dataDir, "run.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

func system(t testing.TB) run {
	t.Helper()
	r, err := state()
	require.NoError(t, err)
	return r
}

// kill ends a process as a crash would, and waits until the launcher has started it again. healthy waits for the rest.
func kill(t testing.TB, name string) {
	t.Helper()
	before := system(t).Processes[name]
	require.NotZero(t, before.PID, "%s does not run", name)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		now, err := state()
		return err == nil && now.Processes[name].PID != before.PID && now.Processes[name].PID != 0
	}, 30*time.Second, 20*time.Millisecond, "%s does not come back", name)
}

// healthy waits until every process says that it can work.
func healthy(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool {
		now, err := state()
		if err != nil {
			return false
		}
		for _, name := range []string{"settings", "contacts", "booking", "forms", "webhooks", "gateway"} {
			res, err := http.Get(now.Processes[name].Admin + "/readyz")
			if err != nil {
				return false
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	}, 60*time.Second, 50*time.Millisecond, "not everything is ready")
}

// client calls the API through the gateway as somebody.
type client struct {
	login, password string
	cookie          *http.Cookie
	header          http.Header
}

type answer struct {
	Status int
	Body   string
	Header http.Header
	t      testing.TB
}

var transport = &http.Transport{MaxIdleConnsPerHost: 128, IdleConnTimeout: 5 * time.Second}

// try is call for a system whose processes are being killed: it answers the error.
func (c client) try(method, path string, body any) (*answer, error) {
	r, err := state()
	if err != nil {
		return nil, err
	}
	var reader io.Reader
	if s, ok := body.(string); ok {
		reader = strings.NewReader(s)
	} else if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.Gateway+"/v1"+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.password != "" {
		req.SetBasicAuth(c.login, c.password)
	}
	if c.cookie != nil {
		req.AddCookie(c.cookie)
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return &answer{Status: res.StatusCode, Body: string(raw), Header: res.Header}, err
}

// call sends body as JSON (a string as it is, nil for none). No call may be answered with 500.
func (c client) call(t testing.TB, method, path string, body any) *answer {
	t.Helper()
	a, err := c.try(method, path, body)
	require.NoError(t, err)
	a.t = t
	require.NotEqual(t, 500, a.Status, "%s %s: %s", method, path, a.Body)
	return a
}

func (c client) get(t testing.TB, path string) *answer {
	t.Helper()
	return c.call(t, "GET", path, nil)
}
func (c client) post(t testing.TB, path string, body any) *answer {
	t.Helper()
	return c.call(t, "POST", path, body)
}

// with is the client with one more header.
func (c client) with(name, value string) client {
	c.header = c.header.Clone()
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set(name, value)
	return c
}

// is requires the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.Status, a.Body)
	return a
}

// fails requires the status and the code of an error.
func (a *answer) fails(status int, code string) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.Status, a.Body)
	require.Equal(a.t, code, a.field("code"), a.Body)
	return a
}

// field is a value inside the body: "items.0.id".
func (a *answer) field(path string) any {
	a.t.Helper()
	var v any
	require.NoError(a.t, json.Unmarshal([]byte(a.Body), &v), a.Body)
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (a *answer) text(path string) string { a.t.Helper(); s, _ := a.field(path).(string); return s }

func (a *answer) items() []map[string]any {
	a.t.Helper()
	var l struct {
		Items []map[string]any `json:"items"`
	}
	require.NoError(a.t, json.Unmarshal([]byte(a.Body), &l), a.Body)
	return l.Items
}

// mails are those that went to an address, newest first.
func mails(t testing.TB, to string) []mail {
	t.Helper()
	res, err := http.Get(system(t).MailPage + "/api/mails?to=" + to)
	require.NoError(t, err)
	defer res.Body.Close()
	var l struct{ Items []mail }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&l))
	return l.Items
}

type mail struct {
	Subject, Text, HTML string
	Headers             map[string][]string
	Attachments         []attachment
}

type attachment struct {
	ContentType string `json:"content_type"`
}

// eventually waits up to 20 seconds until ok holds.
func eventually(t testing.TB, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, 20*time.Second, 20*time.Millisecond, what)
}
