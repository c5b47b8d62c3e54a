package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"

	"frontdesk/libs/authority"
)

// issueKafka makes the certificates of a node of Kafka: in secrets the authority's key and the administrator's certificate, in broker
// that of the node at the hosts, and in both and in public the authority's certificate, ca.pem. What is there already stays.
func issueKafka(secrets, broker, public string, hosts ...string) error {
	a, err := authority.Open(secrets)
	if err != nil {
		return err
	}
	for _, dir := range []string{secrets, broker, public} {
		if err := os.WriteFile(filepath.Join(dir, "ca.pem"), a.PEM, 0o644); err != nil {
			return err
		}
	}
	if err := a.Issue(filepath.Join(broker, "broker.pem"), "broker", hosts...); err != nil {
		return err
	}
	return a.Issue(filepath.Join(secrets, "administrator.pem"), administrator)
}

// kafkaCertificates is the command that makes them for a node in a container.
func kafkaCertificates(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("kafka-certificates", flag.ExitOnError)
	secrets := flags.String("secrets", "", "folder of the authority's key and the administrator's certificate")
	broker := flags.String("broker", "", "folder of the node's certificate, which every user of that folder's file system may read")
	public := flags.String("public", "", "folder of the authority's certificate, for all processes")
	hosts := flags.String("hosts", "localhost", "names and addresses of the node, separated by commas")
	_ = flags.Parse(args)
	if *secrets == "" || *broker == "" || *public == "" {
		return errors.New("kafka-certificates: -secrets, -broker and -public name a folder each")
	}
	if err := issueKafka(*secrets, *broker, *public, strings.Split(*hosts, ",")...); err != nil {
		return err
	}
	// The node runs as another user than this command.
	return os.Chmod(filepath.Join(*broker, "broker.pem"), 0o644)
}
