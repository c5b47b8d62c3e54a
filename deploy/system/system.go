// Package system starts the whole system as `make run` does, with data and ports of its own, for tests and measurements. Its
// clients call it through the gateway.
package system

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/until"
)

// Services are the five, in the order of their ports.
var Services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// Password is that of the administrator, whose login is admin.
const Password = "correct horse battery staple"

// System is a running system.
type System struct {
	// Data is its data folder; see deploy/local/README.md.
	Data string

	launcher *exec.Cmd
	ended    chan struct{} // closed when the launcher has ended
	folder   string        // is deleted at the end; empty for data that stay
}

// Options of a system. The zero value is one with an embedded broker, without rate limits.
type Options struct {
	// Data names the data folder of a running system, which is then used; empty starts one.
	Data string
	// Folder keeps data after Stop, for a later Start with the same; empty for a folder that Stop deletes. PostgreSQL's user must be
	// able to pass it.
	Folder string
	// Env goes to the launcher, after the variables that Start sets.
	Env []string
	// Checkout is another checkout, whose programs run; empty for this one.
	Checkout string
	// Progress gets the lines of the launcher; nil for nobody.
	Progress io.Writer
}

// State is the content of run.json.
type State struct {
	PID      int    `json:"pid"`
	Ready    bool   `json:"ready"`
	Gateway  string `json:"gateway"`
	MailPage string `json:"mail_page"`
	Kafka    string `json:"kafka"`
	// KafkaLogin is the administrator's at Kafka.
	KafkaLogin bus.LoginOptions `json:"kafka_login"`
	// KafkaUsers is where the users of the processes sign in.
	KafkaUsers string `json:"kafka_users"`
	Database   string `json:"database_url"` // the administrator's, of the database with all schemas
	Admin      struct{ Login, Password string }
	Processes  map[string]Process
}

// Broker returns a client of Kafka with the administrator's login, and that login.
func (s State) Broker() (*kafka.Client, bus.Login, error) {
	login, err := bus.NewLogin(s.KafkaLogin)
	return &kafka.Client{Addr: kafka.TCP(s.Kafka), Transport: login.Transport(), Timeout: 5 * time.Second}, login, err
}

// Process is one of the system's as it runs now; it has another PID after a crash.
type Process struct {
	PID      int    `json:"pid"`
	Restarts int    `json:"restarts"`
	Admin    string `json:"admin"`
	URL      string `json:"url"`
}

// Start builds and starts a system, and returns when the gateway routes to every service. The first start on a machine builds
// Traefik, which takes minutes. Stop ends it.
func Start(ctx context.Context, o Options) (*System, error) {
	if o.Data != "" {
		s := &System{Data: o.Data}
		_, err := s.State()
		return s, err
	}
	root, err := Root()
	if err != nil {
		return nil, err
	}
	root = cmp.Or(o.Checkout, root)
	s := &System{ended: make(chan struct{})}
	folder := o.Folder
	if folder == "" {
		if folder, err = os.MkdirTemp("", "frontdesk-system-"); err != nil {
			return nil, err
		}
		s.folder = folder
		// Postgres runs as another user and has to get through.
		if err := os.Chmod(folder, 0o755); err != nil {
			return nil, err
		}
	}
	s.Data = filepath.Join(folder, "data")
	if err := s.launch(ctx, root, o); err != nil {
		s.Logs(os.Stderr)
		s.Stop()
		return nil, fmt.Errorf("start the system: %w", err)
	}
	return s, nil
}

func (s *System) launch(ctx context.Context, root string, o Options) error {
	launcher := filepath.Join(filepath.Dir(s.Data), "local")
	build := exec.CommandContext(ctx, "go", "build", "-o", launcher, "./deploy/local")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the launcher: %w: %s", err, out)
	}
	said := &last{}
	s.launcher = exec.Command(launcher, "run", "-with-input")
	s.launcher.Dir, s.launcher.Stdout = root, said
	if o.Progress != nil {
		s.launcher.Stdout = io.MultiWriter(said, o.Progress)
	}
	s.launcher.Stderr = s.launcher.Stdout
	s.launcher.Env = append(append(environment(), "SVC_HTTP_PORT=0", "SVC_DATA_DIR="+s.Data, "SVC_ADMIN_PASSWORD="+Password, "SVC_RATE_FACTOR=0",
		// As in a cluster: events of different records come in any order.
		"SVC_KAFKA_PARTITIONS=4"), o.Env...)
	if _, err := s.launcher.StdinPipe(); err != nil { // Wait closes it
		return err
	}
	if err := s.launcher.Start(); err != nil {
		return err
	}
	go func() { _ = s.launcher.Wait(); close(s.ended) }()
	for until := time.Now().Add(15 * time.Minute); ; {
		if now, err := s.State(); err == nil && now.Ready {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended: %s: %s", s.launcher.ProcessState, said)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("it did not become ready: %s", said)
		}
	}
}

// Stop ends a system that Start started, and deletes its data.
func (s *System) Stop() {
	if s.launcher != nil && s.launcher.Process != nil {
		_ = s.launcher.Process.Signal(os.Interrupt)
		select {
		case <-s.ended:
		case <-time.After(30 * time.Second):
			_ = s.launcher.Process.Kill()
			<-s.ended
		}
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// Root returns the nearest folder with a go.work, from the current one upward: the checkout.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.work")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("there is no go.work here or above")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
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

// last keeps the end of what was written.
type last struct {
	mu   sync.Mutex
	kept []byte
}

func (l *last) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-8000):]
	return len(p), nil
}

