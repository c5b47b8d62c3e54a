package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"frontdesk/deploy/system"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/db/pgserver/tether"
)

// Own gives a service of a system that was just started a PostgreSQL of its own, as deploy/README.md moves one: the launcher's processes of the
// service, whose names are given, stop for good, and the same programs start with the new address. It returns once all are ready.
func (s *System) Own(ctx context.Context, service string, names []string) error {
	server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(s.Dir, "postgres-"+service), Durable: true})
	if err != nil {
		return fmt.Errorf("start PostgreSQL for %s: %w", service, err)
	}
	s.Defer(server.Stop)
	urls, err := pgserver.Provision(ctx, server.URL(), map[string]string{service: password})
	if err != nil {
		return fmt.Errorf("make the schema %s: %w", service, err)
	}
	var replicas []*exec.Cmd
	var admins []string
	for _, name := range names {
		p, err := s.Process(name)
		if err != nil {
			return err
		}
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		if err != nil {
			return err
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err != nil {
			return err
		}
		if err := s.hold(name, p.PID); err != nil {
			return err
		}
		cmd := exec.Command(program)
		cmd.Env = slices.Concat(strings.Split(strings.TrimRight(string(env), "\x00"), "\x00"), []string{"DATABASE_URL=" + urls[service]})
		replicas, admins = append(replicas, cmd), append(admins, p.Admin)
	}
	// What the first schema has published is in Kafka, and the new one goes on from there.
	resync := exec.CommandContext(ctx, replicas[0].Path, "resync")
	resync.Env = replicas[0].Env
	if out, err := resync.CombinedOutput(); err != nil {
		return fmt.Errorf("resync %s: %w: %s", service, err, out)
	}
	for i, cmd := range replicas {
		if err := tether.Start(cmd, syscall.SIGKILL); err != nil {
			return err
		}
		s.Defer(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
		if !ready(admins[i]) {
			return fmt.Errorf("%s is not ready with a PostgreSQL of its own", names[i])
		}
	}
	return nil
}

// ready waits until a process says at its admin port that it can work.
func ready(admin string) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if system.Answers200(admin + "/readyz") {
			return true
		}
	}
	return false
}

// hold stops a process of the launcher, which starts it no more.
func (s *System) hold(name string, pid int) error {
	file := filepath.Join(s.system.Data, "hold", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for end := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%s does not stop", name)
		}
	}
	return nil
}
