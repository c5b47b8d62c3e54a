package app

import (
	"context"
	"fmt"
	"io"

	"frontdesk/libs/version"
)

// Command does one thing for an operator with the database of a service, beside its replicas or without them, and writes what came of it
// to out. What it publishes waits in the outbox for a replica.
type Command struct {
	// Takes names its one argument, Does says what it does: for -help.
	Takes, Does string
	Run         func(ctx context.Context, k *Kit, argument string, out io.Writer) error
}

// command is what a program does instead of running its service.
type command func(ctx context.Context, cfg Config, s Service, out io.Writer) error

// commandOf is the command that arguments ask for: nil without arguments, and not ok for those that no command takes.
func commandOf(s Service, args []string) (c command, ok bool) {
	switch len(args) {
	case 0:
		return nil, true
	case 1:
		c, ok = map[string]command{"migrate": migrateSchema, "resync": resyncTopics, "rotate-key": rotateKey}[args[0]]
		return c, ok
	case 2:
		own, ok := s.Commands[args[0]]
		return own.with(args[1]), ok
	}
	return nil, false
}

func (c Command) with(argument string) command {
	return beside("command", (*runner).migrate, func(ctx context.Context, r *runner, out io.Writer) error { return c.Run(ctx, r.kit, argument, out) })
}

// beside is a command of a name that runs what start has built or migrated.
func beside(name string, start func(r *runner, ctx context.Context, cfg Config) (disconnect func(), err error), run func(ctx context.Context, r *runner, out io.Writer) error) command {
	return func(ctx context.Context, cfg Config, s Service, out io.Writer) error {
		r := &runner{Service: s, instance: s.Name + "-" + name}
		disconnect, err := start(r, ctx, cfg)
		defer disconnect()
		if err != nil {
			return err
		}
		return run(ctx, r, out)
	}
}

// migrateSchema brings the schema of s to this version, as a start does, and ends. Replicas of the version before it may run meanwhile and
// go on. It waits until the database is there, and asks no broker: new topics, and the rights to make them, may come after it. The
// first replica that starts makes the topics. A second run changes nothing.
var migrateSchema = beside("migrate", (*runner).migrate, func(ctx context.Context, r *runner, out io.Writer) error {
	if err := r.assemble(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s is at version %s\n", r.Name, version.String())
	return err
})
