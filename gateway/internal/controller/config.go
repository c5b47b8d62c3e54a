package controller

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	outage           = "OUTAGE"
	again            = "AGAIN"
	elsewhere        = "ELSEWHERE"
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

// readyPath is where a replica says whether it takes requests.
const readyPath = "/readyz"

// Paths of the controller's answers, behind AnswersURL. Visitors cannot ask for them: Traefik puts unknownPath before every
// path that comes from outside.
const (
	unknownPath     = "/unknown"
	unavailablePath = "/unavailable"
	tooLargePath    = "/too-large"
)

// Priorities of routers: the catch-all, the routes from level 0 on, two for each level, the body limit, the marker.
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
	c.addRoutes(routes, reachable)

	c.HTTP.Routers[unknown] = Router{
		EntryPoints: c.entryPoints, Rule: "PathPrefix(`/`)", Priority: priorityUnknown,
		Middlewares: []string{headersOf(classPublic), unknown}, Service: answers,
	}
	c.HTTP.Routers[tooLarge] = Router{
		EntryPoints: c.entryPoints, Rule: tooLargeRule, Priority: priorityTooLarge,
		Middlewares: []string{headersOf(classPublic), tooLarge}, Service: answers,
	}
	// Replicas say on the port of their API whether they are ready. That is for Traefik, not for visitors.
	c.HTTP.Routers[internal] = Router{EntryPoints: c.entryPoints, Rule: "Path(`" + readyPath + "`)", Priority: priorityTooLarge, Middlewares: []string{headersOf(classPublic), unknown}, Service: answers}
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

// addRoutes makes one router of all routes with one target, one level and the same methods.
func (c *Configuration) addRoutes(routes []route, reachable map[string]bool) {
	type group struct {
		target  target
		level   int
		methods string
	}
	paths, replaying := map[group][]string{}, map[group][]string{}
	for _, r := range routes {
		g := group{r.target, r.level, strings.Join(r.methods, " ")}
		paths[g] = append(paths[g], r.shape.regexp())
		if r.replays {
			replaying[g] = append(replaying[g], r.shape.regexp())
		}
	}
	for g, shapes := range paths {
		rule := oneOf(shapes)
		if methods := strings.Fields(g.methods); len(methods) > 0 {
			rule = fmt.Sprintf("(Method(`%s`)) && %s", strings.Join(methods, "`) || Method(`"), rule)
		}
		r := Router{EntryPoints: c.entryPoints, Rule: rule, Priority: priorityRoutes + 2*g.level}
		switch {
		case g.target.service == "":
			r.Service, r.Middlewares = answers, []string{headersOf(classPublic), unknown}
		case !reachable[g.target.service]:
			r.Service, r.Middlewares = answers, []string{headersOf(g.target.class), unavailable}
		case g.target.class == classStream:
			r.Service, r.Middlewares = c.reach(c.streaming(g.target.service)), []string{headersOf(classStream), outage, again}
		default:
			r.Service, r.Middlewares = c.reach(g.target.service), []string{headersOf(g.target.class), compression, outage, again}
		}
		name := strings.Join(slices.DeleteFunc([]string{g.target.service, g.target.app, g.target.class}, func(s string) bool { return s == "" }), "-")
		if name == "" {
			name = unknown
		}
		if g.level > 0 {
			name += fmt.Sprintf("-%d", g.level)
		}
		if g.methods != "" {
			name += "-" + strings.ReplaceAll(g.methods, " ", "-")
		}
		c.HTTP.Routers[name] = r
		if g.target.class != classStream && r.Service == g.target.service+orDown {
			// The same for requests that only read, and for those that the service recognises when they are repeated.
			r.Rule = "(Method(`GET`) || Method(`HEAD`)) && " + r.Rule
			if len(replaying[g]) > 0 {
				r.Rule += " || Method(`POST`) && HeaderRegexp(`Idempotency-Key`, `.`) && " + oneOf(replaying[g])
			}
			r.Priority++
			r.Middlewares = []string{headersOf(g.target.class), compression, outage, elsewhere, again}
			c.HTTP.Routers[name+"-"+elsewhere] = r
		}
	}
}

// oneOf is a rule for paths of these shapes.
func oneOf(shapes []string) string {
	return fmt.Sprintf("PathRegexp(`^(?:%s)$`)", strings.Join(slices.Sorted(slices.Values(shapes)), "|"))
}

// addService adds a service. Of several replicas only those take requests that say that they are ready: one that starts, stops or
// does not move is left out after five seconds at most. One replica alone is not asked, because nobody could take its place, and
// a process that is busy must not lose its callers for that.
func (c *Configuration) addService(name string, b LoadBalancer) {
	if len(b.Servers) > 1 {
		b.HealthCheck = &HealthCheck{Path: readyPath, Interval: "500ms", UnhealthyInterval: "100ms", Timeout: "5s"}
		c.HTTP.Services[name+orDown] = Service{Failover: &Failover{Service: name, Fallback: down}}
	}
	c.HTTP.Services[name] = Service{LoadBalancer: &b}
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
	return map[string]Middleware{
		headersOf(classRest):   {Headers: &api},
		headersOf(classStream): {Headers: &api},
		headersOf(classPublic): cors(api, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
		headersOf(classPage):   {Headers: &page},
		headersOf(classAsset):  cors(Headers{CustomRequestHeaders: request, CustomResponseHeaders: secure}, "GET", "HEAD"),
		compression: {Compress: &Compress{
			IncludedContentTypes: []string{
				"application/json", "application/javascript", "application/manifest+json", "image/svg+xml",
				"text/html", "text/css", "text/javascript", "text/plain", "text/csv", "text/calendar",
			},
			Encodings: []string{"zstd", "gzip", "br"},
		}},
		// Services never answer 502 or 504. These come from Traefik: no process listens, or none answered in time.
		outage: {Errors: &Errors{
			Status: []string{"502", "504"}, StatusRewrites: map[string]int{"502": 503, "504": 503},
			Service: answers, Query: unavailablePath + "?url={url}",
		}},
		// A request that reached no process goes to the next replica: one is stopping or dead. Traefik repeats none of which it has
		// sent a byte here, so nothing is done twice.
		again: {Retry: &Retry{Attempts: 4, InitialInterval: "50ms"}},
		// A request that only reads, or has an Idempotency-Key, goes to the next replica also when its process dies over it, which is a 502, or a
		// 504 if its machine is gone too. The request and its answer are buffered for that. Under load it may be given to the dead process again,
		// over further connections that were kept, hence five times. A process that has come back before the next check refuses with 503 until it
		// is ready. Once is enough for that, and a service that is overloaded gets twice its requests at most.
		elsewhere:   {Buffering: &Buffering{MaxRequestBodyBytes: proto.MostBody, RetryExpression: "ResponseCode() == 502 && Attempts() < 6 || ResponseCode() == 504 && Attempts() < 3 || ResponseCode() == 503 && Attempts() < 2"}},
		unknown:     {AddPrefix: &AddPrefix{unknownPath}},
		unavailable: {ReplacePath: &ReplacePath{unavailablePath}},
		tooLarge:    {ReplacePath: &ReplacePath{tooLargePath}},
	}
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
