package controller

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/gateway/internal/panel"
	"frontdesk/libs/trust"
	"frontdesk/libs/version"
	"frontdesk/proto"
)

// admin serves health, metrics, the configuration and the page for operators.
func (c *Controller) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		waits := c.waitsFor()
		if len(waits) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(struct {
			Ready    bool            `json:"ready"`
			WaitsFor []panel.Waiting `json:"waits_for,omitempty"`
		}{len(waits) == 0, waits})
	})
	mux.Handle("GET /metrics", c.metrics.handler())
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if s := c.condition.current(); s.wanted != nil {
			_, _ = w.Write(s.wanted.JSON())
		}
	})
	mux.Handle("/", c.panel.Handler())
	return mux
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// waitsFor is why the gateway is not ready; nothing when Traefik serves the configuration of the newest tables.
func (c *Controller) waitsFor() []panel.Waiting {
	s := c.condition.current()
	switch {
	case s.inForce:
		return nil
	case s.wanted == nil:
		return []panel.Waiting{{For: "routes and apps", Why: s.why("the tables are being read", subjectKafka)}}
	}
	return []panel.Waiting{{For: "Traefik", Why: s.why("it does not serve the newest configuration yet", subjectFile, subjectTraefik)}}
}

// forgotten is the age at which the page leaves out an instance that died without removing its presence.
const forgotten = 5 * time.Minute

// instances are the processes that have published their presence, this one and Traefik.
func (c *Controller) instances() []panel.Instance {
	now := time.Now()
	self := panel.Instance{Name: c.instance, Service: proto.Gateway, Version: version.String(), AdminURL: "http://" + c.settings.AdminListen,
		AppsVersion: c.condition.current().apps, Gather: c.metrics.registry.Gather, Ready: c.waitsFor}
	traefik := panel.Instance{Name: panel.Traefik, Service: panel.Traefik, AdminURL: "http://" + c.settings.TraefikAPI, ReadyPath: "/ping"}
	all := []panel.Instance{self, traefik}
	for key, p := range c.presence.All() {
		if now.Sub(p.GetAt().AsTime()) > forgotten || key == c.instance {
			continue
		}
		i := panel.Instance{Name: key, Service: p.GetService(), Version: p.GetVersion(), Seen: p.GetAt().AsTime(), AppsVersion: p.GetAppsVersion()}
		switch err := c.mayCall(key, p); {
		case i.Service == proto.Gateway:
			// It publishes its presence only while its Traefik serves its configuration.
			i.Elsewhere = "another controller: its own page has its figures"
		case err != nil:
			i.Problem = err.Error()
		default:
			i.AdminURL = p.GetAdminUrl()
		}
		all = append(all, i)
	}
	return all
}

// mayCall returns nil if the admin port of a presence may be called: its service has signed the address, which is where services may be or
// an address of this network. It refuses addresses at which a host talks to itself or to its provider.
func (c *Controller) mayCall(instance string, p *proto.Presence) error {
	m := trust.Message{Topic: proto.PresenceTopic, Key: instance, Value: []byte(p.GetAdminUrl())}
	if _, err := c.bus.Trust.Verify(p.GetService(), m, p.GetAdminSignature()); err != nil {
		return fmt.Errorf("the address of its admin port is not signed by its service: %w", err)
	}
	u, err := url.Parse(p.GetAdminUrl())
	if err != nil || u.Scheme != "http" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("its admin port has no address but %q", p.GetAdminUrl())
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err == nil && ip.IsGlobalUnicast() || c.settings.mayBeAt(p.GetService(), p.GetAdminUrl()) {
		return nil
	}
	return fmt.Errorf("its admin port is at %q, where SVC_GATEWAY_HOSTS allows no service", u.Host)
}

// gateway is what the page shows of the gateway itself.
func (c *Controller) gateway() panel.Gateway {
	s := c.condition.current()
	manifests, apps, refusals := c.tables()
	for topic, n := range map[string]int64{proto.ManifestTopic: c.manifests.Refused(), proto.AppsTopic: c.apps.Refused()} {
		if n > 0 {
			refusals = append(refusals, fmt.Sprintf("%s: messages that are unreadable, without the signature of their service or old were left out: %d; the log names them", topic, n))
		}
	}
	slices.Sort(refusals)
	g := panel.Gateway{Attention: append(s.sentences(), refusals...), InForce: s.inForce, AppsVersion: s.apps,
		PublicURL: c.settings.PublicURL.String(), TraefikAPI: c.settings.TraefikAPI}
	host, _, _ := net.SplitHostPort(g.TraefikAPI) // an address was required
	g.TraefikLinks = isLoopback(host)
	if s.inForce {
		g.Since = s.since.UTC().Format(time.DateTime) + " UTC"
	}
	for _, a := range apps.Items {
		g.Apps = append(g.Apps, panel.App{ID: a.ID, Name: a.Name, On: apps.On(a.ID), AlwaysOn: a.AlwaysOn})
	}
	for _, m := range manifests {
		for _, r := range m.GetRoutes() {
			g.Routes = append(g.Routes, panel.Route{Method: r.GetMethod(), Path: "/v1" + r.GetPath(), Service: m.GetService(), App: r.GetApp(), Class: classOf(r), Off: !apps.On(r.GetApp())})
		}
		for _, p := range m.GetPages() {
			g.Routes = append(g.Routes, panel.Route{Method: "any", Path: p.GetPath(), Service: m.GetService(), App: p.GetApp(), Class: classOfPage(p), Off: !apps.On(p.GetApp())})
		}
	}
	slices.SortFunc(g.Routes, func(a, b panel.Route) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	if s.wanted != nil {
		g.Hash = s.wanted.Hash
		for name, r := range s.wanted.HTTP.Routers {
			g.Routers = append(g.Routers, panel.Router{Name: name, Rule: r.Rule, Service: r.Service, Priority: r.Priority})
		}
		slices.SortFunc(g.Routers, func(a, b panel.Router) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
		})
	}
	return g
}
