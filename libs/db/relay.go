package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Log is where the relay publishes: a bus.Bus.
type Log interface {
	// Append adds messages to their topics and returns where each of them stands, in the order of batch. Messages of one
	// partition keep their order: behind one that fails, none of the same partition is added. One that failed may be in the
	// log all the same, if only the answer was lost. The other partitions do not wait for it.
	Append(ctx context.Context, batch []Message) []Placed
	// Restore creates the topics that are missing, and fails if a topic is not what it has to be.
	Restore(ctx context.Context) error
	// Bounds returns the bounds of partitions. It leaves out those that have no leader or do not exist.
	Bounds(ctx context.Context, of []Partition) (map[Partition]Bounds, error)
	// Read returns the messages from an offset on, n at most. The first one may lie behind the offset, and with an n of 1 there may be
	// none, where compaction has removed others. It does not wait for messages that are not there yet. It fails with ErrUnreadable for a
	// topic that this service may write and not read.
	Read(ctx context.Context, p Partition, from int64, n int) ([]Stored, error)
	// Committed returns the offset before which a consumer group has consumed everything, for each partition in which it
	// has consumed anything.
	Committed(ctx context.Context, group string, of []Partition) (map[Partition]int64, error)
	// Connections counts the connections that were made. A broker may have lost messages only if it was gone, and then a
	// new connection was needed.
	Connections() int64
}

// ErrUnreadable is the error of Log.Read if the brokers do not let this service read the topic.
var ErrUnreadable = errors.New("db: this service may not read the topic")

// Partition is one of a topic's.
type Partition struct {
	Topic  string
	Number int
}

// Bounds are the first offset that a partition keeps, and the one that its next message gets.
type Bounds struct{ First, End int64 }

// Stored is a message in the log.
type Stored struct {
	Message
	Offset int64
	// At is when it was written, in milliseconds.
	At time.Time
	// Digest is Message.Digest of a message that was sealed, as its sender wrote it beside.
	Digest []byte
}

func (s Stored) digest() []byte {
	if s.Digest != nil {
		return s.Digest
	}
	return s.Message.Digest()
}

// Placed says where a message stands in the log, unless Err is set. Of is how many partitions the topic has. If the topic is
// not known, Partition is -1 and Of 0.
type Placed struct {
	Partition, Of int
	Offset        int64
	Err           error
}

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
	checkLasts  = 5 * time.Second
	// checkEvery is how often one process checks that the log still has what it was given.
	checkEvery = 30 * time.Second
	// longestHold is how long a partition that takes no messages is left alone at most.
	longestHold = 2 * time.Second
)

