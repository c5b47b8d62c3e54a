package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// repaired is what became of the partitions of a plan. Those that could not be verified are held.
type repaired struct {
	// settled have everything that they were given, or the rest waits in the outbox again: that is so for those which are lost too.
	settled, lost []Partition
	// tails are the ends of those in which messages lie that nobody has marked.
	tails map[Partition]int64
}

// settledIf are the settled partitions, if the claim was this process's until the end of the round: what another one has published since was not
// compared, and may be lost.
func (r repaired) settledIf(mine bool) []Partition {
	if !mine {
		return nil
	}
	return r.settled
}

// repair brings the log and the outbox together: under the claim, so that no other process sends meanwhile. Messages that the log has lost
// wait in the outbox again, in their order.
func (s *sender) repair(ctx context.Context, p plan, published map[Partition]own) (r repaired, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkLasts)
	defer cancel()
	defer func() {
		if err != nil {
			err = fmt.Errorf("check the log: %w", err)
			s.failed(p, time.Now())
		}
	}()
	if s.doubtful != nil {
		if err := s.sendNewestAgain(ctx, s.doubtful); err != nil {
			return repaired{}, err
		}
		s.doubtful = nil
	}
	connections := s.Log.Connections()
	if p.restores() {
		if err := s.Log.Restore(ctx); err != nil {
			return repaired{}, err
		}
	}
	if r, err = s.verifyAll(ctx, p, published); err != nil {
		return repaired{}, err
	}
	s.checked(p, connections)
	return r, nil
}

// verifyAll verifies the partitions of a plan, and holds those that cannot be.
func (s *sender) verifyAll(ctx context.Context, p plan, published map[Partition]own) (r repaired, err error) {
	r.tails = map[Partition]int64{}
	parts := s.included(p, published)
	bounds, err := s.Log.Bounds(ctx, parts)
	if err != nil { // of none of them, so all are held, and the others go on
		slog.WarnContext(ctx, "partitions are verified later", "partitions", parts, "error", err)
	}
	var g errgroup.Group
	g.SetLimit(8)
	found, failed := make([]finding, len(parts)), make([]error, len(parts))
	for i, part := range parts {
		x, sent := published[part]
		if b, led := bounds[part]; sent && led {
			g.Go(func() error {
				found[i], failed[i] = verify(ctx, s.Log, s.DB.Schema, x, b, time.Now())
				return nil
			})
		}
	}
	_ = g.Wait() // no function fails
	until := time.Now().Add(slicesLast)
	for i, part := range parts {
		_, led := bounds[part]
		err, done := failed[i], true
		if x, sent := published[part]; err == nil && led && sent {
			done, err = s.settle(ctx, x, found[i], until)
		}
		if ctx.Err() != nil {
			return repaired{}, ctx.Err()
		}
		if err != nil {
			slog.WarnContext(ctx, "a partition is verified later", "topic", part.Topic, "partition", part.Number, "error", err)
		}
		if err != nil || !led {
			s.hold(part, time.Now())
			continue
		}
		if !done {
			s.unfinished(part, time.Now())
			continue
		}
		s.verified(part)
		if r.settled = append(r.settled, part); found[i].missing {
			r.lost = append(r.lost, part)
		}
		if len(found[i].tail) > 0 {
			r.tails[part] = found[i].newest.Offset
		}
	}
	return r, nil
}

// settle stores what a partition needs: rows that have to be sent again, and what the newest message is. done is false if some of the rows do not wait yet.
func (s *sender) settle(ctx context.Context, published own, f finding, until time.Time) (done bool, err error) {
	if f.missing {
		return s.sendLostAgain(ctx, published, until)
	}
	if len(f.tail) > 0 {
		tail := make([]db.Message, len(f.tail))
		for i, m := range f.tail {
			tail[i] = m.Message
			tail[i].Topic = published.Topic
		}
		if err := s.sendNewestAgain(ctx, tail); err != nil {
			return false, err
		}
	}
	if f.newest.Offset == published.Offset {
		return true, nil
	}
	return true, s.whileMine(ctx, func(tx pgx.Tx) error { return move(ctx, tx, published, &f.newest) })
}

// errMoved is what a process gets whose claim has ended: another one knows more.
var errMoved = errors.New("another process has moved what is published")

