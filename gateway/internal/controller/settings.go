package controller

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Settings are the knobs of the process.
type Settings struct {
	HTTPListen  string // Traefik's entry point
	GatewayURL  *url.URL
	TraefikAPI  string
	Listen      string
	BaseURL     string
	AdminListen string
	DataDir     string
	PublicURL   *url.URL
	Brokers     string
	OTLP        string
}

// knobs in the order of -help. A default may use the port and an offset from it.
var knobs = []struct{ name, fallback, doc string }{
	{"SVC_HTTP_PORT", "8080", "port of the gateway; the defaults below count from it"},
	{"SVC_HTTP_LISTEN", ":{port}", "host and port of Traefik's entry point"},
	{"SVC_GATEWAY_URL", "http://127.0.0.1:{port}", "the entry point as the controller reaches it"},
	{"SVC_TRAEFIK_API", "127.0.0.1:{port+5}", "Traefik's API, ping and metrics; keep it on loopback"},
	{"SVC_LISTEN", "127.0.0.1:{port+6}", "answers for paths that no service takes"},
	{"SVC_BASE_URL", "http://{listen}", "those answers as Traefik reaches them"},
	{"SVC_ADMIN_LISTEN", "127.0.0.1:{port+7}", "page, /livez, /readyz, /metrics"},
	{"SVC_DATA_DIR", ".run", "its folder gateway/ holds Traefik's two files"},
	{"SVC_PUBLIC_URL", "http://localhost:{port}", "what visitors use; https turns HSTS on"},
	{"KAFKA_BROKERS", "127.0.0.1:{port+4}", "comma-separated brokers"},
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
	fmt.Fprintln(w, "With -static it only writes Traefik's files and ends.")
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
	s.BaseURL = cmp.Or(getenv("SVC_BASE_URL"), "http://"+s.Listen)
	link("SVC_BASE_URL", s.BaseURL)
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
	return Options{AnswersURL: s.BaseURL, HTTPS: s.PublicURL.Scheme == "https"}
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
