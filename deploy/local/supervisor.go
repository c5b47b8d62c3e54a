package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"frontdesk/libs/db/pgserver/tether"
)

// process is a program that the launcher keeps running.
type process struct {
	name string
	// command makes a new command for each start.
	command func() *exec.Cmd
	// ready is nil once the process does its work.
	ready func(ctx context.Context) error
	// stop asks it to end in good order.
	stop syscall.Signal
	// onDeath is what the kernel sends it when the launcher is killed.
	onDeath syscall.Signal
	// url and admin are where it listens; either may be empty.
	url, admin string
}

// supervisor runs processes, starts again those that end, and stops them.
type supervisor struct {
	logs     string
	keepLogs time.Duration // after a file was closed
	holds    string        // a process with a file of its name in this folder is not started until the file is gone, see lockHolds
	say      func(format string, args ...any)
	changed  func() // called after each start

	mu       sync.Mutex
	running  map[string]*running
	stopping bool
}

type running struct {
	process
	log      *logFile
	end      chan struct{} // closed to stop it for good
	ended    chan struct{} // closed when it has stopped for good
	pid      int
	restarts int
}

func newSupervisor(logs string, keepLogs time.Duration, holds string, say func(string, ...any), changed func()) *supervisor {
	return &supervisor{logs: logs, keepLogs: keepLogs, holds: holds, say: say, changed: changed, running: map[string]*running{}}
}

const (
	firstPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
	// steady is how long a process must have run for its next end to count as the first.
	steady = 30 * time.Second
	// grace is more than the eleven seconds that a service takes at most.
	grace = 12 * time.Second
)

// start runs the process until stopAll, and starts it again whenever it ends: after 0.2 s, then after twice as long each
// time, up to 10 s. It returns before the process is ready.
func (s *supervisor) start(p process) error {
	r := &running{process: p, end: make(chan struct{}), ended: make(chan struct{})}
	log, err := openLog(filepath.Join(s.logs, p.name+".log"), s.keepLogs, func(line string) {
		if !s.isStopping() {
			s.say("%-10s | %s", p.name, line)
		}
	})
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", p.name, err)
	}
	r.log = log
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return context.Canceled
	}
	s.running[p.name] = r
	go s.keep(r)
	return nil
}

func (s *supervisor) keep(r *running) {
	defer close(r.ended)
	pause := firstPause
	for {
		if s.awaitRelease(r) {
			pause = firstPause
		}
		select {
		case <-r.end:
			return
		default:
		}
		started := time.Now()
		err := s.once(r)
		select {
		case <-r.end:
			return
		default:
		}
		if s.held(r.name) {
			continue
		}
		if time.Since(started) > steady {
			pause = firstPause
		}
		s.say("%-10s | ended (%v); starting it again in %s; its log is %s", r.name, err, pause, filepath.Join(s.logs, r.name+".log"))
		select {
		case <-r.end:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
}

// held reports whether somebody holds a process down.
func (s *supervisor) held(name string) bool {
	_, err := os.Stat(filepath.Join(s.holds, name))
	return err == nil
}

// awaitRelease waits until nobody holds the process down, and reports whether somebody did.
func (s *supervisor) awaitRelease(r *running) bool {
	for waited := false; ; waited = true {
		if !s.held(r.name) {
			return waited
		}
		select {
		case <-r.end:
			return true
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lockHolds locks the folder of holds until the returned file is closed: who holds a process down either comes before its start, which then
// waits, or finds its PID in run.json.
func lockHolds(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// begin starts a command, unless somebody holds the process down meanwhile, and makes its PID known.
func (s *supervisor) begin(r *running, cmd *exec.Cmd) error {
	holds, err := lockHolds(s.holds)
	if err != nil {
		return fmt.Errorf("look whether %s is held down: %w", r.name, err)
	}
	defer holds.Close()
	if s.held(r.name) {
		return errHeld
	}
	if err := tether.Start(cmd, r.onDeath); err != nil {
		return err
	}
	s.mu.Lock()
	if r.pid != 0 {
		r.restarts++
	}
	r.pid = cmd.Process.Pid
	s.mu.Unlock()
	s.changed()
	return nil
}

var errHeld = errors.New("it is held down")

// once runs the process until it ends, and stops it when r.end is closed. It answers why the process ended.
func (s *supervisor) once(r *running) error {
	cmd := r.command()
	cmd.Stdout, cmd.Stderr = r.log, r.log
	cmd.WaitDelay = time.Second // descendants may hold the pipe
	if err := s.begin(r, cmd); err != nil {
		return err
	}
	result := make(chan error, 1)
	go func() { result <- cmd.Wait() }()
	select {
	case err := <-result:
		if err == nil {
			err = errors.New("exit status 0")
		}
		return err
	case <-r.end:
	}
	_ = cmd.Process.Signal(r.stop)
	select {
	case err := <-result:
		return err
	case <-time.After(grace):
		s.say("%-10s | does not stop; killing it", r.name)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return <-result
	}
}

// stopAll stops one group after the other, the processes of a group together. It ignores names that were not started.
func (s *supervisor) stopAll(groups ...[]string) {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	for _, names := range groups {
		var waiting []*running
		for _, n := range names {
			if r := s.running[n]; r != nil {
				close(r.end)
				waiting = append(waiting, r)
			}
		}
		for _, r := range waiting {
			<-r.ended
		}
	}
}

// kill ends everything at once, for a person who asks a second time.
func (s *supervisor) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		if r.pid != 0 {
			_ = syscall.Kill(-r.pid, syscall.SIGKILL)
		}
	}
}

func (s *supervisor) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// waitReady returns when every named process is ready, but for those that are held down.
func (s *supervisor) waitReady(ctx context.Context, names ...string) error {
	for _, name := range names {
		if s.held(name) {
			s.say("%s stays stopped, because a restore of it has not ended well: restore it again, or delete %s to start it as it is", name, filepath.Join(s.holds, name))
			continue
		}
		s.mu.Lock()
		ready := s.running[name].ready
		s.mu.Unlock()
		if err := s.await(ctx, name, ready); err != nil {
			return err
		}
	}
	return nil
}

// await returns when the check on a process succeeds. It gives up when ctx ends, or when the process keeps ending.
func (s *supervisor) await(ctx context.Context, name string, check func(context.Context) error) error {
	s.mu.Lock()
	r := s.running[name]
	s.mu.Unlock()
	log := filepath.Join(s.logs, name+".log")
	for reported := time.Now(); ; {
		probe, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := check(probe)
		cancel()
		if err == nil {
			return nil
		}
		s.mu.Lock()
		restarts := r.restarts
		s.mu.Unlock()
		if restarts >= 5 {
			return fmt.Errorf("%s does not stay up: %s; its log is %s", name, r.log.lastProblem(), log)
		}
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			s.say("waiting for %s: %s", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its log is %s", name, err, log)
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// answers200 checks that a GET of url answers 200.
func answers200(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	}
}
