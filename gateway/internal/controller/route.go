package controller

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"frontdesk/proto"
)

// App is a switchable part of the product, as settings.apps holds it.
type App struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Enabled  bool   `json:"enabled"`
	AlwaysOn bool   `json:"always_on"`
}

// Apps is one version of settings.apps.
type Apps struct {
	Version int64
	Items   []App
}

// On reports whether the app's routes exist. The empty app and an app without a record are on.
func (a Apps) On(id string) bool {
	for _, app := range a.Items {
		if app.ID == id {
			return app.Enabled || app.AlwaysOn
		}
	}
	return true
}

// The classes of routes; each has its own middlewares.
const (
	classRest    = "rest"
	classAbility = "ability"
	classPublic  = "public"
	classStream  = "stream"
	classPage    = "page"
	classAsset   = "asset"
)

// target is where a route leads: to one class of an app's routes in a service, or to the controller if service is empty.
type target struct {
	service, app, class string
}

func (t target) compare(o target) int {
	return cmp.Or(cmp.Compare(t.service, o.service), cmp.Compare(t.app, o.app), cmp.Compare(t.class, o.class))
}

// route is a shape that leads to a target. Of two routes that match a path, the one on the higher level gets it.
type route struct {
	shape  shape
	target target
	// methods are those of this route if the shape leads elsewhere for others; nil for any.
	methods []string
	// replays: a POST may be repeated with its Idempotency-Key.
	replays bool
	level   int
}

// assetPrefix is where pages keep scripts, styles and fonts. Other sites load the widgets' modules from
// there, which browsers allow only with CORS headers.
const assetPrefix = "/_ui/"

// abilityPrefix is where services run abilities for assistants and programs.
const abilityPrefix = "/abilities/"

func classOf(r *proto.Route) string {
	switch {
	case r.GetPublic():
		return classPublic
	case r.GetStream():
		return classStream
	case strings.HasPrefix(r.GetPath(), abilityPrefix):
		return classAbility
	}
	return classRest
}

func classOfPage(p *proto.Page) string {
	switch {
	case p.GetStream():
		return classStream
	case strings.HasPrefix(p.GetPath(), assetPrefix):
		return classAsset
	}
	return classPage
}

// addressesOf are the patterns of a page: its own, and that of its address with a slash at the end, which its service leads to the page.
func addressesOf(pattern, class string) []string {
	if class != classPage || strings.HasSuffix(pattern, "/") || strings.HasSuffix(pattern, "...}") || strings.HasSuffix(pattern, "{$}") {
		return []string{pattern}
	}
	return []string{pattern, pattern + "/{$}"}
}

// place is a path with all that the manifests claim of it; of a path of an app that is off, nothing.
type place struct {
	shape shape
	// targets have their methods; nil for all.
	targets map[target][]string
	// replays are the targets whose POST may be repeated.
	replays map[target]bool
	methods []string
}

