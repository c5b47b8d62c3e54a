// Package system starts the whole system as `make run` does, with data and ports of its own, for tests and measurements. Its
// clients call it through the gateway.
package system

import (
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
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system/launcher"
	"frontdesk/libs/bus"
	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// Services are the five, in the order of their ports.
var Services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// Password is that of the administrator, whose login is admin.
const Password = launcher.Password

// System is a running system.
type System struct {
	// Data is its data folder; see deploy/local/README.md.
	Data string

	own *launcher.System // nil for one that others have started
}

// Options of a system. The zero value is one with an embedded broker, without rate limits.
type Options struct {
	// Data names the data folder of a running system, which is then used; empty starts one.
	Data string
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

// Start builds and starts a system, as launcher.Start does. Stop ends it.
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
	// Events of different records come in any order, as in a cluster. Two partitions of a topic cost a twentieth of a processor at rest, and four twice as much.
	env := append([]string{"SVC_KAFKA_PARTITIONS=2"}, o.Env...)
	own, err := launcher.Start(ctx, launcher.Options{Checkout: cmp.Or(o.Checkout, root), Env: env, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	return &System{Data: own.Data, own: own}, nil
}

// Stop ends a system that Start started, and deletes its data.
func (s *System) Stop() {
	if s.own != nil {
		s.own.Stop()
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

// Logs prints the end of each process's log, for the reader of a failed run.
func (s *System) Logs(w io.Writer) { launcher.Logs(s.Data, w) }

// State reads run.json.
func (s *System) State() (now State, err error) {
	b, err := os.ReadFile(filepath.Join(s.Data, "run.json"))
	if err != nil {
		return now, err
	}
	err = json.Unmarshal(b, &now)
	return now, err
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

// Freeze stops a process until it gets SIGCONT or is killed, and returns once all its threads stand still: beside other programs some go on for a while.
func Freeze(t testing.TB, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	until.Holds(t, func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		require.NoError(t, err)
		require.NotEmpty(t, threads, "process %d is gone", pid)
		return !slices.ContainsFunc(threads, func(file string) bool {
			stat, err := os.ReadFile(file)
			return err == nil && !strings.Contains(string(stat), ") T ")
		})
	}, 30*time.Second, time.Millisecond, "process %d does not stand still", pid)
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
		end := running(t, name, admin, cmp.Or(program, same), slices.Concat(env, more))
		return func() { end(syscall.SIGTERM) }
	}
}

// Beside starts one more process of a service and returns its address. The gateway sends it no requests. It ends in good order with the test.
func (s *System) Beside(t testing.TB, name string) (url string) {
	t.Helper()
	program, env := s.Program(t, name)
	listen, admin := freeport.Address(), freeport.Address()
	end := running(t, name, "http://"+admin, program, slices.Concat(env, []string{"SVC_LISTEN=" + listen, "SVC_ADMIN_LISTEN=" + admin}))
	t.Cleanup(func() { end(syscall.SIGTERM) })
	return "http://" + listen
}

// running starts a program and returns once its admin port says that it is ready. end ends it by a signal, which the test's end does as well.
func running(t testing.TB, name, admin, program string, env []string) (end func(by syscall.Signal)) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = env
	said := &launcher.Tail{}
	cmd.Stdout, cmd.Stderr = said, said
	require.NoError(t, tether.Start(cmd, syscall.SIGKILL))
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	end = func(by syscall.Signal) {
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
	return end
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
