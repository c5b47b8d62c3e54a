// Package app runs a service: configuration, telemetry, HTTP, relay, consumers, jobs, and a stop that
// loses nothing.
package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/adminport"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/memory"
	"frontdesk/libs/op"
	"frontdesk/libs/openapi"
	"frontdesk/libs/trust"
	"frontdesk/libs/version"
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
	// Tables are copies of topics in memory. The service is ready once they are.
	Tables []Table
	// Run are long-running parts beside these; each returns when its context ends.
	Run []func(ctx context.Context)
	// Ready are further conditions of readiness, by what they wait for: nil once the condition holds, else the reason.
	Ready map[string]func() error
	// Gauges are figures of the service's own tables, for its metrics.
	Gauges []Gauge
	// Pages serve what stands outside /v1, under the patterns PagePaths.
	Pages     http.Handler
	PagePaths []*proto.Page
	// App that the service is, when it can be switched.
	App *proto.App
	// Admin is served on the admin port under /admin/.
	Admin http.Handler
	// Personal says what the service's own tables hold about people. A process cannot start without it.
	Personal Personal
	// Published declares the records of the service's own topics. A process cannot start without one for each compacted topic.
	Published []Published
	// Sealed are the columns that rotate-key seals anew.
	Sealed []Sealed
	// Restored is called by resync, when the schema went back to a backup. It cancels what the service may have done already and
	// would do again, with tx.History set, and returns what it did, a line each. nil for a service that does nothing of its own.
	Restored func(ctx context.Context) ([]string, error)
}

// Table is a copy of a topic, a bus.Table for instance.
type Table interface {
	Topic() string
	Run(ctx context.Context)
	Ready() bool
	// Err is why the topic could not be read last; nil while it is read.
	Err() error
}

// Job is periodic work. Of several replicas one runs it at a time, see db.Lease: the context of Run ends when this replica has
// lost it. It runs once at the start.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context) error
}