// claims reads the manifests, which are sorted by service, and returns the places, sorted. If two services claim one path and method, the first
// gets it. A path that cannot be routed is left out.
func claims(manifests []*proto.Manifest, apps Apps) []*place {
	places := map[string]*place{}
	at := func(pattern string) *place {
		s, err := parseShape(pattern)
		if err != nil {
			return nil
		}
		if places[s.key()] == nil {
			places[s.key()] = &place{shape: s, targets: map[target][]string{}, replays: map[target]bool{}}
		}
		return places[s.key()]
	}
	// Unknown paths under /v1 lead to the controller, however general the pages of a service are.
	at("/v1/")
	for _, m := range manifests {
		for _, r := range m.GetRoutes() {
			p := at("/v1" + r.GetPath())
			if p == nil || !apps.On(r.GetApp()) || slices.Contains(p.methods, r.GetMethod()) {
				continue
			}
			t := target{m.GetService(), r.GetApp(), classOf(r)}
			p.targets[t] = append(p.targets[t], r.GetMethod())
			p.methods = append(p.methods, r.GetMethod())
			if r.GetReplays() && r.GetMethod() == http.MethodPost {
				p.replays[t] = true
			}
		}
		for _, page := range m.GetPages() {
			t := target{m.GetService(), page.GetApp(), classOfPage(page)}
			for _, pattern := range addressesOf(page.GetPath(), t.class) {
				if p := at(pattern); p != nil && apps.On(page.GetApp()) && len(p.targets) == 0 {
					p.targets[t] = nil
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(places), func(a, b *place) int { return cmp.Compare(a.shape.key(), b.shape.key()) })
}

// routes are where the requests for a place lead.
func (p *place) routes() []route {
	targets := slices.SortedFunc(maps.Keys(p.targets), target.compare)
	if len(targets) == 0 {
		return []route{{shape: p.shape}}
	}
	if len(targets) == 1 {
		return []route{{shape: p.shape, target: targets[0], replays: p.replays[targets[0]]}}
	}
	// Several targets share the path, each with its methods. Other methods are 405: from the service if it is the only
	// one, else from the controller, which has the methods of all.
	var all []route
	rest := targets[0]
	for _, t := range targets {
		if t.service != rest.service {
			rest = target{}
		}
		all = append(all, route{shape: p.shape, target: t, methods: withImplied(p.targets[t], t.class), replays: p.replays[t]})
	}
	return append(all, route{shape: p.shape, target: rest})
}

// plan returns the routes of the manifests, and the paths of the API with their methods, from the most specific shape to the most general.
func plan(manifests []*proto.Manifest, apps Apps) (routes []route, table []accepted) {
	for _, p := range claims(manifests, apps) {
		routes = append(routes, p.routes()...)
		if len(p.methods) > 0 {
			table = append(table, accept(p.shape, p.methods))
		}
	}
	slices.SortFunc(table, func(a, b accepted) int { return b.shape.compare(a.shape) })
	return levels(routes), table
}

// withImplied adds HEAD to GET, and for public routes OPTIONS, by which browsers ask before they send. The methods are sorted.
func withImplied(methods []string, class string) []string {
	methods = slices.Clone(methods)
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	if class == classPublic {
		methods = append(methods, http.MethodOptions)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// levels orders the routes that share paths but not the target. Routes to the controller that stand above no other are left
// out: its catch-all router takes these paths anyway.
func levels(routes []route) []route {
	slices.SortStableFunc(routes, func(a, b route) int {
		return cmp.Or(a.shape.compare(b.shape), cmp.Compare(len(a.methods), len(b.methods)))
	})
	kept := routes[:0]
	for _, r := range routes {
		for _, below := range kept {
			if below.target != r.target && below.shape.overlaps(r.shape) && !disjoint(below.methods, r.methods, below.shape, r.shape) {
				r.level = max(r.level, below.level+1)
			}
		}
		if r.target.service != "" || r.level > 0 || len(r.methods) > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// disjoint reports that two routes have one shape and share no method. A more specific shape hides the other, whatever the
// methods.
func disjoint(a, b []string, of, than shape) bool {
	if a == nil || b == nil || of.key() != than.key() {
		return false
	}
	return !slices.ContainsFunc(a, func(m string) bool { return slices.Contains(b, m) })
}

// accepted is the methods that a path of the API takes.
type accepted struct {
	shape   shape
	path    *regexp.Regexp
	methods []string
}

func accept(s shape, methods []string) accepted {
	return accepted{s, regexp.MustCompile("^" + s.regexp() + "$"), withImplied(methods, classRest)}
}

// methodsAt returns the methods of a path, none if the path does not exist. The table runs from the most specific shape to the
// most general.
func methodsAt(table []accepted, path string) []string {
	for _, a := range table {
		if a.path.MatchString(path) {
			return a.methods
		}
	}
	return nil
}
