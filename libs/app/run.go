package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/adminport"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// The parts of a stop and the seconds they take at most: the whole is less than the time after which supervisors kill.
const (
	drainWithin  = 4 * time.Second
	finishWithin = 4 * time.Second
	flushWithin  = time.Second
	closeWithin  = time.Second / 2
)

// Run runs s until ctx ends: it then takes no more requests, finishes what it has, sends what waits and closes, ten seconds
// after SVC_DRAIN at the latest. It waits for a database and brokers that are not there yet; requests are refused with 503 meanwhile.
func Run(ctx context.Context, cfg Config, s Service) error {
	shutdown, metrics, err := telemetry(ctx, s.Name, cfg)
	if err != nil {
		return err
	}
	defer shutdown()
	if cfg.Listen == "" {
		cfg.Listen = fmt.Sprintf("127.0.0.1:%d", s.Port)
	}
	if cfg.AdminListen == "" {
		cfg.AdminListen = fmt.Sprintf("127.0.0.1:%d", s.Port+10)
	}
	// Listen first, so that a port in use is reported at once.
	api, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return err
	}
	defer api.Close()
	adminPort, err := net.Listen("tcp", cfg.AdminListen)
	if err != nil {
		return err
	}
	cfg.Listen, cfg.AdminListen = api.Addr().String(), adminPort.Addr().String()
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://" + cfg.Listen
	}

	r := &runner{Service: s, instance: s.Name + "-" + uuid.NewString()[:8], served: make(chan error, 1)}
	r.step.Store(&waiting{"its start", "the process has just begun"})
	r.door = newDoor(r.waitsFor)
	server := r.door.server()
	defer server.Close()
	go func() { r.served <- server.Serve(api) }()
	hosts := slices.Clone(cfg.AdminHosts)
	if base, err := url.Parse(cfg.BaseURL); err == nil {
		hosts = append(hosts, base.Hostname())
	}
	admin := &http.Server{Handler: adminport.Guard(r.admin(cfg, metrics), hosts...), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = admin.Serve(adminPort) }()
	defer admin.Close()
	disconnect, err := r.build(ctx, cfg)
	defer disconnect()
	switch {
	case err == nil:
		return r.run(ctx, server)
	case ctx.Err() != nil:
		return nil // told to stop before it was up
	}
	return err
}

type runner struct {
	Service
	instance string

	// door is open once the others are set.
	door     *door
	stopping atomic.Bool
	// step is what the start waits for, until built says that kit and parts are set.
	step     atomic.Pointer[waiting]
	built    atomic.Bool
	served   chan error
	kit      *Kit
	relay    *relay.Relay
	parts    *Parts
	consumer *bus.Consumer
	version  chan int64 // the newest of settings.apps that is in force and was not published yet
	// manifest is the sum of what this replica has announced.
	manifest atomic.Pointer[[sha256.Size]byte]
}

// inTime waits for f, but no longer than within.
func inTime(within time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}

// run starts every part and stops them in order.
func (r *runner) run(ctx context.Context, server *http.Server) error {
	k := r.kit
	r.built.Store(true)
	// Requests need the copies, the consumer and the relay until the last of them is answered. Jobs and workers end at once.
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	var running sync.WaitGroup
	start := func(ctx context.Context, f func(context.Context)) { running.Go(func() { f(ctx) }) }

	for _, t := range r.tables() {
		start(background, t.Run)
	}
	// Without the copies nobody is known and every app counts as on, so nothing is decided before.
	for !r.copied() {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.served:
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
	unobserve, err := observe(k.DB, r.parts.Gauges)
	if err != nil {
		return err
	}
	defer unobserve()
	failures, _ := otel.Meter("frontdesk").Int64Counter("frontdesk.relay.errors", metric.WithUnit("{round}"), metric.WithDescription("rounds of the relay that failed and are tried again"))
	failures.Add(ctx, 0)
	start(background, func(ctx context.Context) {
		r.relay.Run(ctx, func(err error) {
			failures.Add(ctx, 1)
			slog.WarnContext(ctx, "relay tries again", "error", err)
		})
	})
	host, _ := os.Hostname() // without one the address alone is the name
	r.consumer = &bus.Consumer{Bus: k.Bus, DB: k.DB, Member: r.Name + "@" + host + "/" + k.Config.Listen, Follows: r.follows()}
	start(background, r.consumer.Run)
	start(background, k.rehearsals.run)
	for _, f := range r.parts.Run {
		start(background, f)
	}
	for _, j := range append(r.parts.Jobs, Job{"clean", time.Hour, k.DB.Clean}, Job{"counts", 5 * time.Second, k.DB.AddUpCounts}, Job{"statistics", 5 * time.Second, k.DB.Analyze},
		Job{"forget", 10 * time.Second, func(ctx context.Context) error { return k.DB.ForgetAgain(ctx, r.parts.Personal.forget) }}) {
		start(ctx, func(ctx context.Context) { r.repeat(ctx, j) })
	}
	for _, w := range r.parts.Workers {
		for range max(w.AtOnce, 1) {
			start(ctx, func(ctx context.Context) { w.work(ctx, r.kit.DB.News) })
		}
	}
	start(background, r.presence)

	mux := http.NewServeMux()
	mux.Handle("/v1/", r.parts.Ops.Handler())
	if r.parts.Pages != nil {
		mux.Handle("/", forVisitors(r.parts.Pages))
		for _, p := range r.parts.PagePaths {
			if strings.HasPrefix(p.GetPath(), "/v1/") {
				mux.Handle(p.GetPath(), forVisitors(r.parts.Pages))
			}
		}
	}
	r.door.open(mux)
	// Only now may the gateway send requests. A process that is told to stop meanwhile still answers those under way.
	if err := r.announce(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	start(ctx, r.keepAnnounced)
	slog.InfoContext(ctx, "ready to serve", "listen", k.Config.Listen, "instance", r.instance)

	select {
	case <-ctx.Done():
	case err = <-r.served:
	}
	r.stopping.Store(true)
	r.door.leave(k.Config.Drain)
	r.parts.Ops.EndStreams()
	ctx = context.WithoutCancel(ctx)
	stop := func(what string, within time.Duration, f func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		if e := f(ctx); e != nil {
			slog.WarnContext(ctx, what, "error", e)
		}
	}
	stop("requests were cut off", drainWithin, server.Shutdown)
	_ = server.Close()
	stopBackground()
	if !inTime(finishWithin, running.Wait) {
		slog.WarnContext(ctx, "background work was cut off")
	}
	stop("outbox waits for the next start", flushWithin, func(ctx context.Context) error {
		return errors.Join(r.relay.Flush(ctx), k.Bus.Send(ctx, []db.Message{{Topic: proto.PresenceTopic, Key: r.instance}}))
	})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// tables are all copies of topics in memory.
func (r *runner) tables() []Table {
	return append([]Table{r.kit.Identity.Table, r.kit.Apps.table, r.kit.Site.Table, r.kit.Endpoints}, r.parts.Tables...)
}

// follows are all topics that the service consumes. Erasures come first.
func (r *runner) follows() []bus.Follow {
	return append([]bus.Follow{{Topic: proto.ForgetTopic, Handle: r.forgetPerson}}, r.parts.Follows...)
}

// forVisitors keeps what visitors open from taking all connections of the database.
func forVisitors(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(db.Within(r.Context(), db.Visitors)))
	})
}
