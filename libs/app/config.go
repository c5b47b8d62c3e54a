package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the image has no zone files

	"github.com/caarlos0/env/v11"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/libs/knob"
	"frontdesk/libs/lines"
	"frontdesk/libs/mail"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// Config is the knobs of a process, read from the environment.
type Config struct {
	Listen      string   `env:"SVC_LISTEN" takes:"address" help:"host:port of the API; empty picks the service's own port"`
	AdminListen string   `env:"SVC_ADMIN_LISTEN" takes:"address" help:"host:port of health, metrics and parked messages; empty picks one"`
	AdminHosts  []string `env:"SVC_ADMIN_HOSTS" takes:"hosts" help:"names of hosts by which the admin port is called, besides addresses, localhost and the host of SVC_BASE_URL; separated by commas"`
	AdminURL    string   `env:"SVC_ADMIN_URL" takes:"url http" help:"how the gateway's page for operators reaches the admin port; empty is http:// and its listen address, on all interfaces that of this host on the way to the brokers"`
	Pprof       bool     `env:"SVC_PPROF" envDefault:"false" takes:"bool" help:"serve Go profiles on the admin port"`
	ProxyList   string   `env:"SVC_TRUSTED_PROXIES" takes:"networks" help:"addresses and networks of the proxies and load balancers before the gateway, separated by commas: the header chosen in the general settings counts in requests through them"`
	BaseURL     string   `env:"SVC_BASE_URL" takes:"urls http https" help:"how the gateway reaches the API; empty is http:// and the listen address"`
	PublicURL   string   `env:"SVC_PUBLIC_URL" envDefault:"http://localhost:8080" takes:"url http https" help:"address of the gateway as people see it"`
	GatewayURL  string   `env:"SVC_GATEWAY_URL" takes:"url http https" help:"how the gateway is reached from here, for the calls of assistants; empty is SVC_PUBLIC_URL (settings)"`
	DatabaseURL string   `env:"DATABASE_URL" secret:"true" takes:"postgres" required:"true" help:"Postgres, as the service's own role; required"`
	Brokers     string   `env:"KAFKA_BROKERS" envDefault:"127.0.0.1:9092" takes:"brokers" help:"Kafka brokers, separated by commas"`
	KafkaTLS    bool     `env:"SVC_KAFKA_TLS" envDefault:"false" takes:"bool" help:"encrypt connections to the brokers and verify their certificates, by the authorities of the system unless SVC_KAFKA_CA is set"`
	KafkaCA     string   `env:"SVC_KAFKA_CA" takes:"text" help:"PEM file of the authority that signs the brokers' certificates; turns SVC_KAFKA_TLS on"`
	KafkaUser   string   `env:"SVC_KAFKA_USER" takes:"text" help:"user at the brokers, by SCRAM-SHA-512; empty does not sign in"`
	KafkaSecret string   `env:"SVC_KAFKA_PASSWORD" secret:"true" takes:"text" help:"password of SVC_KAFKA_USER"`
	Partitions  int      `env:"SVC_KAFKA_PARTITIONS" takes:"number 0 1000" help:"partitions of each topic that has more than one; empty for those of a cluster"`

	MasterKey  string   `env:"SVC_MASTER_KEY" secret:"true" takes:"key" required:"true" help:"at least 32 characters, the service's own: encrypts secrets at rest, signs cursors and tokens; required. 'local keys' makes one for each service; one for all works too"`
	SharedKey  string   `env:"SVC_SHARED_KEY" secret:"true" takes:"key" help:"at least 32 characters, the same in all services for good: hashes by which erased people are found; needed where each service has its own key"`
	OldKeys    []string `env:"SVC_OLD_KEYS" secret:"true" takes:"keys" help:"earlier values of SVC_MASTER_KEY, the newest first, separated by commas: what they sealed stays readable"`
	PublicKeys []string `env:"SVC_PUBLIC_KEYS" takes:"public keys" help:"public keys of all services, which 'local keys' prints: what they sign is taken, and commands are sealed to them; needed where each service has its own key"`
	Timezone   string   `env:"SVC_TIMEZONE" envDefault:"Europe/Brussels" takes:"zone" help:"IANA zone of the business"`

	RateFactor   float64 `env:"SVC_RATE_FACTOR" envDefault:"1" takes:"factor" help:"multiplies every rate limit; 0 switches them off"`
	WebhookLocal bool    `env:"SVC_WEBHOOK_LOCAL" envDefault:"false" takes:"bool" help:"allow webhook receivers on http and loopback"`
	FetchAllow   string  `env:"SVC_FETCH_ALLOW" takes:"receivers" help:"hosts and networks that are not on the public internet and may be called all the same, by http too, as crm.example.com, 10.0.0.0/8 or 10.1.2.3:8080, separated by commas (webhooks, settings, booking)"`

	AdminLogin    string `env:"SVC_ADMIN_LOGIN" envDefault:"admin" takes:"text" help:"login of the first administrator (settings)"`
	AdminPassword string `env:"SVC_ADMIN_PASSWORD" secret:"true" takes:"text" help:"password of the first administrator (settings); needed once, at the first start"`
	AdminEmail    string `env:"SVC_ADMIN_EMAIL" envDefault:"admin@example.com" takes:"email" help:"address of the first administrator (settings)"`
	SMTPURL       string `env:"SVC_SMTP_URL" secret:"true" takes:"mail server" help:"smtp[s]://[user:password@]host:port that mail is handed to (settings)"`
	MailFrom      string `env:"SVC_MAIL_FROM" envDefault:"frontdesk@localhost" takes:"sender" help:"sender of mails, as salon@example.com or Salon <salon@example.com>; the name of the business stands before one without a name (settings)"`

	AuditStream string `env:"SVC_AUDIT_STREAM" takes:"stream" help:"where each audit entry goes as a line of OCSF, besides the database: stdout, file:/path, syslog://host:port, syslog+tls://host:port?ca=/file or syslog+udp://host:port (settings)"`

	SecurityContact []string `env:"SVC_SECURITY_CONTACT" takes:"urls mailto https" help:"where a weakness is reported, as mailto:security@example.com or the address of a page, several separated by commas; empty has no /.well-known/security.txt (settings)"`
	Robots          string   `env:"SVC_ROBOTS" takes:"text" help:"what /robots.txt says, instead of the text that names the public pages (settings)"`

	OIDCIssuer string   `env:"SVC_OIDC_ISSUER" takes:"url http https" help:"the organization's OpenID Connect provider, as the issuer of its discovery document: the team signs in there; empty for passwords only (settings)"`
	OIDCClient string   `env:"SVC_OIDC_CLIENT_ID" takes:"text" help:"our client_id at SVC_OIDC_ISSUER (settings)"`
	OIDCSecret string   `env:"SVC_OIDC_CLIENT_SECRET" secret:"true" takes:"text" help:"the secret of that client; empty for a public client (settings)"`
	OIDCName   string   `env:"SVC_OIDC_NAME" takes:"text" help:"what the button to sign in calls the provider, as Contoso; empty is the issuer's host (settings)"`
	OIDCClaim  string   `env:"SVC_OIDC_CLAIM" envDefault:"groups" takes:"text" help:"the claim that SVC_OIDC_ROLES looks at, with dots into an object, as realm_access.roles (settings)"`
	OIDCRoles  string   `env:"SVC_OIDC_ROLES" takes:"roles of a claim" help:"which role a value of the claim gives, as desk-admins=site_admin,reception=staff, of site_admin, svc_admin, staff; set at each sign-in, and who has none is not let in; empty creates nobody, and roles are given here (settings)"`
	OIDCMFA    []string `env:"SVC_OIDC_MFA" envDefault:"mfa" takes:"text" help:"values of amr or acr, separated by commas, that count as a second factor (settings)"`
	OIDCOnly   bool     `env:"SVC_OIDC_ONLY" envDefault:"false" takes:"bool" help:"people sign in by SVC_OIDC_ISSUER only; the person with the login SVC_ADMIN_LOGIN also by password, for when the provider is down (settings)"`

	Drain time.Duration `env:"SVC_DRAIN" envDefault:"1s" takes:"duration" help:"how long a process that is told to stop still serves, while the gateway turns to others"`

	OTLP string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" takes:"url http https" help:"where traces are sent; empty is nowhere"`

	Zone *time.Location `env:"-"`
	// Proxies is made of ProxyList.
	Proxies []netip.Prefix `env:"-"`
	// Receivers is made of FetchAllow.
	Receivers fetch.Allowed `env:"-"`
	// ClaimRoles is made of OIDCRoles.
	ClaimRoles []auth.ClaimRole `env:"-"`
	// Audit is made of AuditStream.
	Audit lines.Stream `env:"-"`
	// Kafka is made of KafkaTLS, KafkaCA, KafkaUser and KafkaSecret.
	Kafka bus.Login `env:"-"`
	// Alone says that no other service is there, as in a test of one: its rehearsals ask nobody.
	Alone bool `env:"-"`
	// Now is the clock of the service; nil is the real one.
	Now func() time.Time `env:"-"`
}

