// Package db is the mechanism around a service's schema: transactions that know who acts and when,
// the outbox and its relay, the inbox, migrations, keyset pages, idempotency keys and rate limits.
package db

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/libs/change"
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

	// PublishState emits all records of a topic of this service as they are. The relay calls it for a compacted topic that has
	// lost messages which the outbox has no more.
	PublishState func(ctx context.Context, topic string) error

	woken   chan struct{} // wakes the relay
	shares  [2]chan struct{}
	waiting atomic.Int64 // for a connection
	full    fullBuckets
}

// Open connects to url. The schema has to exist, see Migrate for its tables. The pool_* parameters of url set the pool;
// without pool_max_conns it has PoolSize connections.
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
	return &DB{Pool: pool, Schema: schema, Now: time.Now, woken: make(chan struct{}, 1), shares: newShares(cfg.MaxConns)}, nil
}

// Close gives the connections back.
func (d *DB) Close() { d.Pool.Close() }

// Tx is one unit of work: a transaction, who does it and when.
type Tx struct {
	pgx.Tx
	Who Actor
	// Now is the time of the transaction, UTC, whole seconds as the interface shows them.
	Now time.Time
	// Began is when the unit of work began, before its first attempt, by this process's own clock. Whatever the process read
	// from the database later holds all that its caller had been told of before.
	Began time.Time
	// History reports that the event that this transaction applies is no news, see bus.Event.History. Mail then sends nothing,
	// and Emit marks everything as state: effects of history are history, too.
	History bool
	// Explain turns an error of the commit, and of the statements deferred to it, into what callers are told.
	Explain func(error) error

	secret []byte
	hash   erasure.Hasher
	appOff bool
	// waiting are the rows for the outbox. They go in together, right before the commit.
	waiting []Message
	// ended are the records, and forgotten the rows, whose messages of earlier transactions are deleted right before that.
	ended     []Message
	forgotten []int64
	deferred  pgx.Batch
	committed []func()
	assumed   []assumed
	disproved []Assumption
	relaxed   bool
	changed   change.Set // of the next audit entry
	expects   expected
	compared  bool
}

// Defer queues a statement for the commit's round trip, before the outbox rows and the checks of assumptions. Its error
// becomes the commit's.
func (tx *Tx) Defer(sql string, args ...any) { tx.deferred.Queue(sql, args...) }

// AfterCommit runs f once the commit has succeeded, and never for a run that is rolled back. It is for what the process
// remembers of the transaction; f must not block.
func (tx *Tx) AfterCommit(f func()) { tx.committed = append(tx.committed, f) }

// Changed adds to the next audit entry of the transaction the fields that changed, with their old and new values. Values are those
// that REST shows, never a secret.
func (tx *Tx) Changed(s change.Set) {
	if tx.changed == nil {
		tx.changed = change.Set{}
	}
	maps.Copy(tx.changed, s)
}

// ChangedFrom is Changed with the differences between two versions of a record, as REST shows them.
func (tx *Tx) ChangedFrom(old, new any) error {
	s, err := change.Between(old, new)
	tx.Changed(s)
	return err
}

// Relax makes the commit return before it is on disk. It is for work that is repeated when a crash loses it. It has no effect
// on a transaction that emits, because the relay must not send what a crash may lose.
func (tx *Tx) Relax() { tx.relaxed = true }

const attempts = 4

// waiting is the error of a unit of work that runs again after a wait.
type waiting struct{ wait func(context.Context) error }

func (*waiting) Error() string { return "db: the unit of work runs again after a wait" }

// RunAgainAfter is the error by which a unit of work waits for something else in this process, such as a copy that catches
// up. The transaction is rolled back and its connection given back. Then wait is called: when it returns nil the unit runs
// again from its beginning, and an error of wait is the unit's.
//
// The reason: those who wait with a connection in hand leave none for the work that they wait for.
func RunAgainAfter(wait func(context.Context) error) error { return &waiting{wait} }

// Do runs f in one transaction and commits when f returns nil. A deadlock, a serialization failure, a wrong assumption or
// RunAgainAfter runs f again, so f must have no effect beside the transaction.
func (d *DB) Do(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, pgx.TxOptions{}, f)
}

// Slices runs f in transactions of their own until one of them does less than a full slice of the work. f returns how much it
// has done.
func (d *DB) Slices(ctx context.Context, full int, f func(*Tx) (int, error)) error {
	for {
		n := 0
		err := d.Do(ctx, func(tx *Tx) (err error) {
			n, err = f(tx)
			return err
		})
		if err != nil || n < full {
			return err
		}
	}
}

// Read runs f in one read-only transaction that sees a single state of the data.
func (d *DB) Read(ctx context.Context, f func(*Tx) error) error {
	return d.run(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

func (d *DB) run(ctx context.Context, opts pgx.TxOptions, f func(*Tx) error) error {
	var wrong []Assumption
	began := time.Now()
	for collisions := 0; ; {
		err := d.attempt(ctx, opts, began, wrong, f)
		if w, ok := errors.AsType[*waiting](err); ok {
			if err := w.wait(ctx); err != nil {
				return err
			}
			continue
		}
		if name := disproved(err); name != "" && !slices.Contains(wrong, name) {
			// The transaction asked for this retry itself, so no back-off is needed.
			wrong = append(wrong, name)
			continue
		}
		if collisions++; collisions == attempts || !collided(err) {
			return err
		}
		slog.DebugContext(ctx, "transaction runs again", "collisions", collisions, "cause", err)
		time.Sleep(time.Duration(rand.IntN(10*collisions)+1) * time.Millisecond)
	}
}

func (d *DB) attempt(ctx context.Context, opts pgx.TxOptions, began time.Time, wrong []Assumption, f func(*Tx) error) error {
	conn, release, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	l := &lazyTx{conn: conn.Conn(), opts: opts}
	// After a commit there is nothing left to roll back.
	defer func() { _ = l.Rollback(ctx) }()
	tx := &Tx{Tx: l, Who: ActorFrom(ctx), Now: d.Now().UTC().Truncate(time.Second), Began: began, disproved: wrong, secret: d.Secret, expects: expectedIn(ctx),
		hash: d.Hash, appOff: d.AppOff != nil && d.AppOff()}
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
