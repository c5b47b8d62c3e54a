// Package panel is the page for operators: what every process measures, for the last hour and in memory only, the instances, apps and routes,
// and the parked messages, which can be replayed from here.
package panel

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Instance is a process that the panel shows.
type Instance struct {
	Name, Service, Version string
	// AdminURL is where its admin port is; empty for one that has none that could be called, which Problem explains.
	AdminURL, Problem string
	// Elsewhere says where the figures of a process are that is not asked for them; its presence alone says that it is ready.
	Elsewhere string
	// Seen is when it last published its presence; zero for a process without one, whose answers alone count.
	Seen        time.Time
	AppsVersion int64
	// Gather reads the metrics of this process; nil for all others, which are asked at AdminURL.
	Gather func() ([]*dto.MetricFamily, error)
	// Ready returns why this process is not ready; nil for all others.
	Ready func() []Waiting
	// ReadyPath answers 200 if the process is ready; /readyz unless it is set.
	ReadyPath string
}

// Waiting is a condition of readiness that does not hold, and the reason.
type Waiting struct {
	For string `json:"for"`
	Why string `json:"why"`
}

// Gateway is what the gateway does with requests.
type Gateway struct {
	Hash, Since           string
	InForce               bool
	AppsVersion           int64
	PublicURL, TraefikAPI string
	TraefikLinks          bool     // a browser on this machine finds TraefikAPI
	Attention             []string // sentences about what fails and what is left out
	Apps                  []App
	Routes                []Route
	Routers               []Router
}

// App is an app and whether it is on.
type App struct {
	ID, Name     string
	On, AlwaysOn bool
}

// Route is a path that a service answers.
type Route struct {
	Method, Path, Service, App, Class string
	Off                               bool // because App is
}

// Router is a router of Traefik.
type Router struct {
	Name, Rule, Service string
	Priority            int
}

// Source is where the panel learns what there is.
type Source struct {
	// Services are shown even if no instance of them is there.
	Services  []string
	Instances func() []Instance
	Gateway   func() Gateway
}

// Panel is the page. Run keeps its figures up to date.
type Panel struct {
	source      Source
	client      *http.Client
	replayLasts time.Duration
	now         func() time.Time
	began       time.Time

	mu     sync.Mutex
	tracks map[string]*track // by instance
}

// New makes a panel without figures.
func New(s Source) *Panel {
	return &Panel{source: s, now: time.Now, began: time.Now(), tracks: map[string]*track{}, replayLasts: replayLasts,
		client: &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
			// An admin port leads nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Run reads the figures of every instance at this interval, which is at most Every, until ctx ends.
func (p *Panel) Run(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.scrape(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
