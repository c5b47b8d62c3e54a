// Package launcher starts the launcher (deploy/local) for a whole system that its caller has to itself, on free ports and with data of its
// own: for tests, measurements, and the commands of `local with`.
package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Password is that of the administrator, whose login is admin.
const Password = "correct horse battery staple"

// Options of a system. Checkout is required.
type Options struct {
	// Checkout is the folder of the repository whose programs are built and run.
	Checkout string
	// Program is the launcher; empty builds the one of the checkout.
	Program string
	// Env goes to the launcher after the variables that Start sets, so that a variable here wins.
	Env []string
	// Progress gets what the launcher prints; nil for nobody.
	Progress io.Writer
}

// System is a running system.
type System struct {
	// Data is its data folder (deploy/local/README.md). Stop deletes it.
	Data string

	folder string // holds Data
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the launcher has ended
}

// Start starts a system and returns when its gateway routes to every service. The first start on a machine builds Traefik, which takes
// minutes. The system ends by Stop, and also when this process ends in whatever way. If the system does not start, what was started is
// stopped and deleted; unless ctx has ended, the ends of the logs are printed to standard error.
func Start(ctx context.Context, o Options) (*System, error) {
	// There nothing waits for a disk, which takes two milliseconds for each commit and each message.
	folder, err := os.MkdirTemp(InMemory(4<<30), "frontdesk-system-")
	if err != nil {
		return nil, err
	}
	s := &System{Data: filepath.Join(folder, "data"), folder: folder, ended: make(chan struct{})}
	if err := s.start(ctx, o); err != nil {
		if ctx.Err() == nil {
			s.Logs(os.Stderr)
		}
		s.Stop()
		return nil, fmt.Errorf("start a system: %w", err)
	}
	return s, nil
}

// InMemory returns a folder of the memory file system if need bytes are free there, else "". A test's database is a copy of
// about 8 MB; copying takes a tenth of the time there.
func InMemory(need uint64) string {
	const dir, tmpfs = "/dev/shm", 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Type != tmpfs || fs.Bavail*uint64(fs.Bsize) < need {
		return ""
	}
	return dir
}

func (s *System) start(ctx context.Context, o Options) error {
	// PostgreSQL runs as another user when we are root, and has to get through.
	if err := os.Chmod(s.folder, 0o755); err != nil {
		return err
	}
	program := o.Program
	if program == "" {
		// Where make builds it too: what is there already needs no second link.
		program = filepath.Join(o.Checkout, ".run", "bin", "local")
		if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
			return err
		}
		build := exec.CommandContext(ctx, "go", "build", "-o", program, "./deploy/local")
		build.Dir = o.Checkout
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the launcher: %w: %s", err, out)
		}
	}
	said := &Tail{}
	cmd := exec.Command(program, "run", "-with-input")
	cmd.Dir, cmd.Stdout = o.Checkout, said
	if o.Progress != nil {
		cmd.Stdout = io.MultiWriter(said, o.Progress)
	}
	cmd.Stderr = cmd.Stdout
	cmd.Env = slices.Concat(environment(), []string{"SVC_HTTP_PORT=0", "SVC_DATA_DIR=" + s.Data, "SVC_ADMIN_PASSWORD=" + Password, "SVC_RATE_FACTOR=0"}, o.Env)
	// A Ctrl-C in the terminal does not reach the launcher: the system outlives what uses it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := cmd.StdinPipe(); err != nil { // ends the launcher when this process ends; Wait closes it
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	go func() { _ = cmd.Wait(); close(s.ended) }()
	for until := time.Now().Add(15 * time.Minute); !s.ready(); {
		select {
		case <-s.ended:
			return fmt.Errorf("it ended: %s: %s", cmd.ProcessState, said)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("it did not become ready: %s", said)
		}
	}
	return nil
}

// ready reports whether run.json says that the system is ready.
func (s *System) ready() bool {
	b, err := os.ReadFile(filepath.Join(s.Data, "run.json"))
	var now struct{ Ready bool }
	return err == nil && json.Unmarshal(b, &now) == nil && now.Ready
}

// Stop ends the system and deletes its data.
func (s *System) Stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(os.Interrupt)
		select {
		case <-s.ended:
		case <-time.After(30 * time.Second):
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
	}
	_ = os.RemoveAll(s.folder)
}

// Logs prints the end of each process's log but Traefik's.
func (s *System) Logs(w io.Writer) { Logs(s.Data, w) }

// Logs prints the end of each process's log but Traefik's, of the system with this data folder.
func Logs(data string, w io.Writer) {
	files, _ := filepath.Glob(filepath.Join(data, "log", "*.log"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || strings.Contains(filepath.Base(f), "traefik") {
			continue
		}
		fmt.Fprintf(w, "--- %s\n%s\n", filepath.Base(f), b[max(0, len(b)-3000):])
	}
}

// environment is ours without the servers that the caller may use: the system has its own.
func environment() (env []string) {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "DATABASE_URL" && name != "KAFKA_BROKERS" {
			env = append(env, e)
		}
	}
	return env
}

// Tail keeps the last 8,000 bytes that were written to it. It may be used by several goroutines.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer; it never fails.
func (l *Tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-8000):]
	return len(p), nil
}

// String returns what is kept.
func (l *Tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