// move replaces the newest message of a partition, by none if to is nil.
func move(ctx context.Context, tx pgx.Tx, from own, to *own) error {
	const was = ` where (topic, partition, "offset", coalesce(appended_at, 'epoch'), digest) = (@topic, @number, @offset, @at, @digest)`
	args := db.Args{"topic": from.Topic, "number": from.Number, "offset": from.Offset, "at": from.At, "digest": from.Digest}
	statement := `delete from published` + was
	if to != nil {
		statement = `update published set "offset" = @to, appended_at = @appended, digest = @of, sent_at = @sent, next_sent_at = @next_sent, next_offset = @next` + was
		args["to"], args["appended"], args["of"], args["sent"] = to.Offset, to.At, to.Digest, to.SentAt
		args["next_sent"], args["next"] = to.next.columns()
	}
	tag, err := tx.Exec(ctx, statement, args)
	if err == nil && tag.RowsAffected() == 0 {
		return errMoved
	}
	return err
}

// unsend is the beginning of a statement that lets rows wait again.
const unsend = `with turn as (` + db.LockRelay + `) update outbox set sent_at = null, partition = null, "offset" = null, appended_at = null
	where exists (select from turn) and sent_at is not null and `

// sendNewestAgain lets the newest row of each message's key wait again: an older one may stand behind it in the log. Where no row of a record is
// kept, the state of its topic is published.
func (s *sender) sendNewestAgain(ctx context.Context, about []db.Message) error {
	topics, keys, hashes, compacted := make([]string, len(about)), make([]string, len(about)), make([]int32, len(about)), make([]bool, len(about))
	for i, m := range about {
		topics[i], keys[i], hashes[i], compacted[i] = m.Topic, m.Key, db.KeyHash(m.Key), proto.TopicNamed(m.Topic).Compacted
	}
	b := &pgx.Batch{}
	// Only hashes have an index.
	b.Queue(unsend+`hash = any($3) and seq in (select max(o.seq) from (select distinct * from unnest($1::text[], $2::text[]) k (topic, key)) k
		join outbox o on o.hash = any($3) and (o.topic, o.key) = (k.topic, k.key) group by o.topic, o.key)`, topics, keys, hashes)
	b.Queue(lose+`select distinct topic, now() from unnest($1::text[], $2::text[], $4::bool[]) k (topic, key, compacted)
		where compacted and not exists (select from outbox o where o.hash = any($3) and (o.topic, o.key) = (k.topic, k.key))`+again, topics, keys, hashes, compacted)
	if err := s.DB.Pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("send the newest messages of %d keys again: %w", len(keys), err)
	}
	return nil
}

// lose and again are a statement around the topics of which the state of all records has to be published.
const lose, again = `insert into lost_topic (topic, since) `, ` on conflict (topic) do update set since = excluded.since`

// sliceRows is how many rows one transaction lets wait again, deletes or settles. Who has to lock the relay waits for a slice at the most.
const sliceRows = 500

// sendLostAgain lets the rows of a partition wait again, from the first one that the log has not, and publishes the state of all records where these rows are not
// enough. It goes in slices, from the oldest row on, each a transaction: a loss may be larger than what a round has time for, and than what its process lives for.
// The first transaction moves what is published back to the first row that the log has not, and sets published.next, by which every process knows that some rows do
// not wait yet; the last one moves it back to the newest row that the log has. So who takes over goes on where the one before has come to, and sends nothing to
// the partition before that. done is false if rows were left at the time until. The first transaction does not wait for later even if it is over: only this process
// knows of the loss until then, and what another one sends may hide it.
func (s *sender) sendLostAgain(ctx context.Context, published own, until time.Time) (done bool, err error) {
	if published.next == nil {
		first, err := s.firstLost(ctx, published)
		if err != nil {
			return false, err
		}
		if err := s.whileMine(ctx, func(tx pgx.Tx) error { return move(ctx, tx, published, &first) }); err != nil {
			return false, err
		}
		published = first
	}
	for !done && err == nil && time.Now().Before(until) {
		err = s.whileMine(ctx, func(tx pgx.Tx) (err error) {
			done, err = s.slice(ctx, tx, &published)
			return err
		})
	}
	return done, err
}

// whileMine runs f in a transaction, with the relay's row locked, if the claim is this process's: nobody else has marked a row or moved anything since then.
func (s *sender) whileMine(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.DB.Pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, `select holder = $1 from relay for update`, s.holder).Scan(&mine); err != nil {
			return err
		}
		if !mine {
			return errMoved
		}
		return f(tx)
	})
}

