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

	"frontdesk/gateway/internal/panel"
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

// knobs in the order of -help. A default may use the port and an offset from it.
var knobs = []struct{ name, fallback, doc string }{
	{"SVC_HTTP_PORT", "8080", "port of the gateway; the defaults below count from it"},
	{"SVC_HTTP_LISTEN", ":{port}", "host and port of Traefik's entry point"},
	{"SVC_HTTPS_LISTEN", "", "host and port of an entry point with TLS; none when empty. That of SVC_HTTP_LISTEN is then for the inside only"},
	{"SVC_REDIRECT_LISTEN", "", "host and port that leads visitors from http to SVC_PUBLIC_URL, and answers ACME's challenges; none when empty"},
	{"SVC_TLS_CERT", "", "PEM file of the certificate with its chain; a new one is taken within seconds"},
	{"SVC_TLS_KEY", "", "PEM file of its key"},
	{"SVC_ACME_EMAIL", "", "address of the account that gets a certificate by ACME, instead of SVC_TLS_CERT"},
	{"SVC_ACME_SERVER", "https://acme-v02.api.letsencrypt.org/directory", "directory of the ACME server"},
	{"SVC_ACME_CA", "", "PEM file of the authority behind that server's own certificate; empty for those of the system"},
	{"SVC_ACME_CHALLENGE", "tls", "tls (on port 443), or http (on port 80)"},
	{"SVC_ACME_FILE", "", "file in which Traefik keeps account and certificates"},
	{"SVC_TRUSTED_PROXIES", "", "addresses and networks of the proxies and load balancers before Traefik, separated by commas: what they say about a visitor counts, by headers or by the PROXY protocol"},
	{"SVC_GATEWAY_URL", "http://127.0.0.1:{port}", "the entry point as the controller reaches it"},
	{"SVC_TRAEFIK_API", "127.0.0.1:{port+5}", "Traefik's API, ping and metrics; keep it on loopback"},
	{"SVC_LISTEN", "127.0.0.1:{port+6}", "answers for paths that no service takes"},
	{"SVC_BASE_URL", "http://{listen}", "those answers as Traefik reaches them"},
	{"SVC_ADMIN_LISTEN", "127.0.0.1:{port+7}", "page, /livez, /readyz, /metrics"},
	{"SVC_ADMIN_HOSTS", "", "names of hosts by which the admin port is called, besides addresses, localhost and the host of SVC_BASE_URL; separated by commas"},
	{"SVC_MEASURE_EVERY", "10s", "time between two measurements of the page, from 1s to 10s"},
	{"SVC_DATA_DIR", ".run", "its folder gateway/ holds Traefik's two files"},
	{"SVC_PUBLIC_URL", "http://localhost:{port}", "what visitors use; https turns HSTS on"},
	{"KAFKA_BROKERS", "127.0.0.1:{port+4}", "comma-separated brokers"},
	{"SVC_KAFKA_TLS", "false", "encrypt connections to the brokers and verify their certificates, by the authorities of the system unless SVC_KAFKA_CA is set"},
	{"SVC_KAFKA_CA", "", "PEM file of the authority that signs the brokers' certificates; turns SVC_KAFKA_TLS on"},
	{"SVC_KAFKA_USER", "", "user at the brokers, by SCRAM-SHA-512; empty does not sign in"},
	{"SVC_KAFKA_PASSWORD", "", "password of SVC_KAFKA_USER; SVC_KAFKA_PASSWORD_FILE names a file that holds it instead"},
	{"SVC_KAFKA_PARTITIONS", "0", "partitions of each topic that has more than one; 0 for those of a cluster"},
	{"SVC_PUBLIC_KEYS", "", "public keys of the services, which 'local keys' prints: only what they sign is taken; required"},
	{"SVC_GATEWAY_HOSTS", "", "where services may be, as service=host, service=host:port or service=*.domain, separated by commas; besides hosts named like the service (settings, settings-2) and, if SVC_GATEWAY_URL is on loopback, loopback"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "", "where Traefik sends traces, over HTTP; none when empty"},
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

// SettingsFrom reads the environment. The error names every knob that cannot be used.
func SettingsFrom(getenv func(string) string) (Settings, error) {
	var bad []error
	port, err := strconv.Atoi(cmp.Or(getenv("SVC_HTTP_PORT"), "8080"))
	if err != nil || port < 1 || port > 65528 {
		bad = append(bad, errors.New("SVC_HTTP_PORT has to be a port from 1 to 65528"))
	}
	value := func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		for _, k := range knobs {
			if k.name == name {
				return expand(k.fallback, port)
			}
		}
		return ""
	}
	address := func(name string) string {
		v := value(name)
		if _, p, err := net.SplitHostPort(v); err != nil || p == "" {
			bad = append(bad, fmt.Errorf("%s has to be host:port, not %q", name, v))
		}
		return v
	}
	link := func(name, v string) *url.URL {
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			bad = append(bad, fmt.Errorf("%s has to be an http or https address, not %q", name, v))
			return &url.URL{}
		}
		return u
	}
	s := Settings{
		HTTPListen:  address("SVC_HTTP_LISTEN"),
		GatewayURL:  link("SVC_GATEWAY_URL", value("SVC_GATEWAY_URL")),
		TraefikAPI:  address("SVC_TRAEFIK_API"),
		Listen:      address("SVC_LISTEN"),
		AdminListen: address("SVC_ADMIN_LISTEN"),
		DataDir:     value("SVC_DATA_DIR"),
		PublicURL:   link("SVC_PUBLIC_URL", value("SVC_PUBLIC_URL")),
		Brokers:     value("KAFKA_BROKERS"),
		OTLP:        value("OTEL_EXPORTER_OTLP_ENDPOINT"),
	}
	if s.Proxies, err = knob.Networks(value("SVC_TRUSTED_PROXIES")); err != nil {
		bad = append(bad, fmt.Errorf("SVC_TRUSTED_PROXIES: %w", err))
	}
	if getenv("SVC_HTTPS_LISTEN") != "" {
		s.TLS.Listen = address("SVC_HTTPS_LISTEN")
		if getenv("SVC_REDIRECT_LISTEN") != "" {
			s.TLS.Redirect = address("SVC_REDIRECT_LISTEN")
		}
		s.TLS.Cert, s.TLS.Key = value("SVC_TLS_CERT"), value("SVC_TLS_KEY")
		if s.TLS.Email = value("SVC_ACME_EMAIL"); s.TLS.Email != "" {
			s.TLS.Server, s.TLS.Challenge, s.TLS.File = link("SVC_ACME_SERVER", value("SVC_ACME_SERVER")).String(), value("SVC_ACME_CHALLENGE"), value("SVC_ACME_FILE")
			s.TLS.CA = value("SVC_ACME_CA")
		}
		bad = append(bad, s.TLS.check(s.PublicURL)...)
	}
	if s.MeasureEvery, err = time.ParseDuration(value("SVC_MEASURE_EVERY")); err != nil || s.MeasureEvery < time.Second || s.MeasureEvery > panel.Every {
		bad = append(bad, fmt.Errorf("SVC_MEASURE_EVERY has to be a time from 1s to %s, not %q", panel.Every, value("SVC_MEASURE_EVERY")))
	}
	if s.Partitions, err = strconv.Atoi(value("SVC_KAFKA_PARTITIONS")); err != nil || s.Partitions < 0 {
		bad = append(bad, errors.New("SVC_KAFKA_PARTITIONS has to be a number, 0 or more"))
	}
	encrypted, err := strconv.ParseBool(value("SVC_KAFKA_TLS"))
	if err != nil {
		bad = append(bad, errors.New("SVC_KAFKA_TLS has to be true or false"))
	}
	password, err := knob.Secret(getenv, "SVC_KAFKA_PASSWORD")
	if err != nil {
		bad = append(bad, err)
	}
	if s.Kafka, err = bus.NewLogin(bus.LoginOptions{TLS: encrypted, CA: value("SVC_KAFKA_CA"), User: value("SVC_KAFKA_USER"), Password: password}); err != nil {
		bad = append(bad, err)
	}
	if s.PublicKeys, err = trust.Parse(strings.Split(value("SVC_PUBLIC_KEYS"), ",")); err != nil {
		bad = append(bad, fmt.Errorf("SVC_PUBLIC_KEYS: %w", err))
	} else if len(s.PublicKeys) == 0 {
		bad = append(bad, errors.New("SVC_PUBLIC_KEYS is required; 'local keys' prints them"))
	}
	for _, h := range strings.Split(value("SVC_GATEWAY_HOSTS"), ",") {
		if h = strings.TrimSpace(h); h == "" {
			continue
		}
		if service, host, _ := strings.Cut(h, "="); service == "" || host == "" {
			bad = append(bad, fmt.Errorf("SVC_GATEWAY_HOSTS has to be service=host, not %q", h))
		}
		s.Hosts = append(s.Hosts, h)
	}
	s.BaseURL = cmp.Or(getenv("SVC_BASE_URL"), "http://"+s.Listen)
	s.AdminHosts = append(strings.Split(value("SVC_ADMIN_HOSTS"), ","), link("SVC_BASE_URL", s.BaseURL).Hostname())
	if s.OTLP != "" {
		link("OTEL_EXPORTER_OTLP_ENDPOINT", s.OTLP)
	}
	return s, errors.Join(bad...)
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
