package app

import (
	"context"
	"fmt"
	"io"

	"frontdesk/libs/version"
)

// migrateSchema brings the schema of s to this version, as a start does, and ends. Replicas of the version before it may run meanwhile and
// go on. It waits until the database is there, and asks no broker: new topics, and the rights to make them, may come after it. The
// first replica that starts makes the topics. A second run changes nothing.
func migrateSchema(ctx context.Context, cfg Config, s Service, out io.Writer) error {
	r := &runner{Service: s, instance: s.Name + "-migrate"}
	disconnect, err := r.migrate(ctx, cfg)
	defer disconnect()
	if err == nil {
		err = r.assemble(ctx)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s is at version %s\n", s.Name, version.String())
	return err
}
