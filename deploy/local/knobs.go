package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/caarlos0/env/v11"

	"frontdesk/libs/knob"
)

// knobs are the settings of the local run. Every other setting of the processes follows from them.
type knobs struct {
	HTTPPort      int     `env:"SVC_HTTP_PORT" envDefault:"8080" help:"the gateway's port; the others follow it (README.md); 0 takes free ones"`
	DataDir       string  `env:"SVC_DATA_DIR" envDefault:".run" help:"folder of all data, logs and secrets"`
	AdminLogin    string  `env:"SVC_ADMIN_LOGIN" envDefault:"admin" help:"login of the first administrator"`
	AdminPassword string  `env:"SVC_ADMIN_PASSWORD" secret:"true" help:"password of the first administrator; made and printed when empty"`
	AdminEmail    string  `env:"SVC_ADMIN_EMAIL" envDefault:"admin@example.com" help:"address of the first administrator"`
	SMTPURL       string  `env:"SVC_SMTP_URL" secret:"true" help:"smtp://host:port that sends real mail, instead of the mail page"`
	MailFrom      string  `env:"SVC_MAIL_FROM" envDefault:"frontdesk@localhost" help:"sender of mails"`
	WebhookLocal  string  `env:"SVC_WEBHOOK_LOCAL" envDefault:"1" help:"1 allows webhook receivers on http and on this machine"`
	RateFactor    float64 `env:"SVC_RATE_FACTOR" envDefault:"1" help:"multiplies every rate limit; 0 switches them off"`
	MasterKey     string  `env:"SVC_MASTER_KEY" secret:"true" help:"at least 32 characters that encrypt secrets at rest; made and kept when empty"`
	Timezone      string  `env:"SVC_TIMEZONE" envDefault:"Europe/Brussels" help:"time zone of the business"`
	PublicURL     string  `env:"SVC_PUBLIC_URL" help:"address in links and mails; http://localhost:$SVC_HTTP_PORT when empty"`
	Proxies       string  `env:"SVC_TRUSTED_PROXIES" help:"addresses and networks of the proxies before the gateway, separated by commas"`
	DatabaseURL   string  `env:"DATABASE_URL" secret:"true" help:"an administrator of an existing PostgreSQL, instead of one of our own"`
	KafkaBrokers  string  `env:"KAFKA_BROKERS" help:"host:port,… of an existing Kafka, instead of one of our own"`
	KafkaTLS      bool    `env:"SVC_KAFKA_TLS" envDefault:"false" help:"encrypt connections to an existing Kafka"`
	KafkaCA       string  `env:"SVC_KAFKA_CA" help:"PEM file of the authority that signs the certificates of an existing Kafka"`
	KafkaUser     string  `env:"SVC_KAFKA_USER" help:"user of all processes at an existing Kafka, by SCRAM-SHA-512"`
	KafkaPassword string  `env:"SVC_KAFKA_PASSWORD" secret:"true" help:"password of SVC_KAFKA_USER"`
	Kafka         string  `env:"SVC_KAFKA" envDefault:"embedded" help:"our own broker: embedded, or apache (needs Java and Maven)"`
	Partitions    int     `env:"SVC_KAFKA_PARTITIONS" help:"of a busy topic at our own broker, made at the first start; as many as this machine can work on at once when empty"`
	LogDays       int     `env:"SVC_LOG_DAYS" envDefault:"30" help:"days for which logs are kept, with the addresses of visitors in the gateway's"`
	OTLPEndpoint  string  `env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"where traces go; nowhere when empty"`
	MeasureEvery  string  `env:"SVC_MEASURE_EVERY" envDefault:"10s" help:"time between two measurements of the page for operators, from 1s to 10s"`
	Pprof         bool    `env:"SVC_PPROF" envDefault:"false" help:"serve Go profiles of the services on their admin ports"`
	Replicas      string  `env:"SVC_REPLICAS" help:"services that run more than once, as booking=3,contacts=2"`
	TraefikBin    string  `env:"SVC_TRAEFIK_BIN" help:"the Traefik to use; one of the right version on the PATH, or our own build, when empty"`
	PGBin         string  `env:"PG_BIN" help:"bin folder of the PostgreSQL to use"`

	// replicas is made of Replicas: how many a service has beyond one.
	replicas map[string]int
}

