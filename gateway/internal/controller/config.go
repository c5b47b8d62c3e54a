package controller

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/proto"
)

// Options are the facts of a deployment that its configuration depends on.
type Options struct {
	// AnswersURL is where Traefik reaches the controller's own answers.
	AnswersURL string
	// HTTPS: visitors come over https, here or at a balancer before Traefik.
	HTTPS bool
	// AdminHosts are the names by which Traefik's own port may be called, besides addresses and localhost.
	AdminHosts []string
	// TLS: Traefik has an entry point with TLS.
	TLS bool
	// Certificate of that entry point; nil when it comes by ACME.
	Certificate *Certificate
}

// entryPoints are those for visitors.
func (o Options) entryPoints() []string {
	if o.TLS {
		return []string{entryPoint, secureEntryPoint}
	}
	return []string{entryPoint}
}

// Names in the configuration that differ from every service's: a service's name has no upper case.
const (
	entryPoint       = "web"
	secureEntryPoint = "websecure"
	answers          = "ANSWERS"
	transport        = "TRANSPORT"
	compression      = "COMPRESS"
	down             = "DOWN"
	unknown          = "UNKNOWN"
	unavailable      = "UNAVAILABLE"
	tooLarge         = "TOO-LARGE"
	marker           = "MARKER"
	internal         = "INTERNAL"
	api              = "API"
	apiMetrics       = "METRICS"
)

// adminPoint is Traefik's own port, with its API and metrics.
const adminPoint = "traefik"

// orDown follows the name of a service in that of its failover.
const orDown = "-OR-DOWN"

// readyPath is where a replica says whether it takes requests, and livePath where it answers as long as it serves.
const (
	readyPath = "/readyz"
	livePath  = "/livez"
)

// Paths of the controller's answers, behind AnswersURL. Visitors cannot ask for them: Traefik puts unknownPath before every
// path that comes from outside.
const (
	unknownPath     = "/unknown"
	unavailablePath = "/unavailable"
	tooLargePath    = "/too-large"
	tooMuchPath     = "/too-much"
)

// Priorities of routers: the catch-all, the routes from level 0 on, three for each level, the body limit, the marker.
const (
	priorityUnknown  = 1
	priorityRoutes   = 10
	priorityTooLarge = 100_000
	priorityMarker   = 100_001
)

// tooLargeRule matches requests that announce a body of proto.MostBody or more, so that such bodies do not reach a service.
const tooLargeRule = "HeaderRegexp(`Content-Length`, `^0*(?:[1-9][0-9]{8,}|[4-9][0-9]{7}|3[5-9][0-9]{6})$`)"

var serviceName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// MarkerPath is the path at which Traefik answers 200 while it serves the configuration with this hash.
func MarkerPath(hash string) string { return "/_gateway/" + hash }

