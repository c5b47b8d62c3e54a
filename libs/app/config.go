package app

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"
	_ "time/tzdata" // the image has no zone files

	"github.com/caarlos0/env/v11"
)

// Config is the knobs of a process, read from the environment.
type Config struct {
	Listen      string `env:"SVC_LISTEN" help:"host:port of the API; empty picks the service's own port"`
	AdminListen string `env:"SVC_ADMIN_LISTEN" help:"host:port of health, metrics and parked messages; empty picks one"`
	BaseURL     string `env:"SVC_BASE_URL" help:"how the gateway reaches the API; empty is http:// and the listen address"`
	PublicURL   string `env:"SVC_PUBLIC_URL" envDefault:"http://localhost:8080" help:"address of the gateway as people see it"`
	DatabaseURL string `env:"DATABASE_URL" secret:"true" help:"Postgres, as the service's own role; required"`
	Brokers     string `env:"KAFKA_BROKERS" envDefault:"127.0.0.1:9092" help:"Kafka brokers, separated by commas"`
	MasterKey   string `env:"SVC_MASTER_KEY" secret:"true" help:"at least 32 characters; encrypts secrets at rest and signs cursors and tokens; required, the same in all services"`
	Timezone    string `env:"SVC_TIMEZONE" envDefault:"Europe/Brussels" help:"IANA zone of the business"`

	RateFactor   float64 `env:"SVC_RATE_FACTOR" envDefault:"1" help:"multiplies every rate limit; 0 is none"`
	WebhookLocal bool    `env:"SVC_WEBHOOK_LOCAL" envDefault:"false" help:"allow webhook receivers on http and loopback"`

	AdminLogin    string `env:"SVC_ADMIN_LOGIN" envDefault:"admin" help:"login of the first administrator (settings)"`
	AdminPassword string `env:"SVC_ADMIN_PASSWORD" secret:"true" help:"password of the first administrator (settings); needed once, at the first start"`
	AdminEmail    string `env:"SVC_ADMIN_EMAIL" envDefault:"admin@example.com" help:"address of the first administrator (settings)"`
	SMTPURL       string `env:"SVC_SMTP_URL" secret:"true" help:"smtp[s]://[user:password@]host:port that mail is handed to (settings)"`
	MailFrom      string `env:"SVC_MAIL_FROM" envDefault:"frontdesk@localhost" help:"sender of mails (settings)"`

	OTLP string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"where traces are sent; empty is nowhere"`

	Zone *time.Location `env:"-"`
	// Now is the clock of the service; nil is the real one.
	Now func() time.Time `env:"-"`
}

// ReadConfig reads and checks the environment; its error is for a person, and one line per knob.
func ReadConfig() (Config, error) {
	var c Config
	if err := env.Parse(&c); err != nil {
		return c, err
	}
	var wrong []string
	bad := func(knob, why string) { wrong = append(wrong, knob+" "+why) }
	if c.DatabaseURL == "" {
		bad("DATABASE_URL", "is required")
	}
	if len(c.MasterKey) < 32 {
		bad("SVC_MASTER_KEY", "needs at least 32 characters")
	}
	if u, err := url.Parse(c.PublicURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		bad("SVC_PUBLIC_URL", "is not an http address")
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	if c.RateFactor < 0 {
		bad("SVC_RATE_FACTOR", "must not be negative")
	}
	var err error
	if c.Zone, err = time.LoadLocation(c.Timezone); err != nil || c.Timezone == "Local" {
		bad("SVC_TIMEZONE", "is not a zone of the IANA database")
	}
	if len(wrong) > 0 {
		return c, errors.New(strings.Join(wrong, "\n"))
	}
	return c, nil
}

// Help lists the knobs.
func Help(w io.Writer, name string) {
	fmt.Fprintf(w, "%s is a service of Frontdesk. It takes these from the environment:\n\n", name)
	for f := range reflect.TypeFor[Config]().Fields() {
		knob := f.Tag.Get("env")
		if knob == "-" {
			continue
		}
		fmt.Fprintf(w, "  %-28s %s", knob, f.Tag.Get("help"))
		if d := f.Tag.Get("envDefault"); d != "" {
			fmt.Fprintf(w, " (default %s)", d)
		}
		fmt.Fprintln(w)
	}
}

func wantsHelp() bool {
	for _, a := range os.Args[1:] {
		if a == "-h" || a == "-help" || a == "--help" {
			return true
		}
	}
	return false
}
