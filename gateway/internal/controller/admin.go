package controller

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/proto"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// admin serves health, metrics and the page that shows what the gateway does.
func (c *Controller) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch s := c.current(); {
		case s.inForce:
			say(w, http.StatusOK, "ok")
		default:
			say(w, http.StatusServiceUnavailable, cmp.Or(s.problem, "the tables are being read"))
		}
	})
	mux.Handle("GET /metrics", c.metrics.handler())
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if s := c.current(); s.wanted != nil {
			_, _ = w.Write(s.wanted.JSON())
		}
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if err := page.Execute(&b, c.view(time.Now())); err != nil {
			slog.ErrorContext(r.Context(), "page", "error", err)
			say(w, http.StatusInternalServerError, "the page cannot be shown")
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, _ = b.WriteTo(w)
	})
	return mux
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// View is what the page shows.
type View struct {
	Hash, Problem    string
	InForce          bool
	Since            string
	AppsVersion      int64
	PublicURL        string
	TraefikAPI       string
	Services         []ServiceView
	Apps             []App
	Routers          []RouterView
	Routes, Switched int
}

// ServiceView is a service with its manifest and the instances that report themselves.
type ServiceView struct {
	Name, App string
	URLs      []string
	Routes    int
	Pages     []string
	Instances []InstanceView
}

// InstanceView is one instance of a service; Late when its last sign is older than three heartbeats.
type InstanceView struct {
	Name, Seen  string
	AppsVersion int64
	Late        bool
}

// RouterView is a router of Traefik.
type RouterView struct {
	Name, Rule, Service string
	Priority            int
}

// forgotten is the age at which the page leaves out an instance that died without removing its presence.
const forgotten = 5 * time.Minute

// view describes the gateway as it is at now.
func (c *Controller) view(now time.Time) View {
	s := c.current()
	manifests, apps := c.tables()
	v := View{Problem: s.problem, InForce: s.inForce, AppsVersion: s.apps, Apps: apps.Items,
		PublicURL: c.settings.PublicURL.String(), TraefikAPI: c.settings.TraefikAPI}
	if s.inForce {
		v.Since = s.since.UTC().Format(time.DateTime) + " UTC"
	}
	instances := map[string][]InstanceView{}
	for _, p := range c.presence.All() {
		age := now.Sub(p.GetAt().AsTime())
		if age > forgotten {
			continue
		}
		instances[p.GetService()] = append(instances[p.GetService()], InstanceView{
			Name: p.GetInstance(), Seen: age.Round(time.Second).String() + " ago", AppsVersion: p.GetAppsVersion(), Late: age > 3*heartbeat,
		})
	}
	manifests = append(manifests, &proto.Manifest{Service: "gateway", BaseUrl: c.settings.BaseURL})
	for _, m := range manifests {
		sv := ServiceView{Name: m.GetService(), App: m.GetApp().GetName(), URLs: strings.Split(m.GetBaseUrl(), ","),
			Routes: len(m.GetRoutes()), Instances: instances[m.GetService()]}
		for _, p := range m.GetPages() {
			sv.Pages = append(sv.Pages, p.GetPath())
		}
		for _, r := range m.GetRoutes() {
			if v.Routes++; !apps.On(r.GetApp()) {
				v.Switched++
			}
		}
		slices.SortFunc(sv.Instances, func(a, b InstanceView) int { return cmp.Compare(a.Name, b.Name) })
		v.Services = append(v.Services, sv)
	}
	slices.SortFunc(v.Services, func(a, b ServiceView) int { return cmp.Compare(a.Name, b.Name) })
	if s.wanted != nil {
		v.Hash = s.wanted.Hash
		for name, r := range s.wanted.HTTP.Routers {
			v.Routers = append(v.Routers, RouterView{name, r.Rule, r.Service, r.Priority})
		}
		slices.SortFunc(v.Routers, func(a, b RouterView) int {
			return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
		})
	}
	return v
}
