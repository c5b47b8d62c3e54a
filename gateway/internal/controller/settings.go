package controller

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/knob"
	"frontdesk/libs/trust"
)

// Settings are the knobs of the process.
type Settings struct {
	HTTPListen  string // Traefik's entry point
	TLS         TLS
	Proxies     []netip.Prefix // whose headers about a visitor count
	GatewayURL  *url.URL
	TraefikAPI  string
	Listen      string
	BaseURL     string
	AdminListen string
	AdminHosts  []string
	DataDir     string
	PublicURL   *url.URL
	Brokers     string
	Kafka       bus.Login
	Partitions  int
	PublicKeys  trust.Ring
	Hosts       []string // service=host
	OTLP        string
	// MeasureEvery is the time between two measurements of the page for operators.
	MeasureEvery time.Duration
}

// knobs in the order of -help. A default may use the port and an offset from it. takes is for knob.Check.
var knobs = []struct{ name, takes, fallback, doc string }{
	{"SVC_HTTP_PORT", "number 1 65528", "8080", "port of the gateway; the defaults below count from it"},
	{"SVC_HTTP_LISTEN", "address", ":{port}", "host and port of Traefik's entry point"},
	{"SVC_HTTPS_LISTEN", "address", "", "host and port of an entry point with TLS; none when empty. That of SVC_HTTP_LISTEN is then for the inside only"},
	{"SVC_REDIRECT_LISTEN", "address", "", "host and port that leads visitors from http to SVC_PUBLIC_URL, and answers ACME's challenges; none when empty"},
	{"SVC_TLS_CERT", "text", "", "PEM file of the certificate with its chain; a new one is taken within seconds"},
	{"SVC_TLS_KEY", "text", "", "PEM file of its key"},
	{"SVC_ACME_EMAIL", "email", "", "address of the account that gets a certificate by ACME, instead of SVC_TLS_CERT"},
	{"SVC_ACME_SERVER", "url https http", "https://acme-v02.api.letsencrypt.org/directory", "directory of the ACME server"},
	{"SVC_ACME_CA", "text", "", "PEM file of the authority behind that server's own certificate; empty for those of the system"},
	{"SVC_ACME_CHALLENGE", "one of tls http", "tls", "tls (on port 443), or http (on port 80)"},
	{"SVC_ACME_FILE", "text", "", "file in which Traefik keeps account and certificates"},
	{"SVC_TRUSTED_PROXIES", "networks", "", "addresses and networks of the proxies and load balancers before Traefik, separated by commas: what they say about a visitor counts, by headers or by the PROXY protocol"},
	{"SVC_GATEWAY_URL", "url http https", "http://127.0.0.1:{port}", "the entry point as the controller reaches it"},
	{"SVC_TRAEFIK_API", "address", "127.0.0.1:{port+5}", "Traefik's API, ping and metrics; keep it on loopback"},
	{"SVC_LISTEN", "address", "127.0.0.1:{port+6}", "answers for paths that no service takes"},
	{"SVC_BASE_URL", "url http https", "http://{listen}", "those answers as Traefik reaches them"},
	{"SVC_ADMIN_LISTEN", "address", "127.0.0.1:{port+7}", "page, /livez, /readyz, /metrics"},
	{"SVC_ADMIN_HOSTS", "hosts", "", "names of hosts by which the admin port is called, besides addresses, localhost and the host of SVC_BASE_URL; separated by commas"},
	{"SVC_MEASURE_EVERY", "duration 1s 10s", "10s", "time between two measurements of the page, from 1s to 10s"},
	{"SVC_DATA_DIR", "text", ".run", "its folder gateway/ holds Traefik's two files"},
	{"SVC_PUBLIC_URL", "url http https", "http://localhost:{port}", "what visitors use; https turns HSTS on"},
	{"KAFKA_BROKERS", "brokers", "127.0.0.1:{port+4}", "comma-separated brokers"},
	{"SVC_KAFKA_TLS", "bool", "false", "encrypt connections to the brokers and verify their certificates, by the authorities of the system unless SVC_KAFKA_CA is set"},
	{"SVC_KAFKA_CA", "text", "", "PEM file of the authority that signs the brokers' certificates; turns SVC_KAFKA_TLS on"},
	{"SVC_KAFKA_USER", "text", "", "user at the brokers, by SCRAM-SHA-512; empty does not sign in"},
	{"SVC_KAFKA_PASSWORD", "text", "", "password of SVC_KAFKA_USER; SVC_KAFKA_PASSWORD_FILE names a file that holds it instead"},
	{"SVC_KAFKA_PARTITIONS", "number 0 1000", "0", "partitions of each topic that has more than one; 0 for those of a cluster"},
	{"SVC_PUBLIC_KEYS", "public keys", "", "public keys of the services, which 'local keys' prints: only what they sign is taken; required"},
	{"SVC_GATEWAY_HOSTS", "places", "", "where services may be, as service=host, service=host:port or service=*.domain, separated by commas; besides hosts named like the service (settings, settings-2) and, if SVC_GATEWAY_URL is on loopback, loopback"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "url http https", "", "where Traefik sends traces, over HTTP; none when empty"},
}