// Config computes Traefik's whole dynamic configuration. The same input gives the same configuration, in whatever order the
// manifests come. Manifests and routes that cannot be routed are left out.
func Config(manifests []*proto.Manifest, apps Apps, opts Options) *Configuration {
	manifests = slices.DeleteFunc(slices.Clone(manifests), func(m *proto.Manifest) bool { return !serviceName.MatchString(m.GetService()) })
	slices.SortFunc(manifests, func(a, b *proto.Manifest) int { return cmp.Compare(a.GetService(), b.GetService()) })

	routes, paths := plan(manifests, apps)
	c := &Configuration{paths: paths, entryPoints: opts.entryPoints(), HTTP: HTTP{
		Routers:     map[string]Router{},
		Middlewares: middlewares(opts),
		Services: map[string]Service{
			answers: {LoadBalancer: &LoadBalancer{Servers: []Server{{URL: opts.AnswersURL}}, ServersTransport: transport}},
			down:    {LoadBalancer: &LoadBalancer{Servers: []Server{{URL: opts.AnswersURL + unavailablePath, PreservePath: true}}, ServersTransport: transport}},
		},
		ServersTransports: map[string]ServersTransport{transport: {
			// The default of 2 makes every burst open and close connections.
			MaxIdleConnsPerHost: 256,
			ForwardingTimeouts:  ForwardingTimeouts{DialTimeout: "2s", ResponseHeaderTimeout: "60s", IdleConnTimeout: "75s"},
		}},
	}}

	if opts.TLS {
		c.TLS = &TLSStores{Options: map[string]TLSOption{"default": {MinVersion: "VersionTLS12"}}}
		if opts.Certificate != nil {
			c.TLS.Stores = map[string]TLSStore{"default": {*opts.Certificate}}
		}
	}
	reachable := map[string]bool{}
	for _, m := range manifests {
		if servers := serversOf(m.GetBaseUrl()); len(servers) > 0 {
			reachable[m.GetService()] = true
			c.addService(m.GetService(), LoadBalancer{Servers: servers, ServersTransport: transport})
		}
	}
	for _, g := range groups(routes) {
		c.addRouters(g, reachable[g.target.service])
	}

	c.HTTP.Routers[unknown] = Router{
		EntryPoints: c.entryPoints, Rule: "PathPrefix(`/`)", Priority: priorityUnknown,
		Middlewares: []string{headersOf(classPublic), unknown}, Service: answers,
	}
	c.HTTP.Routers[tooLarge] = Router{
		EntryPoints: c.entryPoints, Rule: tooLargeRule, Priority: priorityTooLarge,
		Middlewares: []string{headersOf(classPublic), tooLarge}, Service: answers,
	}
	// Replicas say on the port of their API whether they are ready. That is for Traefik, not for visitors.
	c.HTTP.Routers[internal] = Router{EntryPoints: c.entryPoints, Rule: "Path(`" + readyPath + "`) || Path(`" + livePath + "`)", Priority: priorityTooLarge, Middlewares: []string{headersOf(classPublic), unknown}, Service: answers}
	// Traefik's own routers for these would answer to any name, so also to one of an attacker's that resolves to this machine.
	own := "HostRegexp(`^(?:" + adminNames(opts.AdminHosts) + ")$`) && !HeaderRegexp(`Sec-Fetch-Site`, `cross-site|same-site`)"
	c.HTTP.Routers[api] = Router{EntryPoints: []string{adminPoint}, Rule: "PathPrefix(`/api`) && " + own, Service: "api@internal"}
	c.HTTP.Routers[apiMetrics] = Router{EntryPoints: []string{adminPoint}, Rule: "PathPrefix(`/metrics`) && " + own, Service: "prometheus@internal"}
	c.seal()
	return c
}

