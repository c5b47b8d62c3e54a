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
var migrateSchema = beside("migrate", (*runner).migrate, func(ctx context.Context, r *runner, out io.Writer) error {
	if err := r.assemble(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s is at version %s\n", r.Name, version.String())
	return err
})
