// Package controller configures Traefik. It reads the routes from the services' manifests and the apps from settings, writes
// Traefik's dynamic configuration, waits until Traefik serves it, and only then publishes that the version of the apps is
// in force.
package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/gateway/internal/panel"
	"frontdesk/libs/adminport"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/trust"
	"frontdesk/libs/version"
	"frontdesk/proto"
)

// Controller is the process. New makes it, Run runs it.
type Controller struct {
	settings  Settings
	bus       *bus.Bus
	manifests *bus.Table[*proto.Manifest]
	apps      *bus.Table[Apps]
	presence  *bus.Table[*proto.Presence]
	answers   *Answers
	replicas  *replicas
	metrics   *metrics
	panel     *panel.Panel
	instance  string
	changed   chan struct{}
	condition condition
	// certificate is the last one that could be used, omitted the sentences about what the tables have in vain, and config the configuration
	// of the tables as they were last, with its options; only follow and apply touch them.
	certificate *Certificate
	omitted     []string
	config      *Configuration
	options     Options
	version     int64
}

// New makes a controller. It connects to nothing before Run.
func New(s Settings) *Controller {
	b := bus.New(s.Brokers, s.Kafka)
	b.Trust = trust.New("gateway", nil, s.PublicKeys)
	c := &Controller{settings: s, bus: b, changed: make(chan struct{}, 1), replicas: newReplicas(), metrics: newMetrics(prometheus.NewRegistry())}
	c.answers = NewAnswers(c.metrics.answered)
	c.panel = panel.New(panel.Source{Services: proto.Services, Instances: c.instances, Gateway: c.gateway})
	c.manifests = bus.NewTable(b, proto.ManifestTopic, func(_ string, value []byte) (*proto.Manifest, int64, error) {
		m := &proto.Manifest{}
		err := protobuf.Unmarshal(value, m)
		version := m.GetVersion()
		return m, version, err
	})
	c.apps = bus.NewTable(b, proto.AppsTopic, func(_ string, value []byte) (Apps, int64, error) {
		apps, err := decodeApps(value)
		return apps, apps.Version, err
	})
	c.presence = bus.NewTable(b, proto.PresenceTopic, decodePresence)
	c.manifests.Watch(func(string, *proto.Manifest, bool) { c.wake() })
	c.apps.Watch(func(string, Apps, bool) { c.wake() })
	// The name is the same after a restart, which replaces the presence of an instance that died.
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	c.instance = "gateway@" + host + s.HTTPListen
	return c
}

func decodePresence(_ string, value []byte) (*proto.Presence, int64, error) {
	m := &proto.Presence{}
	return m, 0, protobuf.Unmarshal(value, m)
}

func decodeApps(value []byte) (Apps, error) {
	var data struct {
		Apps []App `json:"apps"`
	}
	e, err := bus.OpenEnvelope(value, &data)
	return Apps{Version: e.GetVersion(), Items: data.Apps}, err
}

// appsKey is the only record of settings.apps.
const appsKey = "apps"

// Run writes Traefik's files, serves the controller's answers and keeps Traefik configured, until ctx ends. template is the
// text of Traefik's static configuration. It returns an error if a file cannot be written, a port is taken, or the brokers refuse
// the login or the topics.
func (c *Controller) Run(ctx context.Context, template string) error {
	if err := c.settings.WriteFiles(template); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	serve(ctx, g, c.settings.Listen, c.answers)
	serve(ctx, g, c.settings.AdminListen, adminport.Guard(c.admin(), c.settings.AdminHosts...))
	g.Go(func() error { return c.follow(ctx) })
	g.Go(func() error { c.panel.Run(ctx, c.settings.MeasureEvery); return nil })
	err := g.Wait()
	c.leave()
	return errors.Join(err, c.bus.Close())
}

// serve runs a server until ctx ends, then gives its requests 5 s to finish.
func serve(ctx context.Context, g *errgroup.Group, addr string, h http.Handler) {
	s := &http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	g.Go(func() error {
		if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("gateway: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return s.Shutdown(stop)
	})
}

func (c *Controller) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// heartbeat is how often the controller checks that Traefik serves the configuration, and publishes its presence.
const heartbeat = 2 * time.Second

// follow keeps Traefik configured until ctx ends. Its error is that of brokers that refuse this process for good.
func (c *Controller) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		err := c.bus.Ensure(ctx, proto.TopicsOf(c.settings.Partitions))
		if _, refused := errors.AsType[bus.Refused](err); refused {
			return err
		}
		if c.tried(ctx, subjectKafka, err); err == nil {
			break
		}
		pause(ctx, time.Second)
	}
	var tables sync.WaitGroup
	tables.Go(func() { c.manifests.Run(ctx) })
	tables.Go(func() { c.apps.Run(ctx) })
	tables.Go(func() { c.presence.Run(ctx) })
	tables.Go(func() { c.findReplicas(ctx) })
	defer tables.Wait()
	for ctx.Err() == nil && !(c.manifests.Ready() && c.apps.Ready()) {
		pause(ctx, 5*time.Millisecond)
	}

	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for ctx.Err() == nil {
		c.apply(ctx)
		select {
		case <-ctx.Done():
		case <-c.changed:
			c.config = nil
		case <-tick.C:
		}
	}
	return nil
}