// firstLost is the first row of a partition that the log has not, and the one from which on rows wait again. If it has all that are kept, it is what was published:
// its row went when its record ended.
func (s *sender) firstLost(ctx context.Context, published own) (own, error) {
	p := published.Partition
	b, err := s.Log.Bounds(ctx, []Partition{p})
	if err != nil {
		return own{}, err
	}
	first, err := firstMissing(published.SentAt, func(from time.Time) ([]since, error) {
		return db.Rows[since](ctx, s.DB.Pool, `select sent_at, "offset" from outbox where topic = $1 and partition = $2
			and sent_at = (select min(sent_at) from outbox where topic = $1 and partition = $2 and sent_at >= $3) order by "offset"`, p.Topic, p.Number, from)
	}, func(at since) (bool, error) {
		x, err := s.keptRow(ctx, p, at)
		if err != nil {
			return false, err
		}
		x.SentAt = time.Now() // where the log has lost something, what is gone may be lost, however old it is
		return stands(ctx, s.Log, x, b[p], x.SentAt)
	})
	if err != nil {
		return own{}, err
	}
	x := published
	if first != nil {
		if x, err = s.keptRow(ctx, p, *first); err != nil {
			return own{}, err
		}
	}
	slog.WarnContext(ctx, "the log has lost messages", "topic", p.Topic, "partition", p.Number, "offset", published.Offset, "end", b[p].End, "from", x.Offset)
	x.next = &since{x.SentAt, x.Offset}
	return x, nil
}

// slice lets the next rows wait again, and moves published: to what is left of them, or if nothing is, to the newest row that the log has.
func (s *sender) slice(ctx context.Context, tx pgx.Tx, published *own) (done bool, err error) {
	p, from := published.Partition, published.next
	to := &since{}
	err = tx.QueryRow(ctx, `select sent_at, "offset" from outbox where topic = $1 and partition = $2 and sent_at is not null and (sent_at, "offset") >= ($3, $4)
		order by sent_at, "offset" offset $5 limit 1`, p.Topic, p.Number, from.SentAt, from.Offset, sliceRows).Scan(&to.SentAt, &to.Offset)
	if done = errors.Is(err, pgx.ErrNoRows); done {
		to = nil
	} else if err != nil {
		return false, err
	}
	sent, offset := to.columns()
	if _, err := tx.Exec(ctx, unsend+`topic = $1 and partition = $2 and (sent_at, "offset") >= ($3, $4) and (sent_at, "offset") < (coalesce($5::timestamptz, 'infinity'), coalesce($6::bigint, 0))`,
		p.Topic, p.Number, from.SentAt, from.Offset, sent, offset); err != nil {
		return false, err
	}
	if !done {
		was := *published
		published.next = to
		return false, move(ctx, tx, was, published)
	}
	last, err := s.lastBefore(ctx, tx, *published)
	if err != nil {
		return false, err
	}
	if err := move(ctx, tx, *published, last); err != nil {
		return false, err
	}
	topic := proto.TopicNamed(p.Topic)
	by := repairOf(last == nil, topic)
	slog.WarnContext(ctx, "messages that the log has lost are sent again", "topic", p.Topic, "partition", p.Number, "state", by == publishing)
	if by == publishing {
		_, err := tx.Exec(ctx, lose+`values ($1, now())`+again, p.Topic)
		return true, err
	}
	return true, s.endOfState(ctx, tx, topic)
}

// lastBefore is the newest row in front of the first one that the log has not, nil if none is kept.
func (s *sender) lastBefore(ctx context.Context, tx pgx.Tx, first own) (*own, error) {
	x, err := ownRow(tx.QueryRow(ctx, ownRows+`sent_at is not null and (sent_at, "offset") < ($3, $4) order by sent_at desc, "offset" desc limit 1`,
		first.Topic, first.Number, first.SentAt, first.Offset), first.Partition)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &x, err
}

// keptRow is a row that was sent to a partition. Its index ends with when that was, so a row is read without the others of the partition.
func (s *sender) keptRow(ctx context.Context, p Partition, at since) (own, error) {
	return ownRow(s.DB.Pool.QueryRow(ctx, ownRows+`sent_at = $3 and "offset" = $4`, p.Topic, p.Number, at.SentAt, at.Offset), p)
}

const ownRows = `select key, value, "offset", coalesce(appended_at, 'epoch'), sent_at from outbox where topic = $1 and partition = $2 and `

func ownRow(row pgx.Row, p Partition) (own, error) {
	x, m := own{place: place{Partition: p}}, db.Message{Topic: p.Topic}
	err := row.Scan(&m.Key, &m.Value, &x.Offset, &x.At, &x.SentAt)
	x.Digest = m.Digest()
	return x, err
}
