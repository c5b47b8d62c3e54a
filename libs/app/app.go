// Package app runs a service: configuration, telemetry, HTTP, relay, consumers, jobs, and a stop that
// loses nothing.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Service is one of the five services: its name, schema and parts.
type Service struct {
	Name string
	// Port is where it listens when SVC_LISTEN is empty; the admin port is ten higher.
	Port int
	// Migrations holds migrations/*.sql.
	Migrations fs.FS
	// Build makes the parts. The schema is up to date by then; nothing runs yet.
	Build func(ctx context.Context, k *Kit) (*Parts, error)
}

// Kit holds the means that Run gives to a service: configuration, keys, database, bus, and copies of what settings publishes.
type Kit struct {
	Service  string
	Config   Config
	Keys     Keys
	DB       *db.DB
	Bus      *bus.Bus
	Auth     *auth.Auth
	Identity *auth.Identity
	Apps     *Apps
	Site     *Site
}

// Parts are what a service is made of.
type Parts struct {
	Ops *op.Set
	// Follows are the topics that it consumes.
	Follows []bus.Follow
	Jobs    []Job
	// Workers do work as long as there is any.
	Workers []Worker
	// Run are long-running parts beside these; each returns when its context ends.
	Run []func(ctx context.Context)
	// Ready are further conditions of readiness.
	Ready []func() bool
	// Pages serve what stands outside /v1, under the patterns PagePaths.
	Pages     http.Handler
	PagePaths []*proto.Page
	// App that the service is, when it can be switched.
	App *proto.App
	// Admin is served on the admin port under /admin/.
	Admin http.Handler
	// Personal says what the service's own tables hold about people. A process cannot start without it.
	Personal Personal
}

// Job is periodic work. Of several replicas one runs it at a time. It runs once at the start.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
}

// Main runs s until a signal, and is all of a service's main function.
func Main(s Service) {
	if wantsHelp() {
		Help(os.Stdout, s.Name)
		return
	}
	cfg, err := ReadConfig()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s cannot start:\n%v\n", s.Name, err)
		os.Exit(2)
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("service", s.Name))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tuneGC()
	if err := Run(ctx, cfg, s); err != nil {
		slog.Error("stopped", "error", err)
		os.Exit(1)
	}
}

// Run runs s until ctx ends: it then takes no more requests, finishes what it has, sends what waits and
// closes. It waits for a database and brokers that are not there yet.
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

	d, err := db.Open(ctx, cfg.DatabaseURL, s.Name)
	if err != nil {
		return err
	}
	defer d.Close()
	keys := NewKeys(cfg.MasterKey)
	d.Secret, d.Hash = keys.For("cursor"), keys.Person
	if cfg.Now != nil {
		d.Now = cfg.Now
	}
	b := bus.New(cfg.Brokers)
	defer b.Close()

	r := &runner{Service: s, instance: s.Name + "-" + uuid.NewString()[:8]}
	admin := &http.Server{Handler: r.admin(metrics), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = admin.Serve(adminPort) }()
	defer admin.Close()

	err = untilItWorks(ctx, "database", func() error { return d.Migrate(ctx, s.Migrations) })
	if err == nil {
		err = untilItWorks(ctx, "brokers", func() error { return b.Ensure(ctx, proto.Topics) })
	}
	if err != nil {
		return quiet(ctx, err)
	}
	k := &Kit{Service: s.Name, Config: cfg, Keys: keys, DB: d, Bus: b, Identity: auth.NewIdentity(b), Site: NewSite(b)}
	k.Auth = auth.New(k.Identity)
	k.Auth.PerMinute = int(600 * cfg.RateFactor)
	k.Auth.IPHeader = k.ipHeader
	k.Auth.Now = d.Now
	k.Auth.Seen = k.seen
	k.Apps = NewApps(b, r.applied)
	r.kit = k
	parts, err := s.Build(ctx, k)
	if err != nil {
		return quiet(ctx, err)
	}
	r.parts = parts
	if parts.App != nil {
		d.AppOff = func() bool { return !k.Apps.On(parts.App.GetId()) }
	}
	if err := parts.Personal.check(ctx, d); err != nil {
		return quiet(ctx, err)
	}
	return r.run(ctx, api)
}

// ipHeader is the proxy header chosen in the general settings.
func (k *Kit) ipHeader() string {
	var g struct {
		IPHeader string `json:"ip_header"`
	}
	k.Site.Read("general", &g)
	return g.IPHeader
}

// seen reports to settings that a session is in use, so that it does not end as idle. No request waits for the report. A lost
// one is repeated a few minutes later.
func (k *Kit) seen(s *proto.Session) {
	data, err := protobuf.Marshal(&proto.SessionSeen{Hash: s.GetHash()})
	if err != nil {
		return
	}
	e := &proto.Envelope{Id: uuid.NewString(), Kind: proto.KindSessionSeen, RecordId: auth.SessionKey(s.GetHash()),
		OccurredAt: timestamppb.New(k.DB.Now()), Actor: &proto.Actor{Channel: db.ChannelSystem}, Data: data}
	go func() {
		if err := sendMessage(context.Background(), k.Bus, proto.SettingsCommandTopic, e.GetRecordId(), e); err != nil {
			slog.Debug("reporting a session in use failed", "error", err)
		}
	}()
}

// NewSet makes the service's set of operations.
func (k *Kit) NewSet() *op.Set {
	s := op.NewSet(k.Service, k.DB, k.Auth)
	s.AppOn = k.Apps.On
	s.RateFactor = k.Config.RateFactor
	return s
}

