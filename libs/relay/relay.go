package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
)

const (
	relayBatch = 500
	// Under load the relay sends larger batches, because a batch costs it and the broker as much as many messages. It
	// pauses pausePerSent for each of the first messages of the last batch, and pausePerMore for each one that follows.
	pausePerSent, firstSent = 2 * time.Millisecond, 7
	pausePerMore, moreSent  = 200 * time.Microsecond, 150

	// claimLasts is for how long a process that stands still keeps the others from relaying. A round ends before.
	claimLasts = 10 * time.Second
	roundLasts = 9 * time.Second
	// appendLasts and checkLasts bound the time of the broker within a round.
	appendLasts = 4 * time.Second
	checkLasts  = 4 * time.Second
	// slicesLast is for how long a round lets rows of a loss wait again, behind which the other partitions have their turn.
	slicesLast = 2 * time.Second
	// checkEvery is how often one process checks that the log still has what it was given.
	checkEvery = 30 * time.Second
)

// Relay sends the outbox of a service to its log.
type Relay struct {
	DB  *db.DB
	Log Log
	// PublishState emits all records of a topic of this service as they are. It is called for a compacted topic that has lost messages
	// which the outbox has no more. nil in processes that only flush.
	PublishState func(ctx context.Context, topic string) error
}

// Run sends the outbox until ctx ends; failed gets each error, after which it tries again. One replica sends at a time,
// by a claim that holds no connection and ends after ten seconds. A partition that takes no messages delays only its own. A message may be
// sent twice.
//
// Run also checks that the log still has the newest messages: at its start, after errors and new connections, and
// every half a minute. If not, it sends the kept rows again, and calls PublishState where they are not enough.
func (r *Relay) Run(ctx context.Context, failed func(error)) {
	s := r.sender()
	var tending sync.WaitGroup
	defer tending.Wait()
	var tends atomic.Bool
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var sent time.Time
	var pause time.Duration
	for ctx.Err() == nil {
		began := time.Now()
		did, err := s.round(ctx)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if len(did.settled) > 0 && tends.CompareAndSwap(false, true) {
			tending.Go(func() {
				defer tends.Store(false)
				if err := errors.Join(r.publishLost(ctx), r.prune(ctx, did.settled)); err != nil && ctx.Err() == nil {
					failed(err)
				}
			})
		}
		switch {
		case did.more:
		case err != nil:
			db.Sleep(ctx, 100*time.Millisecond)
		case did.busy:
			// The process that is sending may not have seen the row that woke this one.
			pause = min(max(2*pause, 5*time.Millisecond), 250*time.Millisecond)
			db.Sleep(ctx, pause)
		default:
			pause = 0
			if p := pauseBehind(did.sent); p > 0 {
				if time.Since(sent) < p {
					db.Sleep(ctx, p)
				}
				sent = time.Now()
			} else {
				db.Sleep(ctx, s.rest(time.Since(began)))
			}
			select {
			case <-ctx.Done():
			case <-r.DB.Woken():
			case <-tick.C:
			}
		}
	}
}

// pauseBehind is the pause behind a batch of n messages.
func pauseBehind(n int) time.Duration {
	return pausePerSent*time.Duration(min(n, firstSent)) + pausePerMore*time.Duration(min(max(n-firstSent, 0), moreSent))
}

// Flush sends all that waits in the outbox, before the process stops, and fails if a message cannot be sent. While another
// process is sending, it waits.
func (r *Relay) Flush(ctx context.Context) error {
	s := r.sender()
	for {
		did, err := s.round(ctx)
		switch {
		case err != nil:
			return err
		case did.busy:
			db.Sleep(ctx, 5*time.Millisecond)
		case !did.more:
			return s.nothingHeld(ctx)
		}
	}
}

// nothingHeld fails if messages wait for partitions that are held.
func (s *sender) nothingHeld(ctx context.Context) error {
	if len(s.leftOut()) == 0 {
		return nil
	}
	var n int
	if err := s.DB.Pool.QueryRow(ctx, `select count(*) from outbox where sent_at is null`).Scan(&n); err != nil || n == 0 {
		return err
	}
	return fmt.Errorf("%d messages wait for partitions that take none: %v", n, s.leftOut())
}

// sender is a Relay at work: a machine that decides, and a name for the claim.
type sender struct {
	*Relay
	*machine
	holder uuid.UUID
}

func (r *Relay) sender() *sender { return &sender{r, newMachine(), uuid.New()} }

// row is a row of the outbox that is being sent.
type row struct {
	db.Message
	seq    int64
	placed Placed
}

func (x *row) partition() Partition { return Partition{x.Topic, x.placed.Partition} }

// done says what a round did: more, that another should follow at once; busy, that another process has the claim or had it just now, or
// that a repair goes on. settled are the partitions that have all that they were given, or of which the rest waits again.
type done struct {
	sent       int
	more, busy bool
	settled    []Partition
}

// round claims the outbox, verifies the log or sends a batch, and gives the claim back. A batch is marked as sent when what lies in front of it is
// verified, so the table published always has the newest message that is marked.
func (s *sender) round(ctx context.Context) (done, error) {
	if err := ctx.Err(); err != nil {
		return done{}, err
	}
	// A stop does not break a round off: its messages would be sent a second time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundLasts)
	defer cancel()
	p, ok := s.plan(time.Now(), s.Log.Connections())
	if !ok {
		return done{}, nil
	}
	c, err := s.claim(ctx, s.verifies(p))
	if err != nil || !c.mine {
		return done{busy: c.busy || s.repairing()}, err
	}
	p.whole = p.whole || c.due
	if p = s.begun(p, c.published); s.verifies(p) {
		r, err := s.repair(ctx, p, c.published)
		mine, released := s.release(ctx, p.whole && err == nil)
		return done{more: err == nil, settled: r.settledIf(mine)}, errors.Join(err, released)
	}
	if len(c.rows) == 0 {
		_, err := s.release(ctx, false)
		return done{busy: s.repairing()}, err
	}
	s.send(ctx, c)
	sent, failed := s.appended(c.rows, time.Now())
	var r repaired
	if p := s.behind(sent, c.published, s.DB.Schema, s.Log.Connections()); s.verifies(p) {
		if r, err = s.repair(ctx, p, c.published); err != nil {
			failed, sent = append(failed, err), nil
		}
		sent = s.standing(sent, r)
	}
	mine, err := s.mark(ctx, sent)
	mine = mine && err == nil
	s.over(mine, c.rows)
	return done{sent: len(sent), more: len(c.rows) == relayBatch || len(sent) < len(c.rows), busy: s.repairing(), settled: r.settledIf(mine)}, errors.Join(append(failed, err)...)
}

// send appends the rows of a claim, and notes where they stand.
func (s *sender) send(ctx context.Context, c claim) {
	ctx, cancel := context.WithTimeout(ctx, appendLasts)
	defer cancel()
	batch := make([]db.Message, len(c.rows))
	for i, x := range c.rows {
		batch[i] = x.Message
		batch[i].Stamp = c.tick*stampsPerTick + int64(i)
	}
	for i, p := range s.Log.Append(ctx, batch) {
		c.rows[i].placed = p
	}
}

// stampsPerTick is more than relayBatch, so that no two messages have the same stamp. Ticks count milliseconds at least, so stamps count
// microseconds.
const stampsPerTick = 1000
