// Package db is the mechanism around a service's schema: transactions that know who acts and when,
// the outbox, the inbox, migrations, keyset pages, idempotency keys and rate limits.
package db

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"frontdesk/libs/bell"
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

	woken   chan struct{}    // wakes the relay
	news    bell.Bell        // wakes workers
	shares  [2]chan struct{} // an element for each connection in use, by Share
	waiting atomic.Int64     // for a connection
	full    fullBuckets
}

// Close gives the connections back.
func (d *DB) Close() { d.Pool.Close() }

// Woken gets a value when the relay has something to look for before its next tick.
func (d *DB) Woken() <-chan struct{} { return d.woken }

// Wake makes the relay look for messages, and workers for work, now instead of at their next tick. A transaction that emits does it when it commits.
func (d *DB) Wake() {
	d.WakeWorkers()
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// WakeWorkers makes workers look for work now. A transaction that handles messages does it when it commits.
func (d *DB) WakeWorkers() { d.news.Ring() }

// News is closed when workers of this process are to look for work.
func (d *DB) News() <-chan struct{} { return d.news.Next() }

// Sleep returns after a time, or when ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// NewID makes a UUIDv7: ids of later records sort after those of earlier ones.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Violates reports whether err is the violation of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.ConstraintName == constraint
}
