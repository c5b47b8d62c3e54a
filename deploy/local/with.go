package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"frontdesk/deploy/system/launcher"
)

// withSystem runs a command beside a whole system of its own, which ends with the command. The command learns the system's data folder from
// E2E_DATA_DIR and the administrator's password from SVC_ADMIN_PASSWORD. It starts no system if E2E_DATA_DIR is set already. The error is
// the command's exitStatus.
func withSystem(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("with", flag.ExitOnError)
	_ = flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("with: which command? local with -- node story.mjs")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings...)
	environment := os.Environ()
	if os.Getenv("E2E_DATA_DIR") == "" {
		root, err := projectRoot()
		if err != nil {
			return err
		}
		starting, stop := signal.NotifyContext(ctx, endings...)
		s, err := launcher.Start(starting, launcher.Options{Checkout: root, Program: "/proc/self/exe", Progress: os.Stderr})
		stop()
		if err != nil {
			return errors.Join(asked(signals), fmt.Errorf("with: %w", err))
		}
		defer s.Stop()
		environment = append(environment, "E2E_DATA_DIR="+s.Data, "SVC_ADMIN_PASSWORD="+launcher.Password)
	}
	return toItsEnd(flags.Args(), environment, signals)
}
