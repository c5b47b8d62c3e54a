// Package app runs a service: configuration, telemetry, HTTP, relay, consumers, jobs, and a stop that
// loses nothing.
package app

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"frontdesk/libs/memory"
	"frontdesk/libs/op"
	"frontdesk/libs/version"
	"frontdesk/proto"
)

// Service is one of the five services: its name, schema and parts.
type Service struct {
	Name string
	// Port is where it listens when SVC_LISTEN is empty; the admin port is ten higher.
	Port int
	// Migrations holds migrations/*.sql.
	Migrations fs.FS
	// Build makes the parts. The schema is up to date by then; nothing runs yet.
	Build func(ctx context.Context, k *Kit) (*Parts, error)
	// Describe makes the manifest of the operations: openapi.Manifest if it is nil. A test that starts many keeps the one it has made.
	Describe func(*op.Set) (*proto.Manifest, error)
	// Commands are what its program does besides, by name. It ends after one of them.
	Commands map[string]Command
}

// Main runs s until a signal, and is all of a service's main function.
func Main(s Service) {
	if version.Printed(s.Name) {
		return
	}
	if wantsHelp() {
		printHelp(os.Stdout, s)
		return
	}
	command, known := commandOf(s, os.Args[1:])
	if !known {
		fmt.Fprintf(os.Stderr, "%s takes no such arguments; -help lists what it takes\n", s.Name)
		os.Exit(2)
	}
	cfg, err := readConfig(os.Environ())
	if err == nil {
		_, err = cfg.trust(s.Name)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s cannot start:\n%v\n", s.Name, err)
		os.Exit(2)
	}
	slog.SetDefault(newLogger(os.Stderr, s.Name))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if command != nil {
		if err := command(ctx, cfg, s, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", s.Name, os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	slog.InfoContext(ctx, "starts", "version", version.String())
	go memory.Keep(ctx, garbage)
	if err := Run(ctx, cfg, s); err != nil {
		slog.ErrorContext(ctx, "stopped", "error", err)
		os.Exit(1)
	}
}

// garbage is how much a service lets pile up, in bytes.
const garbage = 24 << 20
