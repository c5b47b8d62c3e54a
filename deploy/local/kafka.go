package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"frontdesk/libs/bus"
	"frontdesk/proto"
)

// administrator is the name of the user at our own broker who may do everything.
const administrator = "administrator"

// kafkaAccess is how the processes get to Kafka. Our own broker has a user for each of them, and an administrator. At one that is
// there already, all processes have the login of the environment.
type kafkaAccess struct {
	own bool
	// users is host:port,… for the processes, and admin for login.
	users, admin string
	login        bus.LoginOptions
	passwords    map[string]string // by user
}

// accessKafka is what follows from knobs, ports and secrets.
func (l *launch) accessKafka() kafkaAccess {
	switch {
	case l.KafkaBrokers != "":
		return kafkaAccess{users: l.KafkaBrokers, admin: l.KafkaBrokers,
			login: bus.LoginOptions{TLS: l.KafkaTLS, CA: l.KafkaCA, User: l.KafkaUser, Password: l.KafkaPassword}}
	case l.Kafka == "apache":
		return kafkaAccess{own: true, users: l.at(kafkaOffset), admin: l.at(apacheAdminOffset), login: apacheLogin(l.apacheDir()), passwords: l.KafkaPasswords}
	}
	at := l.at(kafkaOffset)
	return kafkaAccess{own: true, users: at, admin: at, login: bus.LoginOptions{User: administrator, Password: l.KafkaPasswords[administrator]}, passwords: l.KafkaPasswords}
}

// variables are those by which a process signs in at the brokers.
func (k kafkaAccess) variables(process string) []string {
	o := k.login
	if k.own {
		o.User, o.Password = process, k.passwords[process]
	}
	return []string{"KAFKA_BROKERS=" + k.users, fmt.Sprint("SVC_KAFKA_TLS=", o.TLS), "SVC_KAFKA_CA=" + o.CA, "SVC_KAFKA_USER=" + o.User, "SVC_KAFKA_PASSWORD=" + o.Password}
}

// connect returns a bus with the administrator's login.
func (k kafkaAccess) connect() (*bus.Bus, error) {
	l, err := bus.NewLogin(k.login)
	return bus.New(k.admin, l), err
}

func (l *launch) apacheDir() string { return filepath.Join(l.DataDir, "apache-kafka") }

func (l *launch) upKafka(ctx context.Context) error {
	if !l.kafka.own {
		return l.dialKafka(ctx)
	}
	p := process{
		name: "kafka", ready: l.dialKafka, stop: syscall.SIGTERM, onDeath: syscall.SIGKILL, url: l.kafka.users,
		command: func() *exec.Cmd {
			cmd := exec.Command(l.self, "kafka", "-dir", filepath.Join(l.DataDir, "kafka"), "-listen", l.kafka.users)
			cmd.Env = append(inherited(), "SVC_KAFKA_PASSWORD="+l.kafka.login.Password)
			return cmd
		},
	}
	if l.Kafka == "apache" {
		ports := apachePorts{users: l.HTTPPort + kafkaOffset, admin: l.HTTPPort + apacheAdminOffset, control: l.HTTPPort + apacheControlOffset}
		var err error
		if l.apache, err = newApacheBroker(ctx, l.apacheDir(), ports, l.say); err != nil {
			return err
		}
		p.command = l.apache.command
	}
	if err := l.supervisor.start(p); err != nil {
		return err
	}
	if err := l.supervisor.waitReady(ctx, "kafka"); err != nil {
		return err
	}
	if err := l.supervisor.await(ctx, "kafka", l.grant); err != nil {
		return err
	}
	return l.supervisor.await(ctx, "kafka", l.topics)
}

// grant makes the users of the processes, each with its rights.
func (l *launch) grant(ctx context.Context) error {
	b, err := l.kafka.connect()
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	passwords := map[string]string{}
	for _, user := range proto.Users() {
		passwords[user] = l.kafka.passwords[user]
	}
	return b.Grant(ctx, passwords)
}

// topics makes the topics before the services do, which would give busy ones the partitions of a cluster. On one machine,
// partitions beyond those that it works on at once cost more and smaller writes, each with a sync of its own. Topics that exist
// keep their partitions, whatever the machine or the knob says today.
func (l *launch) topics(ctx context.Context) error {
	b, err := l.kafka.connect()
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	made, err := b.Partitions(ctx, proto.ContactTopic)
	if err != nil {
		return err
	}
	l.Partitions = cmp.Or(made, l.Partitions, bus.AtOnce())
	return b.Ensure(ctx, proto.TopicsOf(l.Partitions))
}

func (l *launch) dialKafka(ctx context.Context) error {
	var d net.Dialer
	for _, b := range strings.Split(l.kafka.users, ",") {
		c, err := d.DialContext(ctx, "tcp", strings.TrimSpace(b))
		if err == nil {
			return c.Close()
		}
		if l.kafka.own {
			return err
		}
	}
	return fmt.Errorf("KAFKA_BROKERS: nothing answers at %s: start it, or leave the variable empty to have a broker started", l.kafka.users)
}
