// Command local runs the whole system on one machine, and what its tests need. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"frontdesk/libs/version"
)

var commands = []struct {
	name, help string
	run        func(ctx context.Context, args []string) error
}{
	{"run", "build and start everything, until Ctrl-C", run},
	{"build", "build the services, the controller and Traefik", build},
	{"env", "-- command: run a command with a PostgreSQL and a Kafka of its own", withServers},
	{"with", "-- command: run a command beside a whole system of its own", withSystem},
	{"backup", "dump the schemas of the running system into a folder", backup},
	{"reset-password", "LOGIN: print a link by which somebody of the running system chooses a new password", resetPassword},
	{"restore", "bring services back to a backup", restore},
	{"kafka", "the embedded broker", embeddedKafka},
	{"mailsink", "the SMTP sink with its page", mailSink},
	{"provision", "make the roles and schemas of the services in an existing PostgreSQL", provision},
	{"provision-kafka", "make the topics, users and rights of the processes in an existing Kafka", provisionKafka},
	{"keys", "print new keys for all services, for an environment file", printKeys},
	{"kafka-certificates", "make an authority and the certificates of one node of Apache Kafka", kafkaCertificates},
	{"get", "print what an address answers, for health checks", get},
	{"apache-kafka", "one node of Apache Kafka, fetched with Maven", apacheKafka},
}

func main() {
	if version.Printed("local") {
		return
	}
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	for _, c := range commands {
		if c.name != name {
			continue
		}
		err := c.run(context.Background(), os.Args[2:])
		var status exitStatus
		switch {
		case err == nil:
			return
		case errors.As(err, &status):
			os.Exit(int(status))
		case errors.Is(err, syscall.ENOSPC):
			err = fmt.Errorf("the disk is full: free some space and start again (%w)", err)
		}
		fmt.Fprintln(os.Stderr, "frontdesk: "+err.Error())
		os.Exit(1)
	}
	fmt.Println("Usage: local <command> [-help]")
	for _, c := range commands {
		fmt.Printf("  %-18s %s\n", c.name, c.help)
	}
	fmt.Printf("  %-18s %s\n", "-version", "print number and commit")
	if name != "" && name != "help" && name != "-help" && name != "--help" {
		os.Exit(2)
	}
}

// exitStatus is the error of a command that ended by itself and has said why.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
