package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"frontdesk/deploy/system/launcher"
)

// withSystem runs a command beside a whole system of its own, which ends with the command. The command learns the system's data folder from
// E2E_DATA_DIR and the administrator's password from SVC_ADMIN_PASSWORD. If E2E_DATA_DIR is set already, that system is used and lives on. The
// error is the command's exitStatus.
func withSystem(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("with", flag.ExitOnError)
	_ = flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("with: which command? local with -- node story.mjs")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings...)
	environment := os.Environ()
	if dir := os.Getenv("E2E_DATA_DIR"); dir != "" {
		password, err := passwordOf(dir)
		if err != nil {
			return fmt.Errorf("with: %w", err)
		}
		environment = append(environment, "SVC_ADMIN_PASSWORD="+password)
	} else {
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

// passwordOf returns the administrator's password of the system with a data folder: run.json has it unless the environment gave it.
func passwordOf(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return "", fmt.Errorf("nothing runs in E2E_DATA_DIR: %w", err)
	}
	var now state
	if err := json.Unmarshal(raw, &now); err != nil {
		return "", fmt.Errorf("%s/run.json: %w", dir, err)
	}
	if now.Admin.Password != "" {
		return now.Admin.Password, nil
	}
	if given := os.Getenv("SVC_ADMIN_PASSWORD"); given != "" {
		return given, nil
	}
	return "", fmt.Errorf("SVC_ADMIN_PASSWORD is missing: the system in %s was started with one", dir)
}
