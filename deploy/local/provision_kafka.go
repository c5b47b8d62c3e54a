package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"frontdesk/libs/bus"
	"frontdesk/libs/knob"
	"frontdesk/proto"
)

// kafkaKnobs are the environment of provision-kafka: an administrator's login.
type kafkaKnobs struct {
	Brokers    string `env:"KAFKA_BROKERS" takes:"brokers" required:"true" help:"Kafka brokers, separated by commas"`
	TLS        bool   `env:"SVC_KAFKA_TLS" envDefault:"false" takes:"bool" help:"encrypt connections"`
	CA         string `env:"SVC_KAFKA_CA" takes:"text" help:"PEM file of the authority that signs the brokers' certificates"`
	Cert       string `env:"SVC_KAFKA_CERT" takes:"text" help:"PEM file of the administrator's certificate, where the brokers ask for one"`
	CertKey    string `env:"SVC_KAFKA_CERT_KEY" takes:"text" help:"PEM file of its key, SVC_KAFKA_CERT when empty"`
	User       string `env:"SVC_KAFKA_USER" takes:"text" help:"the administrator, by SCRAM-SHA-512"`
	Password   string `env:"SVC_KAFKA_PASSWORD" secret:"true" takes:"text" help:"the administrator's password"`
	Partitions int    `env:"SVC_KAFKA_PARTITIONS" takes:"number 0 1000" help:"partitions of each topic that has more than one; empty for those of a cluster"`
}

// provisionKafka makes the topics, and the users of the processes with their rights, in an existing Kafka. A second run sets the
// passwords to those of the environment and the rights to those of this version.
func provisionKafka(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("provision-kafka", flag.ExitOnError)
	printed := flags.Bool("print", false, "only print the rights, as commands of Kafka's own tools")
	flags.Usage = func() {
		fmt.Println("Usage: local provision-kafka [-print]\nEnvironment:")
		knob.Print[kafkaKnobs](os.Stdout)
		fmt.Printf("  %-28s passwords of the users, each in a variable of its own (or with _FILE)\n", kafkaPassword("<process>"))
	}
	_ = flags.Parse(args)
	if *printed {
		printRights(os.Stdout)
		return nil
	}
	environ, err := knob.WithSecrets(env.ToMap(os.Environ()), named(kafkaPassword, proto.Users())...)
	k, wrong := knob.Read[kafkaKnobs](environ, nil)
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	passwords := map[string]string{}
	var missing []string
	for _, user := range proto.Users() {
		if passwords[user] = environ[kafkaPassword(user)]; passwords[user] == "" {
			missing = append(missing, kafkaPassword(user))
		}
	}
	if len(missing) > 0 {
		return errors.New(strings.Join(missing, ", ") + ": set a password for each user")
	}
	login, err := bus.NewLogin(bus.LoginOptions{TLS: k.TLS, CA: k.CA, Cert: k.Cert, Key: cmp.Or(k.CertKey, k.Cert), User: k.User, Password: k.Password})
	if err != nil {
		return err
	}
	b := bus.New(k.Brokers, login)
	defer func() { _ = b.Close() }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := b.Grant(ctx, passwords)
		if err == nil {
			err = b.Ensure(ctx, proto.TopicsOf(k.Partitions))
		}
		if _, refused := errors.AsType[bus.Refused](err); err == nil || refused || ctx.Err() != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "waiting for Kafka: "+err.Error())
		time.Sleep(time.Second)
	}
}

func kafkaPassword(user string) string { return strings.ToUpper(user) + "_KAFKA_PASSWORD" }

// named are the variables of several processes.
func named(variable func(string) string, processes []string) (all []string) {
	for _, p := range processes {
		all = append(all, variable(p))
	}
	return all
}

// printRights writes a command for each resource of each user, for people who keep the rights of their Kafka themselves.
func printRights(w io.Writer) {
	fmt.Fprintln(w, "# Users sign in by SCRAM-SHA-512. K is for instance: K='--bootstrap-server kafka:9093 --command-config administrator.properties'")
	for _, user := range proto.Users() {
		fmt.Fprintf(w, "kafka-configs.sh $K --alter --entity-type users --entity-name %s --add-config \"SCRAM-SHA-512=[password=$%s]\"\n", user, kafkaPassword(user))
		rights := proto.Rights(user)
		for len(rights) > 0 {
			r := rights[0]
			fmt.Fprintf(w, "kafka-acls.sh $K --add --allow-principal User:%s --%s %s", user, strings.ToLower(string(r.Resource)), r.Name)
			for _, same := range rights {
				if same.Resource == r.Resource && same.Name == r.Name {
					fmt.Fprintf(w, " --operation %s", same.Operation)
				}
			}
			fmt.Fprintln(w)
			rights = slices.DeleteFunc(rights, func(x proto.Right) bool { return x.Resource == r.Resource && x.Name == r.Name })
		}
	}
}