// readKnobs reads the environment. Its errors name the variable and the values that it takes.
func readKnobs() (knobs, error) {
	var k knobs
	environ, err := knob.WithSecrets(env.ToMap(os.Environ()), knob.Secrets[knobs]()...)
	if err != nil {
		return k, err
	}
	err = env.ParseWithOptions(&k, env.Options{Environment: environ})
	if wrong := (env.ParseError{}); errors.As(err, &wrong) {
		field, _ := reflect.TypeFor[knobs]().FieldByName(wrong.Name)
		return k, fmt.Errorf("%s takes a number", field.Tag.Get("env")) // all others are texts
	}
	if err != nil {
		return k, err
	}
	if k.DataDir, err = filepath.Abs(k.DataDir); err != nil {
		return k, err
	}
	if k.replicas, err = parseReplicas(k.Replicas); err != nil {
		return k, err
	}
	if last := k.lastOffset(); k.HTTPPort != 0 && (k.HTTPPort < 1 || k.HTTPPort+last > 65535) {
		return k, fmt.Errorf("SVC_HTTP_PORT is %d and takes 1 to %d, or 0 for free ports", k.HTTPPort, 65535-last)
	}
	if k.RateFactor < 0 {
		return k, fmt.Errorf("SVC_RATE_FACTOR is %v and takes 0 or more", k.RateFactor)
	}
	if every, err := time.ParseDuration(k.MeasureEvery); err != nil || every < time.Second || every > 10*time.Second {
		return k, fmt.Errorf("SVC_MEASURE_EVERY is %q and takes a time from 1s to 10s", k.MeasureEvery)
	}
	if k.LogDays < 1 {
		return k, fmt.Errorf("SVC_LOG_DAYS is %d and takes 1 or more", k.LogDays)
	}
	if k.WebhookLocal != "0" && k.WebhookLocal != "1" {
		return k, fmt.Errorf("SVC_WEBHOOK_LOCAL is %q and takes 0 or 1", k.WebhookLocal)
	}
	if k.MasterKey != "" && len(k.MasterKey) < 32 {
		return k, errors.New("SVC_MASTER_KEY takes at least 32 characters")
	}
	if _, err := time.LoadLocation(k.Timezone); err != nil || k.Timezone == "" || k.Timezone == "Local" {
		return k, fmt.Errorf("SVC_TIMEZONE is %q, which is no time zone; Europe/Brussels is one", k.Timezone)
	}
	if err := address("SVC_PUBLIC_URL", k.PublicURL, "http", "https"); err != nil {
		return k, err
	}
	if err := address("SVC_SMTP_URL", k.SMTPURL, "smtp", "smtps"); err != nil {
		return k, err
	}
	if err := address("DATABASE_URL", k.DatabaseURL, "postgres", "postgresql"); err != nil {
		return k, err
	}
	for _, b := range strings.Split(k.KafkaBrokers, ",") {
		if _, _, err := net.SplitHostPort(strings.TrimSpace(b)); err != nil && k.KafkaBrokers != "" {
			return k, fmt.Errorf("KAFKA_BROKERS: %q is no host:port", b)
		}
	}
	if k.Partitions < 0 || k.Partitions > 100 {
		return k, fmt.Errorf("SVC_KAFKA_PARTITIONS is %d and takes 1 to 100", k.Partitions)
	}
	if k.Kafka != "embedded" && k.Kafka != "apache" {
		return k, fmt.Errorf("SVC_KAFKA is %q and takes embedded or apache", k.Kafka)
	}
	return k, nil
}

// mostReplicas of a service have ports of their own.
const mostReplicas = 9

// parseReplicas reads booking=3,contacts=2.
func parseReplicas(text string) (map[string]int, error) {
	replicas := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, count, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > mostReplicas || !slices.Contains(services, name) {
			return nil, fmt.Errorf("SVC_REPLICAS: %q has to be service=1 to %d, of %s", pair, mostReplicas, strings.Join(services, ", "))
		}
		replicas[name] = n - 1
	}
	return replicas, nil
}

// address checks that a variable is empty or an address with one of the schemes. Its error leaves the value out, which may
// hold a password.
func address(name, value string, schemes ...string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err == nil && u.Host != "" {
		for _, s := range schemes {
			if u.Scheme == s {
				return nil
			}
		}
	}
	return fmt.Errorf("%s takes %s://host:port", name, schemes[0])
}

func printKnobs() {
	fmt.Println("Usage: local run [-with-input]\n\n-with-input: stop when standard input ends\n\nEnvironment:")
	knob.Print[knobs](os.Stdout)
}

// projectRoot is the nearest folder with a go.work, from the working directory upward.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.work")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("start this inside the project's folder: there is no go.work here or above")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

func formatFactor(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
