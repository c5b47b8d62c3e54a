package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db/pgserver"
)

// restore brings services back to a backup. Of a running system it stops these services only; without one it starts a
// database and a broker in the data folder meanwhile, which may be new.
func restore(ctx context.Context, args []string) error {
	names, dir, err := chosen("restore", args)
	if err != nil {
		return err
	}
	if dir == "" {
		return errors.New("restore: from which folder? make restore FROM=folder, or local restore folder")
	}
	b, err := readBackup(dir, names)
	if err != nil {
		return err
	}
	k, err := readKnobs()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.DataDir, 0o755); err != nil {
		return err
	}
	free, err := lock(k.DataDir)
	if err != nil {
		// It runs.
		l, err := attach(ctx, k)
		if err == nil {
			err = l.opens(b)
		}
		if err != nil {
			return err
		}
		return l.restoreRunning(ctx, dir, names)
	}
	defer free.Close()
	return restoreStopped(ctx, k, b, dir, names)
}

// readBackup reads backup.json, and checks that the dumps of the services are whole.
func readBackup(dir string, names []string) (b backupFile, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "backup.json"))
	if err != nil {
		return b, fmt.Errorf("%s holds no backup: %w", dir, err)
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, fmt.Errorf("%s: %w", filepath.Join(dir, "backup.json"), err)
	}
	for _, name := range names {
		want, ok := b.Services[name]
		if !ok {
			return b, fmt.Errorf("the backup %s does not hold %s", dir, name)
		}
		have, err := measure(filepath.Join(dir, want.File))
		if err != nil {
			return b, err
		}
		if have != want {
			return b, fmt.Errorf("%s is damaged: it is not what the backup wrote", filepath.Join(dir, want.File))
		}
	}
	return b, nil
}

// opens fails unless the launch has the keys of the backup.
func (l *launch) opens(b backupFile) error {
	if l.fingerprint() != b.Keys {
		return fmt.Errorf("the backup was made with other keys: put the secrets.json of that time into %s and start again", l.DataDir)
	}
	return nil
}

// restoreRunning restores services while the rest of the system runs. After an error they stay stopped: a service that was not
// brought together with its topics must not start.
func (l *launch) restoreRunning(ctx context.Context, dir string, names []string) error {
	if l.kafka.own {
		if err := l.topics(ctx); err != nil { // how many partitions they have
			return err
		}
	}
	for _, name := range names {
		if err := l.hold(ctx, name); err != nil {
			return err
		}
		l.say("%s is stopped", name)
	}
	return l.heldDown(names, func() error { return l.restoreSchemas(ctx, dir, names) })
}

// hold stops all replicas of a service, and keeps each from being started while its file is there.
func (l *launch) hold(ctx context.Context, service string) error {
	folder := filepath.Join(l.DataDir, "hold")
	lock, err := lockHolds(folder)
	if err != nil {
		return err
	}
	defer lock.Close()
	raw, err := os.ReadFile(filepath.Join(l.DataDir, "run.json"))
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	var running []int
	for name, p := range s.Processes {
		if name != service && !strings.HasPrefix(name, service+"-") {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			return err
		}
		if p.PID != 0 {
			running = append(running, p.PID)
		}
	}
	for _, pid := range running {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended by itself
	}
	for _, pid := range running {
		for until := time.Now().Add(grace); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) || ctx.Err() != nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	return nil
}