// Relay sends the outbox until ctx ends; failed gets each error, after which it tries again. One replica sends at a time,
// by a claim that holds no connection and ends after ten seconds. A partition that takes no messages delays only its own. A message may be
// sent twice.
//
// The relay also checks that the log still has the newest messages: at its start, after errors and new connections, and
// every half a minute. If not, it sends the kept rows again, and calls PublishState where they are not enough.
func (d *DB) Relay(ctx context.Context, log Log, failed func(error)) {
	r := newRelay(d, log)
	var tending sync.WaitGroup
	defer tending.Wait()
	var tends atomic.Bool
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var sent time.Time
	var pause time.Duration
	for ctx.Err() == nil {
		did, err := r.round(ctx)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if len(did.verified) > 0 && tends.CompareAndSwap(false, true) {
			tending.Go(func() {
				defer tends.Store(false)
				if err := errors.Join(d.publishLost(ctx), d.prune(ctx, log, did.verified)); err != nil && ctx.Err() == nil {
					failed(err)
				}
			})
		}
		switch {
		case did.more:
		case err != nil:
			wait(ctx, 100*time.Millisecond)
		case did.busy:
			// The process that is sending may not have seen the row that woke this one.
			pause = min(max(2*pause, 5*time.Millisecond), 250*time.Millisecond)
			wait(ctx, pause)
		default:
			pause = 0
			if p := pauseBehind(did.sent); p > 0 {
				if time.Since(sent) < p {
					wait(ctx, p)
				}
				sent = time.Now()
			}
			select {
			case <-ctx.Done():
			case <-d.woken:
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
func (d *DB) Flush(ctx context.Context, log Log) error {
	r := newRelay(d, log)
	r.unchecked = true
	for {
		did, err := r.round(ctx)
		switch {
		case err != nil:
			return err
		case did.busy:
			wait(ctx, 5*time.Millisecond)
		case !did.more:
			return nil
		}
	}
}

// relay is what one process remembers of its sending.
type relay struct {
	*DB
	log    Log
	holder uuid.UUID
	// held are partitions that took no message, or whose newest message could not be read. They are left out until that is
	// verified, because a new message would hide that the log has lost some.
	held map[Partition]*hold
	// partitions is how many a topic has.
	partitions map[string]int
	// doubtful are messages that this process may have appended after its claim had ended, behind newer ones of their keys.
	doubtful []Message
	// newest are the rows that were sent since connections was verified. Until then the older ones in the table published
	// stay, because they show whether the log has lost anything.
	newest      map[Partition]*row
	connections int64
	// check asks for a check of the whole log, not before notBefore.
	check     bool
	notBefore time.Time
	// unchecked turns the checks off.
	unchecked bool
}

// hold leaves a partition out. open lets the next round try it, after it was verified.
type hold struct {
	of    int // partitions of the topic; 0 if that is not known
	open  bool
	pause time.Duration
	until time.Time
}

func newRelay(d *DB, log Log) *relay {
	return &relay{DB: d, log: log, holder: uuid.New(), held: map[Partition]*hold{}, partitions: map[string]int{}, newest: map[Partition]*row{}, connections: -1}
}

// row is a row of the outbox that is being sent.
type row struct {
	Message
	seq    int64
	placed Placed
}

func (x *row) partition() Partition { return Partition{x.Topic, x.placed.Partition} }

// done says what a round did: more, that another should follow at once; busy, that another process has the claim or had it just now. verified
// are the partitions that have all that they were given.
type done struct {
	sent       int
	more, busy bool
	verified   []Partition
}

// round claims the outbox, sends a batch or checks the log, and gives the claim back.
func (r *relay) round(ctx context.Context) (done, error) {
	if err := ctx.Err(); err != nil {
		return done{}, err
	}
	// A stop does not break a round off: its messages would be sent a second time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), roundLasts)
	defer cancel()
	due := r.due()
	whole := !r.unchecked && (r.check || r.connections != r.log.Connections()) && time.Now().After(r.notBefore)
	c, err := r.claim(ctx, whole || len(due) > 0 || r.doubtful != nil)
	if err != nil || !c.mine {
		return done{busy: c.busy}, err
	}
	whole = whole || c.check && time.Now().After(r.notBefore)
	switch {
	case whole || len(due) > 0 || r.doubtful != nil:
		verified, err := r.repair(ctx, whole, due)
		return done{more: err == nil, verified: verified}, errors.Join(err, r.release(ctx, whole && err == nil))
	case len(c.rows) == 0:
		return done{}, r.release(ctx, false)
	}
	before := r.log.Connections()
	r.send(ctx, c)
	return r.mark(ctx, c.rows, before)
}

// claim is the work of a round, none unless it is mine.
type claim struct {
	mine, busy, check bool
	rows              []*row
	// tick is higher in each claim of this schema.
	tick int64
}

// notHeld is the condition under which a row o of the outbox is in none of the partitions $1, $2, $3.
const notHeld = `not exists (select from unnest($1::text[], $2::int[], $3::int[]) s (topic, of, number)
	where s.topic = o.topic and (s.of = 0 or abs(o.hash % nullif(s.of, 0)) = s.number))`

// claim takes the claim if there is something to send or to check, or if needed says so.
func (r *relay) claim(ctx context.Context, needed bool) (c claim, err error) {
	topics, ofs, numbers := []string{}, []int32{}, []int32{}
	for p, h := range r.held {
		if h.open {
			continue
		}
		topics, ofs, numbers = append(topics, p.Topic), append(ofs, int32(h.of)), append(numbers, int32(p.Number))
	}
	b := &pgx.Batch{}
	b.Queue(`begin`)
	// A crash may undo what the relay stores. It is repeated then, so the commit need not wait for the disk.
	b.Queue(`set local synchronous_commit = off`)
	// The server's clock may be set back: a claim that ends later than any can is free too.
	b.Queue(`update relay set holder = $4, until = clock_timestamp() + $5::interval, ticked = `+nextTick+`
		where (holder = $4 or until not between clock_timestamp() and clock_timestamp() + 2 * $5::interval)
		and ($6 or not $8 and checked_at not between clock_timestamp() - $7::interval and clock_timestamp() or exists (select from outbox o where sent_at is null and `+notHeld+`))
		returning true, not $8 and checked_at not between clock_timestamp() - $7::interval and clock_timestamp(), ticked`,
		topics, ofs, numbers, r.holder, claimLasts, needed, checkEvery, r.unchecked).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&c.mine, &c.check, &c.tick); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	b.Queue(`select seq, topic, key, value, coalesce(committed_at, created_at) from outbox o where sent_at is null and `+notHeld+`
		and exists (select from relay where holder = $4 and until > clock_timestamp()) order by seq limit $5`,
		topics, ofs, numbers, r.holder, relayBatch).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var x row
			if err := rows.Scan(&x.seq, &x.Topic, &x.Key, &x.Value, &x.Committed); err != nil {
				return err
			}
			c.rows = append(c.rows, &x)
		}
		return rows.Err()
	})
	// Asked last: another process may have taken the claim while this one waited to. What still waits behind such a process is busy too, even if
	// it has given the claim back by now.
	b.Queue(`select holder is distinct from $4 and (until between clock_timestamp() and clock_timestamp() + 2 * $5::interval
		or exists (select from outbox o where sent_at is null and `+notHeld+`)) from relay`, topics, ofs, numbers, r.holder, claimLasts).
		QueryRow(func(row pgx.Row) error { return row.Scan(&c.busy) })
	b.Queue(`commit`)
	err = r.Pool.SendBatch(ctx, b).Close()
	return c, err
}

