package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"frontdesk/deploy/system/launcher"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/freeport"
)

// withServers runs a command with TEST_DATABASE_URL (a superuser's) and TEST_KAFKA_BROKERS: servers that end with the
// command and are fast because they write nothing durably. It starts none for a variable that is set already. The error is the
// command's exitStatus.
//
// TEST_POSTGRES is the version of the server: of another one Go's cache of tests has no result, see dbtest.
func withServers(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("env", flag.ExitOnError)
	_ = flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("env: which command? local env -- go test ./…")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings...)

	dir, err := os.MkdirTemp(launcher.InMemory(4*gigabyte), "frontdesk-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the server runs as another user when we are root
		return err
	}
	root, err := projectRoot()
	if err != nil {
		return err
	}
	environment := os.Environ()
	if os.Getenv("TEST_DATABASE_URL") == "" {
		pg, err := pgserver.Start(ctx, pgserver.Options{
			Dir: filepath.Join(dir, "postgres"), Tools: filepath.Join(root, ".run", "tools"),
			Progress: func(s string) { fmt.Fprintln(os.Stderr, s) },
		})
		if err != nil {
			return err
		}
		defer pg.Stop()
		environment = append(environment, "TEST_DATABASE_URL="+pg.URL(), "TEST_POSTGRES="+pg.Version())
	}
	if os.Getenv("TEST_KAFKA_BROKERS") == "" {
		broker, err := startBroker("", freeport.At(0), "")
		if err != nil {
			return fmt.Errorf("start a broker: %w", err)
		}
		defer broker.Close()
		environment = append(environment, "TEST_KAFKA_BROKERS="+broker.ListenAddrs()[0])
	}
	return toItsEnd(flags.Args(), environment, signals)
}

// endings are the signals that ask for an end.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// asked returns the exitStatus of a process that a signal has ended, if one has come.
func asked(signals <-chan os.Signal) error {
	select {
	case s := <-signals:
		return exitStatus(128 + int(s.(syscall.Signal)))
	default:
		return nil
	}
}

// toItsEnd runs a command on our terminal until it ends. Its error is the command's exitStatus, as a shell says it. signals are those that this
// process gets: one that came before starts nothing, and later ones only reach the command, which this process outlives to clean up.
func toItsEnd(command, environment []string, signals <-chan os.Signal) error {
	if err := asked(signals); err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = environment
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			// A Ctrl-C has reached the command directly, in this process group.
			if s != syscall.SIGINT {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				return err
			}
			if by := exit.Sys().(syscall.WaitStatus); by.Signaled() {
				return exitStatus(128 + int(by.Signal()))
			}
			return exitStatus(exit.ExitCode())
		}
	}
}