// Main runs s until a signal, and is all of a service's main function.
func Main(s Service) {
	if version.Printed(s.Name) {
		return
	}
	if wantsHelp() {
		printHelp(os.Stdout, s.Name)
		return
	}
	// Beside running the service, there are commands that do one thing and end.
	command, known := map[string]func(context.Context, Config, Service, io.Writer) error{"migrate": migrateSchema, "resync": resyncTopics, "rotate-key": rotateKey}[strings.Join(os.Args[1:], " ")]
	if len(os.Args) > 1 && !known {
		fmt.Fprintf(os.Stderr, "%s takes no such arguments; -help lists what it takes\n", s.Name)
		os.Exit(2)
	}
	cfg, err := readConfig(os.Environ())
	if err == nil {
		_, err = cfg.trust(s.Name)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s cannot start:\n%v\n", s.Name, err)
		os.Exit(2)
	}
	slog.SetDefault(newLogger(os.Stderr, s.Name))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if known {
		if err := command(ctx, cfg, s, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", s.Name, os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	slog.InfoContext(ctx, "starts", "version", version.String())
	go memory.Keep(ctx, garbage)
	if err := Run(ctx, cfg, s); err != nil {
		slog.ErrorContext(ctx, "stopped", "error", err)
		os.Exit(1)
	}
}

// garbage is how much a service lets pile up, in bytes.
const garbage = 24 << 20

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
	admin := &http.Server{Handler: adminport.Guard(r.admin(cfg, metrics), append(slices.Clone(cfg.AdminHosts), hostOf(cfg.BaseURL))...), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = admin.Serve(adminPort) }()
	defer admin.Close()
	disconnect, err := r.build(ctx, cfg)
	defer disconnect()
	if err != nil {
		return quiet(ctx, err)
	}
	return r.run(ctx, server)
}

// build waits for the database and the brokers, brings schema and topics up to date and makes the parts. Call disconnect at the
// end, after an error too.
func (r *runner) build(ctx context.Context, cfg Config) (disconnect func(), err error) {
	disconnect, err = r.migrate(ctx, cfg)
	if err == nil {
		err = r.untilItWorks(ctx, "brokers", func() error { return r.kit.Bus.Ensure(ctx, proto.TopicsOf(cfg.Partitions)) })
	}
	if err == nil {
		err = r.assemble(ctx)
	}
	return disconnect, err
}

// migrate waits for the database, brings the schema up to date and makes the kit. It needs no broker. Call disconnect at the end,
// after an error too.
func (r *runner) migrate(ctx context.Context, cfg Config) (disconnect func(), err error) {
	trusted, err := cfg.trust(r.Name)
	if err != nil {
		return func() {}, err
	}
	d, err := db.Open(ctx, cfg.DatabaseURL, r.Name)
	if err != nil {
		return func() {}, err
	}
	keys := NewKeys(cfg)
	d.Secret, d.Hash = keys.For("cursor"), keys.Person
	if cfg.Now != nil {
		d.Now = cfg.Now
	}
	b := bus.New(cfg.Brokers, cfg.Kafka)
	b.Trust = trusted
	disconnect = func() {
		inTime(closeWithin, func() { _ = b.Close() })
		inTime(closeWithin, d.Close)
	}
	if err := r.untilItWorks(ctx, "database", func() error { return d.Migrate(ctx, r.Migrations) }); err != nil {
		return disconnect, err
	}
	if err := keys.madeWith(ctx, d); err != nil {
		return disconnect, err
	}
	k := &Kit{Service: r.Name, Config: cfg, Keys: keys, DB: d, Bus: b, Identity: auth.NewIdentity(b), Site: NewSite(b)}
	k.Auth = auth.New(k.Identity)
	k.Auth.PerMinute = int(600 * cfg.RateFactor)
	k.Auth.IPHeader, k.Auth.Proxies = k.ipHeader, cfg.Proxies
	k.Auth.Now = d.Now
	k.Auth.Trust = k.Bus.Trust
	k.Auth.Seen, k.Auth.KeySeen = k.seen, k.keySeen
	k.Apps = newApps(b, r.applied)
	r.kit = k
	return disconnect, nil
}

// assemble makes the parts, and refuses those that do not fit the schema.
func (r *runner) assemble(ctx context.Context) error {
	k, d := r.kit, r.kit.DB
	parts, err := r.Build(ctx, k)
	if err != nil {
		return err
	}
	r.parts = parts
	if parts.App != nil {
		d.AppOff = func() bool { return !k.Apps.On(parts.App.GetId()) }
	}
	if wrong := parts.Personal.check(ctx, d); wrong != nil {
		// The schema of a later version has tables that this one cannot declare. Replicas of both run while one replaces the other.
		ahead, err := d.Ahead(ctx, r.Migrations)
		if !ahead {
			return errors.Join(wrong, err)
		}
		slog.WarnContext(ctx, "a later version has migrated the schema", "difference", wrong)
	}
	return checkPublished(r.Name, parts.Published)
}

// ipHeader is the proxy header chosen in the general settings.
func (k *Kit) ipHeader() string {
	var g struct {
		IPHeader string `json:"ip_header"`
	}
	k.Site.Read("general", &g)
	return g.IPHeader
}

// seen reports to settings that a session is in use, so that it does not end as idle.
func (k *Kit) seen(s *proto.Session) {
	k.report(proto.KindSessionSeen, auth.SessionKey(s.GetHash()), &proto.SessionSeen{Hash: s.GetHash()})
}

// keySeen reports to settings that an application password is in use.
func (k *Kit) keySeen(p *proto.ApplicationPassword, address string) {
	k.report(proto.KindKeySeen, auth.KeyKey(p.GetId()), &proto.KeySeen{Id: p.GetId(), Address: address})
}

// report sends settings a command that no request waits for. A lost one is repeated a few minutes later.
func (k *Kit) report(kind, key string, m protobuf.Message) {
	data, err := protobuf.Marshal(m)
	if err != nil {
		return
	}
	e := &proto.Envelope{Id: uuid.NewString(), Kind: kind, RecordId: key,
		OccurredAt: timestamppb.New(k.DB.Now()), Actor: &proto.Actor{Channel: db.ChannelSystem}, Data: data}
	go func() {
		if err := sendMessage(context.Background(), k.Bus, proto.SettingsCommandTopic, key, e); err != nil {
			slog.Debug("reporting a credential in use failed", "kind", kind, "error", err)
		}
	}()
}

// NewSet makes the service's set of operations.
func (k *Kit) NewSet() *op.Set {
	s := op.NewSet(k.Service, k.DB, k.Auth)
	s.AppOn = k.Apps.On
	s.Fingerprints = k.Keys.fingerprints
	s.Exposed = k.Site.Exposed
	s.Describe = func(e *op.Entry) any { return openapi.DescribeAbility(s, e) }
	s.RateFactor = k.Config.RateFactor
	return s
}

func quiet(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil // told to stop before it was up
}

func (r *runner) untilItWorks(ctx context.Context, what string, f func() error) error {
	r.step.Store(&waiting{what, "not tried yet"})
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if _, refused := errors.AsType[bus.Refused](err); err == nil || refused || ctx.Err() != nil {
			return err
		}
		r.step.Store(&waiting{what, err.Error()})
		slog.WarnContext(ctx, "waiting for the "+what, "error", err)
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

	// door is open once the others are set.
	door     *door
	stopping atomic.Bool
	// step is what the start waits for, until built says that kit and parts are set.
	step     atomic.Pointer[waiting]
	built    atomic.Bool
	served   chan error
	kit      *Kit
	parts    *Parts
	consumer *bus.Consumer
	version  chan int64
	once     sync.Once
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
	k.DB.PublishState = func(ctx context.Context, topic string) error {
		if topic == proto.ManifestTopic {
			return r.announce(ctx)
		}
		return r.publishState(ctx, topic)
	}
	unobserve, err := observe(k.DB, r.parts.Gauges)
	if err != nil {
		return err
	}
	defer unobserve()
	failures, _ := otel.Meter("frontdesk").Int64Counter("frontdesk.relay.errors", metric.WithUnit("{round}"), metric.WithDescription("rounds of the relay that failed and are tried again"))
	failures.Add(ctx, 0)
	start(background, func(ctx context.Context) {
		k.DB.Relay(ctx, k.Bus, func(err error) {
			failures.Add(ctx, 1)
			slog.WarnContext(ctx, "relay tries again", "error", err)
		})
	})
	host, _ := os.Hostname() // without one the address alone is the name
	r.consumer = &bus.Consumer{Bus: k.Bus, DB: k.DB, Member: r.Name + "@" + host + "/" + k.Config.Listen, Follows: r.follows()}
	start(background, r.consumer.Run)
	for _, f := range r.parts.Run {
		start(background, f)
	}
	for _, j := range append(r.parts.Jobs, Job{"clean", time.Hour, k.DB.Clean}, Job{"counts", 5 * time.Second, k.DB.AddUpCounts}, Job{"statistics", 5 * time.Second, k.DB.Analyze}) {
		start(ctx, func(ctx context.Context) { r.repeat(ctx, j) })
	}
	for _, w := range r.parts.Workers {
		start(ctx, w.work)
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
		return errors.Join(k.DB.Flush(ctx, k.Bus), k.Bus.Send(ctx, []db.Message{{Topic: proto.PresenceTopic, Key: r.instance}}))
	})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// tables are all copies of topics in memory.
func (r *runner) tables() []Table {
	return append([]Table{r.kit.Identity.Table, r.kit.Apps.table, r.kit.Site.Table}, r.parts.Tables...)
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

// waitsFor is what the service needs before it can work; nothing when it is ready.
func (r *runner) waitsFor() (all []waiting) {
	switch {
	case r.stopping.Load():
		return []waiting{{"its stop", "the process was told to stop and finishes its requests"}}
	case !r.built.Load():
		return []waiting{*r.step.Load()}
	}
	for _, t := range r.tables() {
		if !t.Ready() {
			why := "its messages are being read"
			if err := t.Err(); err != nil {
				why = err.Error()
			}
			all = append(all, waiting{"topic " + t.Topic(), why})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.parts.Ready)) {
		if err := r.parts.Ready[name](); err != nil {
			all = append(all, waiting{name, err.Error()})
		}
	}
	if !r.door.isOpen() && len(all) == 0 {
		all = []waiting{{"its start", "the operations are being prepared"}}
	}
	return all
}

// ready reports whether the service can work.
func (r *runner) ready() bool { return len(r.waitsFor()) == 0 }

// copied reports whether all tables are ready.
func (r *runner) copied() bool {
	return !slices.ContainsFunc(r.tables(), func(t Table) bool { return !t.Ready() })
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
	var applied int64
	var admin string
	var signature []byte
	known := false
	for {
		if !known {
			admin, signature, known = r.adminAddress(ctx)
		}
		m := &proto.Presence{Instance: r.instance, Service: r.Name, At: timestamppb.Now(), AppsVersion: applied, Version: version.String(),
			AdminUrl: admin, AdminSignature: signature}
		if err := sendMessage(ctx, r.kit.Bus, proto.PresenceTopic, r.instance, m); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "publishing the presence failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case applied = <-r.versions():
		case <-tick.C:
		}
	}
}

// adminAddress is where other hosts reach the admin port, and its signature. known is false while no broker tells which address this host has.
func (r *runner) adminAddress(ctx context.Context) (address string, signature []byte, known bool) {
	address, known = r.kit.Config.AdminURL, true
	if address == "" {
		address, known = reachable(ctx, r.kit.Config.AdminListen, r.kit.Config.Brokers)
		address = "http://" + address
	}
	signature, err := r.kit.Bus.Trust.Sign(trust.Message{Topic: proto.PresenceTopic, Key: r.instance, Value: []byte(address), Stamp: time.Now().UnixMicro()})
	if err != nil {
		slog.ErrorContext(ctx, "the page for operators does not show this instance", "error", err)
	}
	return address, signature, known
}

// repeat runs a job each time it is due, on one replica.
func (r *runner) repeat(ctx context.Context, j Job) {
	meter, tracer, name := otel.Meter("frontdesk"), otel.Tracer("frontdesk"), metric.WithAttributes(attribute.String("job", j.Name))
	failures, _ := meter.Int64Counter("frontdesk.job.errors", metric.WithUnit("{run}"), metric.WithDescription("runs of a job that failed, by job"))
	succeeded, _ := meter.Float64Gauge("frontdesk.job.success", metric.WithUnit("s"),
		metric.WithDescription("when a job last ran to its end on this replica, or when the replica began, in seconds since 1970, by job"))
	success := func() { succeeded.Record(ctx, float64(time.Now().UnixMilli())/1000, name) }
	success()                  // a job that never succeeds is seen too
	failures.Add(ctx, 0, name) // an alert sees the first failure only behind a 0
	tick := time.NewTicker(j.Every)
	defer tick.Stop()
	for {
		run, span := ctx, trace.SpanFromContext(ctx)
		mine, err := r.kit.DB.Lease(ctx, "job "+j.Name, func(ctx context.Context) error {
			// A trace of its own, by which its log lines are found.
			run, span = tracer.Start(ctx, "job "+j.Name)
			return j.Run(run)
		})
		switch {
		case err != nil && ctx.Err() == nil:
			failures.Add(ctx, 1, name)
			slog.WarnContext(run, "job failed", "job", j.Name, "error", err)
		case err == nil && mine:
			success()
		}
		span.End()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
