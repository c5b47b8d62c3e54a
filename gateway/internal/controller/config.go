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
}

// Names in the configuration that differ from every service's: a service's name has no upper case.
const (
	entryPoint  = "web"
	answers     = "ANSWERS"
	transport   = "TRANSPORT"
	compression = "COMPRESS"
	outage      = "OUTAGE"
	unknown     = "UNKNOWN"
	unavailable = "UNAVAILABLE"
	tooLarge    = "TOO-LARGE"
	marker      = "MARKER"
)

// Paths of the controller's answers, behind AnswersURL. Visitors cannot ask for them: Traefik puts unknownPath before every
// path that comes from outside.
const (
	unknownPath     = "/unknown"
	unavailablePath = "/unavailable"
	tooLargePath    = "/too-large"
)

// Priorities of routers: the catch-all, the routes from level 0 on, the body limit, the marker.
const (
	priorityUnknown  = 1
	priorityRoutes   = 10
	priorityTooLarge = 100_000
	priorityMarker   = 100_001
)

// tooLargeRule matches requests that announce a body of 35 MB or more, so that such bodies do not reach a service. The services
// enforce the exact limits of 1 MiB, and 32 MiB for imports.
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
	c := &Configuration{paths: paths, HTTP: HTTP{
		Routers:     map[string]Router{},
		Middlewares: middlewares(opts),
		Services: map[string]Service{
			answers: {LoadBalancer{Servers: []Server{{opts.AnswersURL}}, ServersTransport: transport}},
		},
		ServersTransports: map[string]ServersTransport{transport: {
			// The default of 2 makes every burst open and close connections.
			MaxIdleConnsPerHost: 256,
			ForwardingTimeouts:  ForwardingTimeouts{DialTimeout: "2s", ResponseHeaderTimeout: "60s", IdleConnTimeout: "75s"},
		}},
	}}

	reachable := map[string]bool{}
	for _, m := range manifests {
		if servers := serversOf(m.GetBaseUrl()); len(servers) > 0 {
			reachable[m.GetService()] = true
			c.HTTP.Services[m.GetService()] = Service{LoadBalancer{Servers: servers, ServersTransport: transport}}
		}
	}
	c.addRoutes(routes, reachable)

	c.HTTP.Routers[unknown] = Router{
		EntryPoints: []string{entryPoint}, Rule: "PathPrefix(`/`)", Priority: priorityUnknown,
		Middlewares: []string{headersOf(classPublic), unknown}, Service: answers,
	}
	c.HTTP.Routers[tooLarge] = Router{
		EntryPoints: []string{entryPoint}, Rule: tooLargeRule, Priority: priorityTooLarge,
		Middlewares: []string{headersOf(classPublic), tooLarge}, Service: answers,
	}
	c.seal()
	return c
}

// addRoutes makes one router of all routes with one target, one level and the same methods.
func (c *Configuration) addRoutes(routes []route, reachable map[string]bool) {
	type group struct {
		target  target
		level   int
		methods string
	}
	paths := map[group][]string{}
	for _, r := range routes {
		g := group{r.target, r.level, strings.Join(r.methods, " ")}
		paths[g] = append(paths[g], r.shape.regexp())
	}
	for g, shapes := range paths {
		slices.Sort(shapes)
		rule := fmt.Sprintf("PathRegexp(`^(?:%s)$`)", strings.Join(shapes, "|"))
		if methods := strings.Fields(g.methods); len(methods) > 0 {
			rule = fmt.Sprintf("(Method(`%s`)) && %s", strings.Join(methods, "`) || Method(`"), rule)
		}
		r := Router{EntryPoints: []string{entryPoint}, Rule: rule, Priority: priorityRoutes + g.level}
		switch {
		case g.target.service == "":
			r.Service, r.Middlewares = answers, []string{headersOf(classPublic), unknown}
		case !reachable[g.target.service]:
			r.Service, r.Middlewares = answers, []string{headersOf(g.target.class), unavailable}
		case g.target.class == classStream:
			r.Service, r.Middlewares = c.streaming(g.target.service), []string{headersOf(classStream), outage}
		default:
			r.Service, r.Middlewares = g.target.service, []string{headersOf(g.target.class), compression, outage}
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
	}
}

// streaming adds a twin of the service whose answers Traefik passes on write by write, and returns its name.
func (c *Configuration) streaming(service string) string {
	s := c.HTTP.Services[service]
	s.LoadBalancer.ResponseForwarding = &ResponseForwarding{FlushInterval: "-1ns"}
	c.HTTP.Services[service+"-STREAM"] = s
	return service + "-STREAM"
}

// serversOf reads the base URLs of a service's replicas, separated by commas. It leaves out all but plain http and https
// addresses.
func serversOf(baseURLs string) []Server {
	var servers []Server
	for u := range strings.SplitSeq(baseURLs, ",") {
		p, err := url.Parse(strings.TrimSpace(u))
		if err == nil && (p.Scheme == "http" || p.Scheme == "https") && p.Hostname() != "" && !strings.ContainsAny(p.Host, "{}`") {
			servers = append(servers, Server{p.Scheme + "://" + p.Host})
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
		unknown:     {AddPrefix: &AddPrefix{unknownPath}},
		unavailable: {ReplacePath: &ReplacePath{unavailablePath}},
		tooLarge:    {ReplacePath: &ReplacePath{tooLargePath}},
	}
}

// seal hashes the configuration and adds the marker router, by which the controller sees that Traefik serves it.
func (c *Configuration) seal() {
	sum := sha256.Sum256(c.JSON())
	c.Hash = hex.EncodeToString(sum[:8])
	c.HTTP.Routers[marker] = Router{
		EntryPoints: []string{entryPoint}, Rule: "Path(`" + MarkerPath(c.Hash) + "`)", Priority: priorityMarker,
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
