package db

import (
	"context"
	"errors"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/fault"
)

// poolSize is the number of connections of a process whose DATABASE_URL has no pool_max_conns. deploy/README.md adds up the
// connections of all replicas.
const poolSize = 16

// PoolConfig is the pool of a process with this DATABASE_URL. The error never shows the address, which holds a password.
func PoolConfig(url string) (*pgxpool.Config, error) {
	// pgxpool has a default of its own, which depends on the machine and hides whether the address sets a number.
	plain, err := pgx.ParseConfig(url)
	cfg, wrong := pgxpool.ParseConfig(url)
	if err != nil || wrong != nil {
		return nil, errors.New("db: DATABASE_URL is not a valid address of a database")
	}
	if _, ok := plain.RuntimeParams["pool_max_conns"]; !ok {
		cfg.MaxConns = poolSize
	}
	return cfg, nil
}

const (
	// connectionWait is how long a transaction waits for a free connection of the pool.
	connectionWait = 5 * time.Second
	// shareWait is how long a transaction waits until its share has a free connection.
	shareWait = 3 * time.Second
)

// Share is a part of the pool's connections. Work in a share holds that many at most, so a flood of it leaves the others to
// other work.
type Share int

const (
	// Visitors may hold half of the connections.
	Visitors Share = iota
	// Exports may hold a quarter: each reads for as long as there are rows.
	Exports
)

type shareKey struct{}

// Within makes the transactions of ctx take their connections from a share.
func Within(ctx context.Context, s Share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// waitTime has the name of OpenTelemetry's conventions.
var waitTime, _ = otel.Meter("frontdesk").Float64Histogram("db.client.connection.wait_time", metric.WithUnit("s"),
	metric.WithDescription("time for which a transaction waited for a connection, or until it gave up"),
	metric.WithExplicitBucketBoundaries(.0001, .001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5))

// Waiting is how many transactions wait for a connection now.
func (d *DB) Waiting() int64 { return d.waiting.Load() }

// acquire waits for a connection of the pool, and returns it with the function that gives it back. The error is one that
// fault.Transient reports, or svc_unavailable, if none becomes free in time.
func (d *DB) acquire(ctx context.Context) (*pgxpool.Conn, func(), error) {
	d.waiting.Add(1)
	defer func(began time.Time) {
		d.waiting.Add(-1)
		waitTime.Record(ctx, time.Since(began).Seconds())
	}(time.Now())
	leave := func() {}
	if s, ok := ctx.Value(shareKey{}).(Share); ok {
		late := time.NewTimer(shareWait)
		defer late.Stop()
		select {
		case d.shares[s] <- struct{}{}:
			leave = func() { <-d.shares[s] }
		case <-late.C:
			return nil, nil, fault.Unavailable()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	limited, cancel := context.WithTimeout(ctx, connectionWait)
	defer cancel()
	conn, err := d.Pool.Acquire(limited)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return conn, func() {
		conn.Release()
		leave()
	}, nil
}

// Open connects to url. The schema has to exist, see Migrate for its tables. The pool_* parameters of url set the pool;
// without pool_max_conns it has poolSize connections.
func Open(ctx context.Context, url, schema string) (*DB, error) {
	cfg, err := PoolConfig(url)
	if err != nil {
		return nil, err
	}
	params := cfg.ConnConfig.RuntimeParams
	params["search_path"] = schema + ", ext"
	params["timezone"] = "UTC"
	params["application_name"] = schema
	params["lock_timeout"] = "10s"
	boundSilence(cfg)
	cfg.ConnConfig.Tracer = otelpgx.NewTracer()
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
		bareUUIDs(c.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &DB{Pool: pool, Schema: schema, Now: time.Now, woken: make(chan struct{}, 1),
		shares: [2]chan struct{}{Visitors: make(chan struct{}, max(1, cfg.MaxConns/2)), Exports: make(chan struct{}, max(1, cfg.MaxConns/4))}}, nil
}
