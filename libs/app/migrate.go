package app

import (
	"context"
	"fmt"
	"io"

	"frontdesk/libs/version"
)

// Migrate brings the topics and the schema of s to this version, as a start does, and ends. Replicas of the version before it may
// run meanwhile and go on. It waits until database and brokers are there. A second run changes nothing.
func Migrate(ctx context.Context, cfg Config, s Service, out io.Writer) error {
	r := &runner{Service: s, instance: s.Name + "-migrate"}
	disconnect, err := r.build(ctx, cfg)
	defer disconnect()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s is at version %s\n", s.Name, version.String())
	return err
}