// findReplicas looks up where services are, until ctx ends.
func (c *Controller) findReplicas(ctx context.Context) {
	for ctx.Err() == nil {
		manifests, _ := admit(c.manifests.All(), c.settings)
		if c.replicas.refresh(ctx, manifests) {
			c.wake()
		}
		pause(ctx, heartbeat)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// tables returns the manifests as far as they are admitted, the apps as last read, and sentences about what is left out.
func (c *Controller) tables() ([]*proto.Manifest, Apps, []string) {
	apps, _ := c.apps.Get(appsKey)
	manifests, refusals := admit(c.manifests.All(), c.settings)
	for _, m := range manifests {
		m.BaseUrl = c.replicas.spread(m.GetBaseUrl())
	}
	return manifests, apps, refusals
}

// optionsNow are those of now. While the files of the certificate cannot be used, because they are being replaced for instance, they name
// the last one that could, and Traefik reads nothing.
func (c *Controller) optionsNow(ctx context.Context) Options {
	o := c.settings.Options()
	if o.Certificate == nil {
		return o
	}
	var unfit error
	if o.Certificate.digest == "" {
		unfit, o.Certificate = errors.New("SVC_TLS_CERT and SVC_TLS_KEY do not fit together"), c.certificate
	}
	c.tried(ctx, subjectCertificate, unfit)
	c.certificate = o.Certificate
	return o
}

// apply computes the configuration of the tables, writes it if it is new, waits until Traefik serves it, and publishes that.
// It returns early if the tables change meanwhile.
func (c *Controller) apply(ctx context.Context) {
	if o := c.optionsNow(ctx); c.config == nil || !reflect.DeepEqual(o, c.options) {
		manifests, apps, refusals := c.tables()
		c.leftOut(ctx, refusals)
		c.config, c.options, c.version = Config(manifests, apps, o), o, apps.Version
		c.answers.SetPaths(c.config.paths)
	}
	config := c.config

	start := time.Now()
	if c.condition.want(config) && !c.write(ctx, config) || !c.confirm(ctx, config) {
		return
	}
	if c.condition.serves(c.version, start) {
		c.metrics.applied(time.Since(start))
		slog.InfoContext(ctx, "configuration in force", "hash", config.Hash, "apps_version", c.version,
			"routers", len(config.HTTP.Routers), "after", time.Since(start).Round(time.Millisecond).String())
	}
	c.tried(ctx, subjectPresence, c.announce(ctx, c.version))
}

// write puts a configuration where Traefik reads it, and reports whether it is there.
func (c *Controller) write(ctx context.Context, config *Configuration) bool {
	err := c.settings.replace(c.settings.dynamicFile(), config.JSON())
	c.tried(ctx, subjectFile, err)
	return err == nil
}

// confirm asks Traefik until it serves config; false if ctx ends or the tables change before. After a second, and every five
// from then on, it writes the file again: Traefik may have missed the change.
func (c *Controller) confirm(ctx context.Context, config *Configuration) bool {
	wait, rewrite := 4*time.Millisecond, time.Now().Add(time.Second)
	for ctx.Err() == nil {
		err := c.serves(ctx, config)
		if err == nil {
			c.tried(ctx, subjectTraefik, nil)
			return true
		}
		c.condition.missing()
		if time.Now().After(rewrite) {
			c.tried(ctx, subjectTraefik, err)
			c.write(ctx, config)
			wait, rewrite = 250*time.Millisecond, time.Now().Add(5*time.Second)
		}
		select {
		case <-ctx.Done():
		case <-c.changed:
			// The signal is put back for follow, which applies the newer tables.
			c.wake()
			return false
		case <-time.After(wait):
		}
	}
	return false
}

var toTraefik = &http.Client{
	Timeout:   2 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
}

func (c *Controller) serves(ctx context.Context, config *Configuration) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.settings.GatewayURL.JoinPath(MarkerPath(config.Hash)).String(), nil)
	if err != nil {
		return err
	}
	res, err := toTraefik.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1024))
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.Equal(body, []byte("OK"))) {
		err = fmt.Errorf("marker answers %d", res.StatusCode)
	}
	return err
}

func (c *Controller) announce(ctx context.Context, appsVersion int64) error {
	value, err := protobuf.Marshal(&proto.Presence{Instance: c.instance, Service: "gateway", At: timestamppb.Now(), AppsVersion: appsVersion, Version: version.String()})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return c.bus.Send(ctx, []db.Message{{Topic: proto.PresenceTopic, Key: c.instance, Value: value}})
}

// leave removes the presence, so that switching an app does not wait for this instance.
func (c *Controller) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := c.bus.Send(ctx, []db.Message{{Topic: proto.PresenceTopic, Key: c.instance}}); err != nil {
		slog.WarnContext(ctx, "presence cannot be removed", "error", err)
	}
}

// tried notes how a subject went, and logs when it begins or ends to fail.
func (c *Controller) tried(ctx context.Context, of subject, err error) {
	switch {
	case ctx.Err() != nil: // it failed because the process stops
	case !c.condition.tried(of, err):
	case err != nil:
		slog.WarnContext(ctx, string(of), "error", err)
	default:
		slog.InfoContext(ctx, "over: "+string(of))
	}
}

// leftOut logs the sentences that were not among those of the last time.
func (c *Controller) leftOut(ctx context.Context, refusals []string) {
	for _, sentence := range refusals {
		if !slices.Contains(c.omitted, sentence) {
			slog.WarnContext(ctx, "left out", "what", sentence)
		}
	}
	c.omitted = refusals
}