// release gives the claim back, and stores that the log was checked.
func (r *relay) release(ctx context.Context, checked bool) error {
	_, err := r.Pool.Exec(ctx, `update relay set until = '-infinity', checked_at = case when $2 then clock_timestamp() else checked_at end where holder = $1`,
		r.holder, checked)
	return err
}

// stampsPerTick is more than relayBatch, so that no two messages have the same stamp. Ticks count milliseconds at least, so stamps count
// microseconds.
const stampsPerTick = 1000

func (r *relay) send(ctx context.Context, c claim) {
	ctx, cancel := context.WithTimeout(ctx, appendLasts)
	defer cancel()
	batch := make([]Message, len(c.rows))
	for i, x := range c.rows {
		batch[i] = x.Message
		batch[i].Stamp = c.tick*stampsPerTick + int64(i)
	}
	for i, p := range r.log.Append(ctx, batch) {
		c.rows[i].placed = p
	}
}

// mark stores which rows were sent, and holds the partitions of the others. If the claim has ended meanwhile, another
// process may have sent the same rows and newer ones; the next round repairs that.
func (r *relay) mark(ctx context.Context, rows []*row, connectionsBefore int64) (done, error) {
	var sent []*row
	var failed []error
	for _, x := range rows {
		if x.placed.Of > 0 {
			r.partitions[x.Topic] = x.placed.Of
		}
		if x.placed.Err == nil {
			sent = append(sent, x)
		} else if r.hold(x.partition(), x.placed.Of) {
			failed = append(failed, fmt.Errorf("send to topic %s, partition %d: %w", x.Topic, x.placed.Partition, x.placed.Err))
		}
	}
	mine, err := r.store(ctx, sent, connectionsBefore == r.connections && r.log.Connections() == r.connections)
	if err != nil || !mine {
		for _, x := range rows {
			r.doubtful = append(r.doubtful, x.Message)
		}
	}
	for _, x := range sent {
		for _, p := range []Partition{x.partition(), {x.Topic, -1}} {
			if h := r.held[p]; h != nil && h.open {
				delete(r.held, p)
			}
		}
	}
	return done{sent: len(sent), more: len(rows) == relayBatch || len(sent) < len(rows) || r.check}, errors.Join(append(failed, err)...)
}

// due are the held partitions that may be verified now.
func (r *relay) due() (due []Partition) {
	for p, h := range r.held {
		if !h.open && time.Now().After(h.until) {
			due = append(due, p)
		}
	}
	return due
}

// hold leaves a partition out of the next rounds, for longer each time, and reports whether that is new.
func (r *relay) hold(p Partition, of int) (fresh bool) {
	h := r.held[p]
	if h == nil {
		h = &hold{of: of, pause: 50 * time.Millisecond}
		r.held[p] = h
		fresh = true
	}
	if fresh || h.open || time.Now().After(h.until) {
		h.open, h.of, h.pause = false, of, min(2*h.pause, longestHold)
		h.until = time.Now().Add(h.pause)
	}
	return fresh
}

// store marks rows as sent and gives the claim back, in one round trip. It changes nothing and reports false if the claim is
// another process's by now.
func (r *relay) store(ctx context.Context, rows []*row, verified bool) (mine bool, err error) {
	seqs, numbers, offsets := make([]int64, len(rows)), make([]int32, len(rows)), make([]int64, len(rows))
	first, last := map[Partition]int64{}, map[Partition]*row{}
	for i, x := range rows {
		seqs[i], numbers[i], offsets[i] = x.seq, int32(x.placed.Partition), x.placed.Offset
		p := x.partition()
		if last[p] == nil {
			first[p] = x.placed.Offset
		}
		last[p] = x
	}
	b := &pgx.Batch{}
	b.Queue(`begin`)
	b.Queue(`set local synchronous_commit = off`)
	b.Queue(`select holder = $1 from relay for update`, r.holder).QueryRow(func(row pgx.Row) error { return row.Scan(&mine) })
	const ifMine = ` where exists (select from relay where holder = $1)`
	b.Queue(`update outbox o set partition = s.partition, "offset" = s.at, sent_at = now()
		from unnest($2::bigint[], $3::int[], $4::bigint[]) s (seq, partition, at)`+ifMine+` and o.seq = s.seq and o.sent_at is null`,
		r.holder, seqs, numbers, offsets)
	for p, x := range last {
		b.Queue(`insert into published (topic, partition, "offset", digest, sent_at) select $2, $3, $4, $5, now()`+ifMine+`
			on conflict (topic, partition) do update set "offset" = excluded."offset", digest = excluded.digest, sent_at = excluded.sent_at
			where $6 and published."offset" < $7`,
			r.holder, p.Topic, p.Number, x.placed.Offset, x.Digest(), verified, first[p]).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() == 0 && !r.unchecked {
				// Not verified yet, or the log was shorter than it has been.
				r.newest[p], r.check = x, true
			}
			return nil
		})
	}
	b.Queue(`update relay set until = '-infinity' where holder = $1`, r.holder)
	b.Queue(`commit`)
	return mine, r.Pool.SendBatch(ctx, b).Close()
}
