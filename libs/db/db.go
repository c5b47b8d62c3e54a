// Package db is the mechanism around a service's schema: transactions that know who acts and when,
// the outbox and its relay, the inbox, migrations, keyset pages, idempotency keys and rate limits.
package db

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/libs/erasure"
)

// DB is the pool of one service. Every connection works in the service's schema, in UTC.
type DB struct {
	Pool *pgxpool.Pool
	// Schema is the service's name.
	Schema string
	// Now is the clock of all transactions; time.Now unless a test sets it.
	Now func() time.Time

	// Secret signs cursors; all replicas have the same.
	Secret []byte
	// Hash makes the hashes by which people are found in stored answers, see libs/erasure. It is nil in processes that erase
	// no one.
	Hash erasure.Hasher
	// AppOff reports whether the service's app is off; nil for a service that cannot be switched. Events carry the result.
	AppOff func() bool

	woken chan struct{} // wakes the relay
}

// Open connects to url. The schema has to exist, see Migrate for its tables.
func Open(ctx context.Context, url, schema string) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("db: DATABASE_URL is not a valid address of a database")
	}
	params := cfg.ConnConfig.RuntimeParams
	params["search_path"] = schema + ", ext"
	params["timezone"] = "UTC"
	params["application_name"] = schema
	// A transaction whose client is gone must not hold its locks.
	params["idle_in_transaction_session_timeout"] = "30s"
	params["lock_timeout"] = "10s"
	cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	cfg.ConnConfig.Tracer = otelpgx.NewTracer()
	if cfg.MaxConns < 16 {
		cfg.MaxConns = 16
	}
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
	return &DB{Pool: pool, Schema: schema, Now: time.Now, woken: make(chan struct{}, 1)}, nil
}

// Close gives the connections back.
func (d *DB) Close() { d.Pool.Close() }

// Tx is one unit of work: a transaction, who does it and when.
type Tx struct {
	pgx.Tx
	Who Actor
	// Now is the time of the transaction, UTC, whole seconds as the interface shows them.
	Now time.Time
	// Explain turns an error of the commit, and of the statements deferred to it, into what callers are told.
	Explain func(error) error

	secret []byte
	hash   erasure.Hasher
	appOff bool
	// waiting are the rows for the outbox. They go in together, right before the commit.
	waiting   []Message
	deferred  pgx.Batch
	committed []func()
	assumed   []assumed
	disproved []Assumption
	relaxed   bool
}

// Defer queues a statement for the commit's round trip, before the outbox rows and the checks of assumptions. Its error
// becomes the commit's.
func (tx *Tx) Defer(sql string, args ...any) { tx.deferred.Queue(sql, args...) }

// AfterCommit runs f once the commit has succeeded, and never for a run that is rolled back. It is for what the process
// remembers of the transaction; f must not block.
func (tx *Tx) AfterCommit(f func()) { tx.committed = append(tx.committed, f) }

// Relax makes the commit return before it is on disk. It is for work that is repeated when a crash loses it. It has no effect
// on a transaction that emits, because the relay must not send what a crash may lose.
func (tx *Tx) Relax() { tx.relaxed = true }

const attempts = 4

// Do runs f in one transaction and commits when f returns nil. A deadlock, a serialization failure or a wrong assumption
// runs f again, so f must have no effect beside the transaction.
func (d *DB) Do(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, pgx.TxOptions{}, f)
}

// Read runs f in one read-only transaction that sees a single state of the data.
func (d *DB) Read(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

func (d *DB) run(ctx context.Context, opts pgx.TxOptions, f func(*Tx) error) error {
	var wrong []Assumption
	for attempt := 1; ; attempt++ {
		err := d.attempt(ctx, opts, wrong, f)
		if name := disproved(err); name != "" && !slices.Contains(wrong, name) {
			// The transaction asked for this retry itself, so no back-off is needed.
			wrong = append(wrong, name)
			continue
		}
		if attempt >= attempts || !collided(err) {
			return err
		}
		slog.DebugContext(ctx, "transaction runs again", "attempt", attempt, "cause", err)
		time.Sleep(time.Duration(rand.IntN(10*attempt)+1) * time.Millisecond)
	}
}

func (d *DB) attempt(ctx context.Context, opts pgx.TxOptions, wrong []Assumption, f func(*Tx) error) error {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	l := &lazyTx{conn: conn.Conn(), opts: opts}
	// After a commit there is nothing left to roll back.
	defer func() { _ = l.Rollback(ctx) }()
	tx := &Tx{Tx: l, Who: ActorFrom(ctx), Now: d.Now().UTC().Truncate(time.Second), disproved: wrong, secret: d.Secret, hash: d.Hash,
		appOff: d.AppOff != nil && d.AppOff()}
	if err := f(tx); err != nil {
		if len(tx.assumed) > 0 && disproved(err) == "" && l.usable() {
			// An error that follows from a wrong assumption is not the caller's answer.
			if e := tx.verify(ctx); disproved(e) != "" {
				return e
			}
		}
		return err
	}
	if err := tx.commit(ctx); err != nil {
		if err = asWrongAssumption(err); tx.Explain != nil && disproved(err) == "" {
			err = tx.Explain(err)
		}
		return err
	}
	if len(tx.waiting) > 0 {
		d.wake()
	}
	for _, f := range tx.committed {
		f()
	}
	return nil
}

const (
	serializationFailure = "40001"
	deadlock             = "40P01"
)

// collided reports whether err is a conflict with other transactions, which a retry may not meet.
func collided(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == serializationFailure || pg.Code == deadlock)
}

// wake makes the relay look for messages now instead of at its next tick.
func (d *DB) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// NewID makes a UUIDv7: ids of later records sort after those of earlier ones.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Violates reports whether err is the violation of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.ConstraintName == constraint
}
