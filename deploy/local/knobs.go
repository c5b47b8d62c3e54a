package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	_ "time/tzdata"

	"github.com/caarlos0/env/v11"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/fetch"
	"frontdesk/libs/knob"
	"frontdesk/libs/lines"
	"frontdesk/libs/mail"
)

// knobs are the settings of the local run. Every other setting of the processes follows from them.
type knobs struct {
	HTTPPort      int     `env:"SVC_HTTP_PORT" envDefault:"8080" takes:"number 0 65535" help:"the gateway's port; the others follow it (README.md); 0 takes free ones"`
	DataDir       string  `env:"SVC_DATA_DIR" envDefault:".run" takes:"text" help:"folder of all data, logs and secrets"`
	AdminLogin    string  `env:"SVC_ADMIN_LOGIN" envDefault:"admin" takes:"text" help:"login of the first administrator"`
	AdminPassword string  `env:"SVC_ADMIN_PASSWORD" secret:"true" takes:"text" help:"password of the first administrator; made and printed when empty"`
	AdminEmail    string  `env:"SVC_ADMIN_EMAIL" envDefault:"admin@example.com" takes:"email" help:"address of the first administrator"`
	SMTPURL       string  `env:"SVC_SMTP_URL" secret:"true" takes:"mail server" help:"smtp://host:port that sends real mail, instead of the mail page"`
	MailFrom      string  `env:"SVC_MAIL_FROM" envDefault:"frontdesk@localhost" takes:"sender" help:"sender of mails, as salon@example.com or Salon <salon@example.com>; the name of the business stands before one without a name"`
	WebhookLocal  string  `env:"SVC_WEBHOOK_LOCAL" envDefault:"1" takes:"one of 0 1" help:"1 allows webhook receivers on http and on this machine"`
	FetchAllow    string  `env:"SVC_FETCH_ALLOW" takes:"receivers" help:"hosts and networks that may be called though they are not on the public internet, as crm.example.com, 10.0.0.0/8 or 10.1.2.3:8080, separated by commas"`
	AuditStream   string  `env:"SVC_AUDIT_STREAM" takes:"stream" help:"where each audit entry goes as a line of OCSF: stdout (the log of settings), file:/path, syslog://host:port, syslog+tls://host:port?ca=/file or syslog+udp://host:port"`
	Security      string  `env:"SVC_SECURITY_CONTACT" takes:"urls mailto https" help:"where a weakness is reported, as mailto:security@example.com; /.well-known/security.txt says it"`
	Robots        string  `env:"SVC_ROBOTS" takes:"text" help:"what /robots.txt says, instead of the text that names the public pages"`
	OIDCIssuer    string  `env:"SVC_OIDC_ISSUER" takes:"url http https" help:"the organization's OpenID Connect provider, where the team signs in; deploy/README.md has the steps"`
	OIDCClient    string  `env:"SVC_OIDC_CLIENT_ID" takes:"text" help:"our client_id there"`
	OIDCSecret    string  `env:"SVC_OIDC_CLIENT_SECRET" secret:"true" takes:"text" help:"the secret of that client"`
	OIDCName      string  `env:"SVC_OIDC_NAME" takes:"text" help:"what the button to sign in calls the provider; its host when empty"`
	OIDCClaim     string  `env:"SVC_OIDC_CLAIM" envDefault:"groups" takes:"text" help:"the claim that SVC_OIDC_ROLES looks at, with dots into an object"`
	OIDCRoles     string  `env:"SVC_OIDC_ROLES" takes:"roles of a claim" help:"which role a value of the claim gives, as desk-admins=site_admin,reception=staff; empty creates nobody"`
	OIDCMFA       string  `env:"SVC_OIDC_MFA" envDefault:"mfa" takes:"text" help:"values of amr or acr that count as a second factor, separated by commas"`
	OIDCOnly      string  `env:"SVC_OIDC_ONLY" envDefault:"0" takes:"one of 0 1" help:"1 signs people in by the provider only, and SVC_ADMIN_LOGIN also by password"`
	RateFactor    float64 `env:"SVC_RATE_FACTOR" envDefault:"1" takes:"factor" help:"multiplies every rate limit; 0 switches them off"`
	MasterKey     string  `env:"SVC_MASTER_KEY" secret:"true" takes:"key" help:"at least 32 characters that encrypt secrets at rest; made and kept when empty"`
	Timezone      string  `env:"SVC_TIMEZONE" envDefault:"Europe/Brussels" takes:"zone" help:"time zone of the business"`
	PublicURL     string  `env:"SVC_PUBLIC_URL" takes:"url http https" help:"address in links and mails; http://localhost:$SVC_HTTP_PORT when empty"`
	Proxies       string  `env:"SVC_TRUSTED_PROXIES" takes:"networks" help:"addresses and networks of the proxies before the gateway, separated by commas"`
	DatabaseURL   string  `env:"DATABASE_URL" secret:"true" takes:"url postgres postgresql" help:"an administrator of an existing PostgreSQL, instead of one of our own"`
	KafkaBrokers  string  `env:"KAFKA_BROKERS" takes:"brokers" help:"host:port,… of an existing Kafka, instead of one of our own"`
	KafkaTLS      bool    `env:"SVC_KAFKA_TLS" envDefault:"false" takes:"bool" help:"encrypt connections to an existing Kafka"`
	KafkaCA       string  `env:"SVC_KAFKA_CA" takes:"text" help:"PEM file of the authority that signs the certificates of an existing Kafka"`
	KafkaUser     string  `env:"SVC_KAFKA_USER" takes:"text" help:"user of all processes at an existing Kafka, by SCRAM-SHA-512"`
	KafkaPassword string  `env:"SVC_KAFKA_PASSWORD" secret:"true" takes:"text" help:"password of SVC_KAFKA_USER"`
	Kafka         string  `env:"SVC_KAFKA" envDefault:"embedded" takes:"one of embedded apache" help:"our own broker: embedded, or apache (needs Java and Maven)"`
	Partitions    int     `env:"SVC_KAFKA_PARTITIONS" takes:"number 0 100" help:"of a busy topic at our own broker, made at the first start; as many as this machine can work on at once when empty"`
	LogDays       int     `env:"SVC_LOG_DAYS" envDefault:"30" takes:"number 1 36500" help:"days for which logs are kept, with the addresses of visitors in the gateway's"`
	OTLPEndpoint  string  `env:"OTEL_EXPORTER_OTLP_ENDPOINT" takes:"url http https" help:"where traces go; nowhere when empty"`
	MeasureEvery  string  `env:"SVC_MEASURE_EVERY" envDefault:"10s" takes:"duration 1s 10s" help:"time between two measurements of the page for operators, from 1s to 10s"`
	Pprof         bool    `env:"SVC_PPROF" envDefault:"false" takes:"bool" help:"serve Go profiles of the services on their admin ports"`
	Replicas      string  `env:"SVC_REPLICAS" takes:"replicas" help:"services that run more than once, as booking=3,contacts=2"`
	TraefikBin    string  `env:"SVC_TRAEFIK_BIN" takes:"text" help:"the Traefik to use; one of the right version on the PATH, or our own build, when empty"`
	PGBin         string  `env:"PG_BIN" takes:"text" help:"bin folder of the PostgreSQL to use"`

	// replicas is made of Replicas: how many a service has beyond one.
	replicas map[string]int
}

