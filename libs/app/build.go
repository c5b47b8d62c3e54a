package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

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
	k := &Kit{Service: r.Name, Config: cfg, Keys: keys, DB: d, Bus: b, Identity: auth.NewIdentity(b), Site: NewSite(b), Endpoints: bus.NewRecordTable[webhook.Endpoint](b, proto.EndpointTopic)}
	k.Auth = auth.New(k.Identity)
	k.Auth.PerMinute = int(600 * cfg.RateFactor)
	k.Auth.IPHeader, k.Auth.Proxies = k.ipHeader, cfg.Proxies
	k.Auth.Now = d.Now
	k.Auth.Trust = k.Bus.Trust
	k.Auth.Seen, k.Auth.KeySeen = k.seen, k.keySeen
	r.version = make(chan int64, 1)
	k.Apps = newApps(b, r.applied)
	k.rehearsals = newRehearsals(k, r.rehearse)
	r.kit, r.relay = k, &relay.Relay{DB: d, Log: b, PublishState: r.publishState}
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

func (r *runner) untilItWorks(ctx context.Context, what string, f func() error) error {
	r.step.Store(&waiting{what, "not tried yet"})
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if _, refused := errors.AsType[bus.Refused](err); err == nil || refused || ctx.Err() != nil {
			return err
		}
		r.step.Store(&waiting{what, err.Error()})
		slog.WarnContext(ctx, "waiting for the "+what, "error", err)
		db.Sleep(ctx, wait)
	}
}