// Help lists the knobs with their defaults.
func Help(w io.Writer) {
	fmt.Fprintln(w, "The gateway's controller. It is set up by the environment:")
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, k := range knobs {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", k.name, k.fallback, k.doc)
	}
	t.Flush()
	fmt.Fprintln(w, "With -static it only writes Traefik's files and ends; with -version it prints number and commit.")
}

// kinds are the knobs of the controller that libs/knob has no kind for.
var kinds = knob.Kinds{
	"public keys": knob.KindOf(func(list string) (trust.Ring, error) { return trust.Parse(strings.Split(list, ",")) }),
	"places": func(list string) error {
		for _, place := range split(list) {
			if service, host, _ := strings.Cut(place, "="); service == "" || host == "" {
				return fmt.Errorf("has to be service=host, separated by commas; %q is not", place)
			}
		}
		return nil
	},
}

// split are the entries of a list with commas.
func split(list string) (all []string) {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// SettingsFrom reads the environment. The error names every knob that cannot be used.
func SettingsFrom(getenv func(string) string) (Settings, error) {
	values, err := read(getenv)
	value := func(name string) string { return values[name] }
	bad := []error{err}
	s := Settings{
		HTTPListen:  value("SVC_HTTP_LISTEN"),
		GatewayURL:  link(value("SVC_GATEWAY_URL")),
		TraefikAPI:  value("SVC_TRAEFIK_API"),
		Listen:      value("SVC_LISTEN"),
		BaseURL:     value("SVC_BASE_URL"),
		AdminListen: value("SVC_ADMIN_LISTEN"),
		DataDir:     value("SVC_DATA_DIR"),
		PublicURL:   link(value("SVC_PUBLIC_URL")),
		Brokers:     value("KAFKA_BROKERS"),
		Hosts:       split(value("SVC_GATEWAY_HOSTS")),
		OTLP:        value("OTEL_EXPORTER_OTLP_ENDPOINT"),
	}
	s.AdminHosts = append(split(value("SVC_ADMIN_HOSTS")), link(s.BaseURL).Hostname())
	s.Proxies, _ = knob.Networks(value("SVC_TRUSTED_PROXIES")) // what read has checked
	s.MeasureEvery, _ = time.ParseDuration(value("SVC_MEASURE_EVERY"))
	s.Partitions, _ = strconv.Atoi(value("SVC_KAFKA_PARTITIONS"))
	s.PublicKeys, _ = trust.Parse(split(value("SVC_PUBLIC_KEYS")))
	if value("SVC_HTTPS_LISTEN") != "" {
		s.TLS = TLS{Listen: value("SVC_HTTPS_LISTEN"), Redirect: value("SVC_REDIRECT_LISTEN"), Cert: value("SVC_TLS_CERT"), Key: value("SVC_TLS_KEY")}
		if s.TLS.Email = value("SVC_ACME_EMAIL"); s.TLS.Email != "" {
			s.TLS.Server, s.TLS.Challenge, s.TLS.File, s.TLS.CA = value("SVC_ACME_SERVER"), value("SVC_ACME_CHALLENGE"), value("SVC_ACME_FILE"), value("SVC_ACME_CA")
		}
		bad = append(bad, s.TLS.check(s.PublicURL)...)
	}
	encrypted, _ := strconv.ParseBool(value("SVC_KAFKA_TLS"))
	s.Kafka, err = bus.NewLogin(bus.LoginOptions{TLS: encrypted, CA: value("SVC_KAFKA_CA"), User: value("SVC_KAFKA_USER"), Password: value("SVC_KAFKA_PASSWORD")})
	return s, errors.Join(append(bad, err)...)
}

// read returns the knobs by name, with their defaults. A knob that the error names has its default too.
func read(getenv func(string) string) (values map[string]string, err error) {
	values = map[string]string{}
	var bad []error
	for _, k := range knobs {
		given, err := getenv(k.name), error(nil)
		if k.name == "SVC_KAFKA_PASSWORD" {
			given, err = knob.Secret(getenv, k.name)
		}
		if fault := knob.Check(k.takes, given, kinds); err == nil && fault != nil {
			err = fmt.Errorf("%s %w", k.name, fault)
		}
		if err != nil {
			bad, given = append(bad, err), ""
		} else if k.name == "SVC_PUBLIC_KEYS" && len(split(given)) == 0 {
			bad = append(bad, errors.New("SVC_PUBLIC_KEYS is required; 'local keys' prints them"))
		}
		// The port is the first knob, and the default of SVC_BASE_URL stands behind SVC_LISTEN.
		port, _ := strconv.Atoi(values["SVC_HTTP_PORT"])
		values[k.name] = cmp.Or(given, strings.ReplaceAll(expand(k.fallback, port), "{listen}", values["SVC_LISTEN"]))
	}
	return values, errors.Join(bad...)
}

// link is an address that read has checked.
func link(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// expand replaces {port} and {port+n} by numbers.
func expand(fallback string, port int) string {
	before, rest, ok := strings.Cut(fallback, "{port")
	if !ok {
		return fallback
	}
	offset, after, _ := strings.Cut(rest, "}")
	n, _ := strconv.Atoi(strings.TrimPrefix(offset, "+"))
	return before + strconv.Itoa(port+n) + after
}

// Options are the facts that the dynamic configuration depends on.
func (s Settings) Options() Options {
	host, _, _ := net.SplitHostPort(s.TraefikAPI) // an address was required
	return Options{AnswersURL: s.BaseURL, HTTPS: s.PublicURL.Scheme == "https", AdminHosts: append(slices.Clone(s.AdminHosts), host),
		TLS: s.TLS.Listen != "", Certificate: s.TLS.certificate()}
}

func (s Settings) dir() string         { return filepath.Join(s.DataDir, "gateway") }
func (s Settings) staticFile() string  { return filepath.Join(s.dir(), "traefik.yml") }
func (s Settings) dynamicFile() string { return filepath.Join(s.dir(), "dynamic", "frontdesk.yml") }

// WriteFiles writes Traefik's static configuration, made of the template, and a dynamic one without any service if there is
// none yet. Traefik can start once it returns nil.
func (s Settings) WriteFiles(template string) error {
	if err := os.MkdirAll(filepath.Dir(s.dynamicFile()), 0o755); err != nil {
		return err
	}
	static, err := s.static(template)
	if err != nil {
		return err
	}
	if err := s.replace(s.staticFile(), static); err != nil {
		return err
	}
	if _, err := os.Stat(s.dynamicFile()); err == nil {
		return nil
	}
	return s.replace(s.dynamicFile(), Config(nil, Apps{}, s.Options()).JSON())
}