// kinds are the knobs of services that libs/knob has no kind for.
var kinds = knob.Kinds{
	"postgres":         knob.KindOf(db.PoolConfig),
	"mail server":      knob.KindOf(func(url string) (any, error) { return nil, mail.CheckURL(url) }),
	"receivers":        knob.KindOf(fetch.ParseAllowed),
	"stream":           knob.KindOf(func(text string) (lines.Stream, error) { return lines.Parse(text, "") }),
	"sender":           mail.CheckSender,
	"roles of a claim": knob.KindOf(auth.ParseClaimRoles),
	"public keys":      knob.KindOf(func(list string) (trust.Ring, error) { return trust.Parse(strings.Split(list, ",")) }),
}

// readConfig reads and checks an environment, as os.Environ gives it. A secret may stand in a file instead, which the knob
// with _FILE behind it names. The error is for a person, a line for each knob that is wrong.
func readConfig(environ []string) (Config, error) {
	c, err := knob.Read[Config](env.ToMap(environ), kinds)
	var login error
	c.Kafka, login = bus.NewLogin(bus.LoginOptions{TLS: c.KafkaTLS, CA: c.KafkaCA, User: c.KafkaUser, Password: c.KafkaSecret})
	if err = errors.Join(err, login, c.checkOIDC()); err != nil {
		return c, err
	}
	c.PublicURL, c.GatewayURL = strings.TrimSuffix(c.PublicURL, "/"), strings.TrimSuffix(c.GatewayURL, "/")
	c.GatewayURL = cmp.Or(c.GatewayURL, c.PublicURL)
	if public, err := url.Parse(c.PublicURL); err == nil && c.AuditStream != "" {
		c.Audit, _ = lines.Parse(c.AuditStream, public.Hostname())
	}
	c.Receivers, _ = fetch.ParseAllowed(c.FetchAllow) // what Read has checked
	c.ClaimRoles, _ = auth.ParseClaimRoles(c.OIDCRoles)
	if issuer, err := url.Parse(c.OIDCIssuer); err == nil {
		c.OIDCName = cmp.Or(c.OIDCName, issuer.Hostname())
	}
	if c.Proxies, err = knob.Networks(c.ProxyList); err == nil {
		c.Zone, err = time.LoadLocation(c.Timezone)
	}
	return c, err
}