// restoreStopped restores services in a data folder in which nothing runs, with a database and a broker that end with it.
func restoreStopped(ctx context.Context, k knobs, b backupFile, dir string, names []string) error {
	root, err := projectRoot()
	if err != nil {
		return err
	}
	l := &launch{knobs: k, root: root, bin: filepath.Join(root, ".run", "bin"), tools: filepath.Join(root, ".run", "tools"), self: "/proc/self/exe", started: time.Now()}
	for _, folder := range []string{filepath.Join(k.DataDir, "log"), l.bin, l.tools} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if err := l.choose(); err != nil {
		return err
	}
	defer l.state.remove()
	if err := l.opens(b); err != nil {
		return err
	}
	defer l.supervisor.stopAll([]string{"kafka"}, []string{"postgres"})
	if err := l.upPostgres(ctx); err != nil {
		return err
	}
	if err := l.upKafka(ctx); err != nil {
		return err
	}
	if err := (builder{root: root, bin: l.bin, say: l.say}).ours(ctx, services); err != nil {
		return err
	}
	if err := l.heldDown(names, func() error { return l.restoreSchemas(ctx, dir, names) }); err != nil {
		return err
	}
	l.say("done; 'make run' starts the system")
	return nil
}

// heldDown runs a restore of services while no process of theirs may start, however many replicas the next run has. After an error they stay
// held down: a service that was not brought together with its topics would send what it had sent before.
func (l *launch) heldDown(names []string, restore func() error) error {
	folder := filepath.Join(l.DataDir, "hold")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var held []string
	for _, name := range names {
		for n := range mostReplicas {
			held = append(held, filepath.Join(folder, replicaName(name, n)))
		}
	}
	for _, file := range held {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
	}
	if err := restore(); err != nil {
		return fmt.Errorf("%w; %s stay stopped: restore again", err, strings.Join(names, ", "))
	}
	for _, file := range held {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// restoreSchemas restores the schemas of stopped services, and brings them together with the topics.
func (l *launch) restoreSchemas(ctx context.Context, dir string, names []string) error {
	for _, name := range names {
		if err := l.restoreSchema(ctx, name, filepath.Join(dir, name+".dump")); err != nil {
			return err
		}
		l.say("the schema of %s is restored", name)
	}
	for _, name := range names {
		if err := l.resync(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// restoreSchema replaces the schema of a service by that of a dump. After an error the schema is as it was.
func (l *launch) restoreSchema(ctx context.Context, service, file string) (err error) {
	conn, err := pgx.Connect(ctx, l.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	schema, former := pgx.Identifier{service}.Sanitize(), pgx.Identifier{service + "_former"}.Sanitize()
	rename := []string{`drop schema if exists ` + former + ` cascade`, `alter schema ` + schema + ` rename to ` + former}
	for _, q := range rename {
		if _, err := conn.Exec(ctx, q); err != nil {
			return fmt.Errorf("put the schema of %s aside: %w", service, err)
		}
	}
	if l.urls, err = pgserver.Provision(ctx, l.admin, l.RolePasswords); err == nil {
		// The schema is there; the dump holds what is in it.
		err = l.postgresProgram(ctx, service, "pg_restore", "--schema="+service, "--no-owner", "--exit-on-error", "--single-transaction", file)
	}
	if err != nil {
		_, back := conn.Exec(ctx, `drop schema if exists `+schema+` cascade; alter schema `+former+` rename to `+schema)
		return errors.Join(err, back)
	}
	_, err = conn.Exec(ctx, `drop schema `+former+` cascade`)
	return err
}

// resync runs the command of the same name of a stopped service.
func (l *launch) resync(ctx context.Context, service string) error {
	cmd := l.service(l.replicasOf(service)[0]).command()
	cmd.Args = append(cmd.Args, "resync")
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = os.Stdout, said
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s resync: %w: %s; run it again before the service starts", service, err, lastLine(said.String()))
	}
	return nil
}

// resetPassword runs the command of the same name of settings, beside the running system.
func resetPassword(ctx context.Context, args []string) error {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return errors.New("reset-password: whose? local reset-password LOGIN, with SVC_DATA_DIR for a data folder elsewhere")
	}
	k, err := readKnobs()
	if err != nil {
		return err
	}
	l, err := attach(ctx, k)
	if err != nil {
		return err
	}
	cmd := l.service(l.replicasOf("settings")[0]).command()
	cmd.Args = append(cmd.Args, "reset-password", args[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return exitStatus(1) // it has said why
	}
	return nil
}

// lastLine is the last line of what a program wrote.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