func (l *last) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.Clone(l.kept))
}

// Logs prints the end of each process's log, for the reader of a failed run.
func (s *System) Logs(w io.Writer) {
	files, _ := filepath.Glob(filepath.Join(s.Data, "log", "*.log"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || strings.Contains(f, "traefik") {
			continue
		}
		fmt.Fprintf(w, "--- %s\n%s\n", filepath.Base(f), b[max(0, len(b)-3000):])
	}
}

// State reads run.json.
func (s *System) State() (now State, err error) {
	b, err := os.ReadFile(filepath.Join(s.Data, "run.json"))
	if err != nil {
		return now, err
	}
	return now, json.Unmarshal(b, &now)
}

// Now is State for a test.
func (s *System) Now(t testing.TB) State {
	t.Helper()
	now, err := s.State()
	require.NoError(t, err)
	return now
}

// Kill ends a process as a crash would, and waits until the launcher has started it again. Healthy waits for the rest.
func (s *System) Kill(t testing.TB, name string) {
	t.Helper()
	before := s.Now(t).Processes[name]
	require.NotZero(t, before.PID, "%s does not run", name)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	s.started(t, name, before.PID)
}

// started waits until a process runs that is not the one before.
func (s *System) started(t testing.TB, name string, before int) {
	t.Helper()
	until.Holds(t, func() bool {
		now, err := s.State()
		return err == nil && now.Processes[name].PID != before && now.Processes[name].PID != 0
	}, 30*time.Second, 20*time.Millisecond, "%s does not come back", name)
}

// Down ends a process by a signal and keeps it down until up is called, which returns once it is started again; the test's end
// calls up as well.
func (s *System) Down(t testing.TB, name string, by syscall.Signal) (up func()) {
	t.Helper()
	before := s.Now(t).Processes[name].PID
	require.NotZero(t, before, "%s does not run", name)
	hold := filepath.Join(s.Data, "hold", name)
	require.NoError(t, os.MkdirAll(filepath.Dir(hold), 0o755))
	require.NoError(t, os.WriteFile(hold, nil, 0o600))
	t.Cleanup(func() { _ = os.Remove(hold) })
	require.NoError(t, syscall.Kill(before, by))
	until.Holds(t, func() bool { return syscall.Kill(before, 0) != nil }, 30*time.Second, 5*time.Millisecond, "%s does not end", name)
	return func() {
		t.Helper()
		require.NoError(t, os.Remove(hold))
		s.started(t, name, before)
	}
}

// Program returns the path of the program that runs as a process, and its environment.
func (s *System) Program(t testing.TB, name string) (path string, env []string) {
	t.Helper()
	pid := s.Now(t).Processes[name].PID
	require.NotZero(t, pid, "%s does not run", name)
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	require.NoError(t, err)
	// A program that was built anew meanwhile stands at the same path.
	path = strings.TrimSuffix(path, " (deleted)")
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	return path, strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
}

// StandIn stops the launcher's process of a name for the rest of the test. start starts a program in its place, with the same environment
// and more, and returns once it is ready; an empty program is the one that ran. stop ends it in good order, and start may be called again.
func (s *System) StandIn(t testing.TB, name string) (start func(program string, more ...string) (stop func())) {
	t.Helper()
	admin := s.Now(t).Processes[name].Admin
	same, env := s.Program(t, name)
	s.Down(t, name, syscall.SIGTERM)
	return func(program string, more ...string) (stop func()) {
		t.Helper()
		cmd := exec.Command(cmp.Or(program, same))
		cmd.Env = slices.Concat(env, more)
		said := &last{}
		cmd.Stdout, cmd.Stderr = said, said
		require.NoError(t, tether.Start(cmd, syscall.SIGKILL))
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		end := func(by syscall.Signal) {
			_ = cmd.Process.Signal(by)
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				_ = cmd.Process.Kill()
				<-ended
				t.Errorf("the new process of %s does not stop", name)
			}
		}
		t.Cleanup(func() { end(syscall.SIGKILL) })
		until.Holds(t, func() bool {
			select {
			case <-ended:
				require.Fail(t, "the new process of "+name+" has ended", said.String())
			default:
			}
			return Answers200(admin + "/readyz")
		}, 30*time.Second, 20*time.Millisecond, "the new process of %s is not ready", name)
		return func() { end(syscall.SIGTERM) }
	}
}

// Healthy waits until every process says that it can work.
func (s *System) Healthy(t testing.TB) {
	t.Helper()
	until.Holds(t, func() bool {
		now, err := s.State()
		if err != nil {
			return false
		}
		for name, p := range now.Processes {
			if p.Admin != "" && name != "traefik" && !Answers200(p.Admin+"/readyz") {
				return false
			}
		}
		return true
	}, 60*time.Second, 50*time.Millisecond, "not everything is ready")
}

// Answers200 reports whether a GET of an address answers 200.
func Answers200(url string) bool {
	res, err := http.DefaultClient.Get(url)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// Eventually waits up to a minute until ok holds.
func Eventually(t testing.TB, ok func() bool, what string) {
	t.Helper()
	until.Holds(t, ok, time.Minute, 20*time.Millisecond, what)
}