// readKnobs reads the environment. Its error has a line for each variable that is wrong.
func readKnobs() (knobs, error) {
	k, err := knob.Read[knobs](env.ToMap(os.Environ()), knob.Kinds{
		"mail server":      knob.KindOf(func(url string) (any, error) { return nil, mail.CheckURL(url) }),
		"sender":           mail.CheckSender,
		"receivers":        knob.KindOf(fetch.ParseAllowed),
		"stream":           knob.KindOf(func(text string) (lines.Stream, error) { return lines.Parse(text, "") }),
		"roles of a claim": knob.KindOf(auth.ParseClaimRoles),
		"replicas": func(list string) error {
			_, err := parseReplicas(list)
			return err
		},
	})
	k.replicas, _ = parseReplicas(k.Replicas)
	if last := k.lastOffset(); k.HTTPPort != 0 && k.HTTPPort+last > 65535 {
		err = errors.Join(err, fmt.Errorf("SVC_HTTP_PORT is %d and takes 1 to %d, or 0 for free ports", k.HTTPPort, 65535-last))
	}
	_, login := bus.NewLogin(bus.LoginOptions{TLS: k.KafkaTLS, CA: k.KafkaCA, User: k.KafkaUser, Password: k.KafkaPassword})
	if err = errors.Join(err, login); err != nil {
		return k, err
	}
	k.DataDir, err = filepath.Abs(k.DataDir)
	return k, err
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
			return nil, fmt.Errorf("has to name services as booking=3,contacts=2: %q has to be service=1 to %d, of %s", pair, mostReplicas, strings.Join(services, ", "))
		}
		replicas[name] = n - 1
	}
	return replicas, nil
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