// Gateway is where this process calls the API. Without a gateway, as in a test of a service alone, the service is its own.
func (c Config) Gateway() string { return cmp.Or(c.GatewayURL, c.BaseURL) }

// checkOIDC says which knob is missing beside others. The error is for a person, a line for each.
func (c Config) checkOIDC() error {
	if c.OIDCIssuer != "" {
		if c.OIDCClient == "" {
			return errors.New("SVC_OIDC_CLIENT_ID is required beside SVC_OIDC_ISSUER")
		}
		return nil
	}
	var wrong []error
	for name, set := range map[string]bool{"SVC_OIDC_CLIENT_ID": c.OIDCClient != "", "SVC_OIDC_CLIENT_SECRET": c.OIDCSecret != "", "SVC_OIDC_ROLES": c.OIDCRoles != "", "SVC_OIDC_ONLY": c.OIDCOnly} {
		if set {
			wrong = append(wrong, fmt.Errorf("%s needs SVC_OIDC_ISSUER", name))
		}
	}
	return errors.Join(wrong...)
}

// trust returns the keys of a service for messages. The error is for a person, as that of readConfig.
func (c Config) trust(service string) (*trust.Keys, error) {
	masters := append([]string{c.MasterKey}, c.OldKeys...)
	ring, err := trust.Parse(c.PublicKeys)
	switch {
	case err != nil:
		return nil, fmt.Errorf("SVC_PUBLIC_KEYS: %w", err)
	case len(ring) == 0 && c.SharedKey != "" && c.SharedKey != c.MasterKey:
		return nil, errors.New("SVC_PUBLIC_KEYS is required beside SVC_SHARED_KEY: 'local keys' prints both")
	case len(ring) == 0: // one key for all
		ring = trust.RingOf(proto.Services, func(string) []string { return masters })
	case !ring.Has(c.MasterKey, service):
		return nil, fmt.Errorf("SVC_PUBLIC_KEYS has no key of %s that belongs to its SVC_MASTER_KEY: add %s:%s", service, service, trust.PublicOf(c.MasterKey, service))
	}
	return trust.New(service, masters, ring), nil
}

// printHelp lists the knobs.
func printHelp(w io.Writer, s Service) {
	name := s.Name
	fmt.Fprintf(w, "%s is a service of Frontdesk.\n\n  %s          runs it\n  %s migrate  ahead of new replicas: brings the schema up to date, and ends; it needs no broker\n  %s resync   after its schema went back to a backup, while it is stopped: brings schema and topics together\n  %s rotate-key   after its key was changed, while it runs: seals and signs anew with the new key\n  %s -version   prints number and commit\n", name, name, name, name, name, name)
	for _, c := range slices.Sorted(maps.Keys(s.Commands)) {
		fmt.Fprintf(w, "  %s %s %s   %s\n", name, c, s.Commands[c].Takes, s.Commands[c].Does)
	}
	fmt.Fprint(w, "\nIt takes these from the environment:\n\n")
	knob.Print[Config](w)
}

func wantsHelp() bool {
	return slices.ContainsFunc(os.Args[1:], func(a string) bool { return a == "-h" || a == "-help" || a == "--help" })
}
