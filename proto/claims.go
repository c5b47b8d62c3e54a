package proto

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed operations.json
var operationsJSON []byte

// beyond are first segments of API paths, or whole paths, under which a service has operations that operations.json does not list. Under
// a segment that is listed for one service alone, that one may have further operations.
var beyond = map[string][]string{
	"settings": {"auth", "live", "me", "mails", "media", "oauth", "pages", "abilities", "site", "staff", "settings"},
	"booking":  {"statistics/bookings", "abilities/svc/get-booking-statistics", "abilities/svc/find-time-off"},
	"contacts": {"statistics/contacts", "abilities/svc/get-contact-statistics", "abilities/svc/find-imports", "abilities/svc/create-contacts", "abilities/svc/update-tag",
		"abilities/svc/merge-tags", "abilities/svc/delete-tag"},
	"forms":    {"statistics/submissions", "abilities/svc/get-submission-statistics", "abilities/svc/preview-form"},
	"webhooks": {"events", "webhook-receivers", "abilities/svc/find-events", "abilities/svc/replay-webhook"},
}

// pageClaims are the pages of each service. One that ends in a slash stands for everything behind it.
var pageClaims = map[string][]string{
	"settings": {"/account", "/account/", "/admin", "/admin/", "/mcp", "/v1/docs", "/v1/docs/", "/oauth/", "/.well-known/", "/{$}", "/{portal}/", "/_ui/portal/", "/_ui/settings/", "/_ui/w/v1/svc.js", "/robots.txt", "/sitemap.xml", "/{slug}"},
	"contacts": {"/marketing/", "/_ui/contacts/"},
	"booking":  {"/book", "/{portal}/book", "/manage", "/_ui/booking/", "/_ui/w/"},
	"forms":    {"/f/", "/_ui/forms/"},
}

// listing is operations.json: who has an operation, an ability, and the operations under a first segment.
type listing struct {
	operations, abilities map[string]string
	segments              map[string][]string
}

var listed = sync.OnceValue(func() listing {
	var all []struct{ Method, Path, Service, Ability string }
	if err := json.Unmarshal(operationsJSON, &all); err != nil {
		panic(err) // the file is part of the program
	}
	l := listing{map[string]string{}, map[string]string{}, map[string][]string{}}
	for _, o := range all {
		l.operations[operation(o.Method, o.Path)] = o.Service
		if o.Ability != "" {
			l.abilities[o.Ability] = o.Service
		}
		if s := segment(o.Path); !slices.Contains(l.segments[s], o.Service) {
			l.segments[s] = append(l.segments[s], o.Service)
		}
	}
	return l
})

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// operation is equal for paths that match the same requests.
func operation(method, path string) string {
	return method + " " + parameter.ReplaceAllString(path, "{}")
}

func segment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// MayRoute returns nil if a service may have an operation at a path without /v1, or says whose it is.
func MayRoute(service, method, path string) error {
	l := listed()
	owner, ok := l.operations[operation(method, path)]
	if name, isAbility := strings.CutPrefix(path, "/abilities/"); isAbility && !ok {
		owner, ok = l.abilities[strings.TrimSuffix(name, "/run")]
	}
	if !ok {
		s := segment(path)
		if slices.Equal(l.segments[s], []string{service}) || slices.Contains(beyond[service], s) || slices.Contains(beyond[service], strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/run")) {
			return nil
		}
		return fmt.Errorf("%s %s is no operation of %s", method, path, service)
	}
	if owner != service {
		return fmt.Errorf("%s %s belongs to %s", method, path, owner)
	}
	return nil
}

// MayShow returns nil if a service may have pages at a path or under a prefix.
func MayShow(service, path string) error {
	for _, claim := range pageClaims[service] {
		if path == claim || strings.HasSuffix(claim, "/") && strings.HasPrefix(path, claim) {
			return nil
		}
	}
	return fmt.Errorf("%s is no page of %s", path, service)
}
