package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Replica keeps a directory of the contacts in the database, in step with it: whoever checks its newest copy finds at least
// what was committed before their unit of work began, whichever process wrote it. One goroutine, KeepUp, reads contacts and
// changes; all others wait for it, without a connection.
type Replica struct {
	db     *db.DB
	newest atomic.Pointer[Copy]
	loaded atomic.Bool
	came   Key // where the comparison came to; KeepUp's alone
	slice  int // how many contacts a load reads at a time

	mu   sync.Mutex
	next *round // that of KeepUp's next reading of changes; nil if nobody waits
	ask  chan struct{}

	loads, applied, repaired atomic.Int64 // nanoseconds of the last load; changes so far; differences so far
}

// round is one reading of changes. done is closed when it has ended, with err.
type round struct {
	done chan struct{}
	err  error
}

// NewReplica is a replica of the contacts in d. It is empty until KeepUp has loaded them.
func NewReplica(d *db.DB) *Replica {
	return &Replica{db: d, came: first, slice: sliceSize, ask: make(chan struct{}, 1)}
}

// Copy is a directory with the snapshot of the database that it holds.
type Copy struct {
	*Directory
	replica          *Replica
	snapshot, server string
	taken            time.Time // not after the snapshot
}

// Loaded returns nil once the contacts have been loaded, and errLoading before. It stays nil while they are loaded anew: all replicas
// do that at the same time when the database failed over, and can answer everything but searches meanwhile.
func (r *Replica) Loaded() error {
	if r.loaded.Load() {
		return nil
	}
	return errLoading
}

var errLoading = errors.New("the contacts are being read into memory")

// Newest is the newest copy, which may be behind the database; nil while the contacts are loaded.
func (r *Replica) Newest() *Copy { return r.newest.Load() }

const (
	// KeepGone is for how long the database keeps the keys of contacts that are gone; a copy that is older than half of that is loaded anew.
	KeepGone = 24 * time.Hour
	// KeepUp reads changes this often although nobody asks, so that a reader after a pause has little to wait for.
	keepUpEvery = 5 * time.Second
	// Of changes that take longer than changesFor, more than manyChanges are too many: they are loaded with all others, in
	// slices.
	changesFor  = 30 * time.Second
	manyChanges = 10_000
	// patience is how long a unit of work waits for changes, with a pause after a reading that failed.
	patience = 3 * time.Second
	pause    = 50 * time.Millisecond
)

// Check returns nil if c holds at least what was committed before tx's unit of work began. Otherwise it returns the error by
// which the unit waits, without its connection, until the newest copy does, and runs again. The statements of also, which
// may be nil, travel in the round trip of the check.
func (c *Copy) Check(ctx context.Context, tx *db.Tx, also *pgx.Batch) error {
	upToDate := c.taken.After(tx.Began)
	b := &pgx.Batch{}
	if !upToDate {
		var w db.Where
		b.Queue(`select `+c.UpToDate(&w), w.Args...).QueryRow(func(row pgx.Row) error { return row.Scan(&upToDate) })
	}
	if also != nil {
		b.QueuedQueries = append(b.QueuedQueries, also.QueuedQueries...)
	}
	if b.Len() > 0 {
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
	}
	if !upToDate {
		return db.RunAgainAfter(c.replica.wait)
	}
	return nil
}

// wait returns once the newest copy holds all that was committed when wait was called, or when the replica loads no copy any more. After
// a few seconds it is svc_unavailable, or the error of the last reading of changes.
func (r *Replica) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fault.Unavailable())
	defer cancel()
	for {
		next := r.join()
		if next == nil {
			return nil
		}
		select {
		case <-next.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if next.err == nil || !fault.Transient(next.err) {
			return next.err
		}
		// The next reading may find another connection.
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return next.err
		}
	}
}

// join gives the next round, nil while the contacts are loaded.
func (r *Replica) join() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest.Load() == nil {
		return nil
	}
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
		select {
		case r.ask <- struct{}{}:
		default: // it was asked already
		}
	}
	return r.next
}

// begin gives the round that begins now: who comes later waits for another.
func (r *Replica) begin() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.next
	if r.next = nil; now == nil {
		now = &round{done: make(chan struct{})}
	}
	return now
}

func (n *round) end(err error) {
	n.err = err
	close(n.done)
}

func (r *Replica) publish(c *Copy) {
	r.newest.Store(c)
	r.loaded.Store(true)
}

// drop has everybody do without the copy, until it is loaded anew.
func (r *Replica) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest.Store(nil)
	if r.next != nil {
		r.next.end(nil)
		r.next = nil
	}
}

// KeepUp loads the contacts, then reads what changed whenever somebody waits for it, and every few seconds, when it also
// compares a part of the directory with the table. It returns when ctx ends.
func (r *Replica) KeepUp(ctx context.Context) {
	defer r.observe()()
	tick := time.NewTicker(keepUpEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		c := r.newest.Load()
		if c == nil || time.Since(c.taken) > KeepGone/2 {
			r.drop()
			r.load(ctx)
			continue
		}
		compare := false
		select {
		case <-ctx.Done():
			return
		case <-r.ask:
		case <-tick.C:
			compare = true
		}
		r.round(ctx, c, compare)
	}
}

// round brings c up to date, and drops it if that cannot be done.
func (r *Replica) round(ctx context.Context, c *Copy, compare bool) {
	within, cancel := context.WithTimeout(ctx, changesFor)
	defer cancel()
	now := r.begin()
	next, n, err := r.catchUp(within, c, compare)
	switch {
	case err == nil:
		r.publish(next)
	case errors.Is(err, errElsewhere), within.Err() != nil && n > manyChanges:
		slog.WarnContext(ctx, "the directory is loaded anew", "cause", err)
		r.drop()
		err = nil
	case ctx.Err() == nil:
		slog.WarnContext(ctx, "the directory is not up to date", "error", err)
	}
	now.end(err)
}

// catchUp is c at a snapshot that it takes, and how many changes it read for that, also beside an error. With compare a part
// of the directory is repaired too.
func (r *Replica) catchUp(ctx context.Context, c *Copy, compare bool) (next *Copy, n int, err error) {
	came, differences := r.came, 0
	err = r.db.Read(ctx, func(tx *db.Tx) (err error) {
		if next, n, err = c.changed(ctx, tx); err != nil || !compare {
			return err
		}
		next.Directory, differences, came, err = next.compared(ctx, tx, r.came, next.perTick())
		return err
	})
	if err != nil {
		return nil, n, fmt.Errorf("read changes of contacts into the directory: %w", err)
	}
	r.came = came
	r.applied.Add(int64(n))
	if differences > 0 {
		r.repaired.Add(int64(differences))
		slog.ErrorContext(ctx, "the directory differed from the table and was repaired", "differences", differences)
	}
	return next, n, nil
}

// perTick is how many chunks to compare each time, so that all are compared within compareEvery.
func (d *Directory) perTick() int { return 1 + len(d.chunks)*int(keepUpEvery)/int(compareEvery) }