// adminNames is an expression for the hosts that Traefik's own port answers to: addresses, localhost and hosts.
func adminNames(hosts []string) string {
	names := []string{`localhost`, `[0-9.]+`, `\[?[0-9a-f:.]*:[0-9a-f:.]*\]?`}
	for _, h := range hosts {
		if hostName.MatchString(h) {
			names = append(names, regexp.QuoteMeta(h))
		}
	}
	return strings.Join(names, "|")
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// addService adds a service. Of several replicas only those take requests that say that they are ready: one that starts, stops or
// does not move is left out after five seconds at most. While none says so, those take them that answer at all: one that stops serves on for a
// while, and it may say so before Traefik has seen that another one is ready. One replica alone is not asked, because nobody could take its
// place, and a process that is busy must not lose its callers for that.
func (c *Configuration) addService(name string, b LoadBalancer) {
	if len(b.Servers) < 2 {
		c.HTTP.Services[name] = Service{LoadBalancer: &b}
		return
	}
	alive := c.addChecked(name+"-ALIVE", b, HealthCheck{Path: livePath, Interval: "2s", UnhealthyInterval: "500ms", Timeout: "5s"}, down)
	c.addChecked(name, b, HealthCheck{Path: readyPath, Interval: "500ms", UnhealthyInterval: "100ms", Timeout: "5s"}, alive)
}

// addChecked adds a service whose servers are checked, and its failover, whose name it returns.
func (c *Configuration) addChecked(name string, b LoadBalancer, check HealthCheck, fallback string) string {
	b.HealthCheck = &check
	c.HTTP.Services[name] = Service{LoadBalancer: &b}
	c.HTTP.Services[name+orDown] = Service{Failover: &Failover{Service: name, Fallback: fallback}}
	return name + orDown
}

// reach is the service to which the requests for one go: by way of its failover, if it has one.
func (c *Configuration) reach(service string) string {
	if _, ok := c.HTTP.Services[service+orDown]; ok {
		return service + orDown
	}
	return service
}

// streaming adds a twin of the service whose answers Traefik passes on write by write, and returns its name.
func (c *Configuration) streaming(service string) string {
	b := *c.HTTP.Services[service].LoadBalancer
	b.ResponseForwarding = &ResponseForwarding{FlushInterval: "-1ns"}
	c.addService(service+"-STREAM", b)
	return service + "-STREAM"
}

// serversOf reads the base URLs of a service's replicas, separated by commas. It leaves out all but plain http and https
// addresses.
func serversOf(baseURLs string) []Server {
	var servers []Server
	for u := range strings.SplitSeq(baseURLs, ",") {
		p, err := url.Parse(strings.TrimSpace(u))
		if err == nil && (p.Scheme == "http" || p.Scheme == "https") && p.Hostname() != "" && !strings.ContainsAny(p.Host, "{}`") {
			servers = append(servers, Server{URL: p.Scheme + "://" + p.Host})
		}
	}
	return servers
}

func headersOf(class string) string { return "HEADERS-" + class }

func middlewares(opts Options) map[string]Middleware {
	scheme := "http"
	if opts.HTTPS {
		scheme = "https"
	}
	// A visitor's values of these headers are removed. X-Forwarded-For stays, because its last element is the peer that Traefik
	// saw; headers with a visitor's address such as X-Real-Ip stay too, because the general settings may name one that a proxy
	// before Traefik sets.
	request := map[string]string{
		"X-Forwarded-Host": "", "X-Forwarded-Port": "", "X-Forwarded-Server": "", "X-Forwarded-Uri": "",
		"X-Forwarded-Method": "", "X-Forwarded-Prefix": "",
		"X-Forwarded-Tls-Client-Cert": "", "X-Forwarded-Tls-Client-Cert-Info": "",
		"X-Forwarded-Proto": scheme,
	}
	secure := map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
	if opts.HTTPS {
		secure["Strict-Transport-Security"] = "max-age=31536000"
	}
	framed := func(policy string) map[string]string {
		h := maps.Clone(secure)
		h["X-Frame-Options"] = policy
		return h
	}
	cors := func(h Headers, methods ...string) Middleware {
		h.AccessControlAllowOriginList = []string{"*"}
		h.AccessControlAllowMethods = methods
		h.AccessControlAllowHeaders = []string{"Content-Type", "Idempotency-Key"}
		h.AccessControlExposeHeaders = []string{"Retry-After", "X-Request-Id"}
		h.AccessControlMaxAge = 600
		return Middleware{Headers: &h}
	}
	api := Headers{CustomRequestHeaders: request, CustomResponseHeaders: framed("DENY")}
	page := Headers{CustomRequestHeaders: request, CustomResponseHeaders: framed("SAMEORIGIN")}
	all := map[string]Middleware{
		headersOf(classRest):    {Headers: &api},
		headersOf(classAbility): {Headers: &api},
		headersOf(classStream):  {Headers: &api},
		headersOf(classPublic):  cors(api, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
		headersOf(classPage):    {Headers: &page},
		headersOf(classAsset):   cors(Headers{CustomRequestHeaders: request, CustomResponseHeaders: secure}, "GET", "HEAD"),
		compression: {Compress: &Compress{
			IncludedContentTypes: []string{
				"application/json", "application/javascript", "application/manifest+json", "image/svg+xml",
				"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "text/calendar",
			},
			Encodings: []string{"zstd", "gzip", "br"},
		}},
		unknown:     {AddPrefix: &AddPrefix{unknownPath}},
		unavailable: {ReplacePath: &ReplacePath{unavailablePath}},
		tooLarge:    {ReplacePath: &ReplacePath{tooLargePath}},
	}
	maps.Copy(all, repeating())
	return all
}

// seal hashes the configuration and adds the marker router, by which the controller sees that Traefik serves it.
func (c *Configuration) seal() {
	content := c.JSON()
	if c.TLS != nil {
		// A new certificate in the same files is another configuration.
		content = append(content, c.TLS.Stores["default"].DefaultCertificate.digest...)
	}
	sum := sha256.Sum256(content)
	c.Hash = hex.EncodeToString(sum[:8])
	c.HTTP.Routers[marker] = Router{
		EntryPoints: c.entryPoints, Rule: "Path(`" + MarkerPath(c.Hash) + "`)", Priority: priorityMarker,
		Service: "ping@internal", Observability: &Observability{},
	}
}

// JSON is the file that Traefik reads, for JSON is YAML too.
func (c *Configuration) JSON() []byte {
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		// Strings, numbers and maps of them always encode.
		panic(err)
	}
	return b
}