func quiet(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil // told to stop before it was up
}

func untilItWorks(ctx context.Context, what string, f func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if err == nil || ctx.Err() != nil {
			return err
		}
		slog.Warn("waiting for the "+what, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

type runner struct {
	Service
	instance string

	kit       *Kit
	parts     *Parts
	consumer  *bus.Consumer
	readiness sync.Map // "serving" → true
	version   chan int64
	once      sync.Once
}

// run starts every part and stops them in order.
func (r *runner) run(ctx context.Context, api net.Listener) error {
	k := r.kit
	// Background work goes on until the last request is answered.
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	var running sync.WaitGroup
	start := func(f func(context.Context)) { running.Go(func() { f(background) }) }

	start(k.Identity.Table.Run)
	start(k.Apps.table.Run)
	start(k.Site.Table.Run)
	// Until the copy is read every app counts as on, so nothing is decided before.
	for !k.Apps.table.Ready() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(5 * time.Millisecond):
		}
	}
	start(func(ctx context.Context) {
		k.DB.Relay(ctx, k.Bus.Send, func(err error) { slog.Warn("relay tries again", "error", err) })
	})
	r.consumer = &bus.Consumer{Bus: k.Bus, DB: k.DB, Follows: append(slices.Clone(r.parts.Follows), bus.Follow{Topic: proto.ForgetTopic, Handle: r.forgetPerson})}
	start(r.consumer.Run)
	for _, f := range r.parts.Run {
		start(f)
	}
	for _, j := range append(r.parts.Jobs, Job{"clean", time.Hour, k.DB.Clean}) {
		start(func(ctx context.Context) { r.repeat(ctx, j) })
	}
	for _, w := range r.parts.Workers {
		start(w.work)
	}
	start(r.presence)
	if err := r.announce(ctx); err != nil {
		return quiet(ctx, err)
	}

	mux := http.NewServeMux()
	mux.Handle("/v1/", r.parts.Ops.Handler())
	if r.parts.Pages != nil {
		mux.Handle("/", r.parts.Pages)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 60 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(api) }()
	r.readiness.Store("serving", true)
	// Give the memory of the start back, such as that of describing all operations.
	settled := time.AfterFunc(5*time.Second, debug.FreeOSMemory)
	defer settled.Stop()
	slog.Info("ready to serve", "listen", api.Addr().String(), "instance", r.instance)

	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
	}
	r.readiness.Delete("serving")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 8*time.Second)
	defer cancel()
	if e := server.Shutdown(grace); e != nil {
		slog.Warn("requests were cut off", "error", e)
	}
	stopBackground()
	running.Wait()
	if e := k.DB.Flush(grace, k.Bus.Send); e != nil {
		slog.Warn("outbox waits for the next start", "error", e)
	}
	_ = k.Bus.Send(grace, []db.Message{{Topic: proto.PresenceTopic, Key: r.instance}})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ready reports whether the service can work.
func (r *runner) ready() bool {
	if _, ok := r.readiness.Load("serving"); !ok {
		return false
	}
	for _, f := range r.parts.Ready {
		if !f() {
			return false
		}
	}
	k := r.kit
	return k.Identity.Table.Ready() && k.Apps.table.Ready() && k.Site.Table.Ready()
}

// announce publishes the manifest.
func (r *runner) announce(ctx context.Context) error {
	m, err := r.parts.Ops.Manifest()
	if err != nil {
		return err
	}
	m.BaseUrl, m.App, m.Pages = r.kit.Config.BaseURL, r.parts.App, r.parts.PagePaths
	return untilItWorks(ctx, "database", func() error {
		return r.kit.DB.Do(ctx, func(tx *db.Tx) error { return tx.EmitMessage(proto.ManifestTopic, r.Name, m) })
	})
}

// applied is called when a version of settings.apps is in force in this process.
func (r *runner) applied(version int64) {
	c := r.versions()
	for {
		select {
		case c <- version:
			return
		default:
		}
		// Replace the older version.
		select {
		case <-c:
		default:
		}
	}
}

func (r *runner) versions() chan int64 {
	r.once.Do(func() { r.version = make(chan int64, 1) })
	return r.version
}

// presence publishes every two seconds, and at once after an app was switched, that this instance runs.
func (r *runner) presence(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	var version int64
	for {
		m := &proto.Presence{Instance: r.instance, Service: r.Name, At: timestamppb.Now(), AppsVersion: version}
		if err := sendMessage(ctx, r.kit.Bus, proto.PresenceTopic, r.instance, m); err != nil && ctx.Err() == nil {
			slog.Warn("publishing the presence failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case version = <-r.versions():
		case <-tick.C:
		}
	}
}

// repeat runs a job each time it is due, on one replica.
func (r *runner) repeat(ctx context.Context, j Job) {
	tick := time.NewTicker(j.Every)
	defer tick.Stop()
	for {
		if err := r.alone(ctx, j); err != nil && ctx.Err() == nil {
			slog.Warn("job failed", "job", j.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *runner) alone(ctx context.Context, j Job) error {
	conn, err := r.kit.DB.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	key := db.LockKey(r.Name+".job", j.Name)
	var mine bool
	if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, key).Scan(&mine); err != nil || !mine {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, `select pg_advisory_unlock($1)`, key); err != nil {
			_ = conn.Conn().Close(ctx)
		}
	}()
	return j.Run(ctx)
}
