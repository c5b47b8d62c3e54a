package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"frontdesk/libs/db/pgserver/tether"
)

// Server is a running PostgreSQL, a child of this process that ends with it.
type Server struct {
	*Cluster
	cmd   *exec.Cmd
	ended chan struct{}
	log   *lastLines
}

// Start opens the cluster, starts its server and returns once it answers.
func Start(ctx context.Context, o Options) (*Server, error) {
	c, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{Cluster: c, cmd: c.Command(), ended: make(chan struct{}), log: &lastLines{}}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.WaitDelay = time.Second
	if err := tether.Start(s.cmd, syscall.SIGQUIT); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.ended:
			cancel(errors.New("the server ended"))
		case <-ctx.Done():
		}
	}()
	if err := s.WaitReady(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w: %s", err, tail([]byte(s.Log())))
	}
	return s, nil
}

// PID is the process id of the server.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log is the end of what the server has written to its log: about 4,000 characters.
func (s *Server) Log() string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return string(s.log.kept)
}

// Stop stops the server in good order, and by force when that takes more than ten seconds. It may be called twice.
func (s *Server) Stop() {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		_ = s.cmd.Process.Signal(signal)
		select {
		case <-s.ended:
			return
		case <-time.After(10 * time.Second):
		}
	}
}

// lastLines keeps the end of a log, to say why a server would not start.
type lastLines struct {
	mu   sync.Mutex
	kept []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-4096):]
	return len(p), nil
}
