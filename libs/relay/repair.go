package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	for i, part := range parts {
		_, led := bounds[part]
		err := failed[i]
		if x, sent := published[part]; err == nil && led && sent {
			err = s.settle(ctx, x, found[i])
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

// settle stores what a partition needs: rows that have to be sent again, and what the newest message is.
func (s *sender) settle(ctx context.Context, published own, f finding) error {
	if f.missing {
		return s.sendLostAgain(ctx, published)
	}
	if len(f.tail) > 0 {
		tail := make([]db.Message, len(f.tail))
		for i, m := range f.tail {
			tail[i] = m.Message
			tail[i].Topic = published.Topic
		}
		if err := s.sendNewestAgain(ctx, tail); err != nil {
			return err
		}
	}
	if f.newest.Offset == published.Offset {
		return nil
	}
	return move(ctx, s.DB.Pool, published, &f.newest)
}

// errMoved is what a process gets whose claim has ended: another one knows more.
var errMoved = errors.New("another process has moved what is published")

// move replaces the newest message of a partition, by none if to is nil.
func move(ctx context.Context, on interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
}, from own, to *own) error {
	const was = ` where (topic, partition, "offset", coalesce(appended_at, 'epoch'), digest) = (@topic, @number, @offset, @at, @digest)`
	args := db.Args{"topic": from.Topic, "number": from.Number, "offset": from.Offset, "at": from.At, "digest": from.Digest}
	statement := `delete from published` + was
	if to != nil {
		statement = `update published set "offset" = @next, appended_at = @appended, digest = @of, sent_at = @sent` + was
		args["next"], args["appended"], args["of"], args["sent"] = to.Offset, to.At, to.Digest, to.SentAt
	}
	tag, err := on.Exec(ctx, statement, args)
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

// kept is a row of the outbox that was sent.
type kept struct {
	Seq    int64
	SentAt time.Time `db:"sent_at"`
	Offset int64
}

// sendLostAgain lets the rows of a partition wait again, from the first one that the log has not, and publishes the state of all records
// where these rows are not enough.
func (s *sender) sendLostAgain(ctx context.Context, missing own) error {
	p := missing.Partition
	all, err := db.Rows[kept](ctx, s.DB.Pool, `select seq, sent_at, "offset" from outbox where topic = $1 and partition = $2 and sent_at is not null order by sent_at, "offset"`,
		p.Topic, p.Number)
	if err != nil {
		return err
	}
	b, err := s.Log.Bounds(ctx, []Partition{p})
	if err != nil {
		return err
	}
	first, err := firstMissing(slices.IndexFunc(all, func(k kept) bool { return k.Offset == missing.Offset }), func(i int) (bool, error) {
		x, err := s.keptRow(ctx, p, all[i])
		if err != nil {
			return false, err
		}
		x.SentAt = time.Now() // where the log has lost something, what is gone may be lost, however old it is
		return stands(ctx, s.Log, x, b[p], x.SentAt)
	})
	if err != nil {
		return err
	}
	topic := proto.TopicNamed(p.Topic)
	by := repairOf(first, topic)
	var last *own // the newest one that the log has
	if first > 0 {
		x, err := s.keptRow(ctx, p, all[first-1])
		if err != nil {
			return err
		}
		last = &x
	}
	slog.WarnContext(ctx, "the log has lost messages", "topic", p.Topic, "partition", p.Number, "offset", missing.Offset, "end", b[p].End,
		"sent_again", len(all)-first, "state", by == publishing)
	return pgx.BeginFunc(ctx, s.DB.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, db.LockRelay); err != nil {
			return err
		}
		if err := move(ctx, tx, missing, last); err != nil {
			return err
		}
		if first < len(all) {
			if _, err := tx.Exec(ctx, unsend+`topic = $1 and partition = $2 and (sent_at, "offset") >= ($3, $4)`, p.Topic, p.Number, all[first].SentAt, all[first].Offset); err != nil {
				return err
			}
		}
		if by == publishing {
			_, err := tx.Exec(ctx, lose+`values ($1, now())`+again, p.Topic)
			return err
		}
		return s.endOfState(ctx, tx, topic)
	})
}

// keptRow is a row that was sent to a partition. Its index ends with when that was, so a row is read without the others of the partition.
func (s *sender) keptRow(ctx context.Context, p Partition, k kept) (own, error) {
	x, m := own{place: place{Partition: p}}, db.Message{Topic: p.Topic}
	err := s.DB.Pool.QueryRow(ctx, `select key, value, "offset", coalesce(appended_at, 'epoch'), sent_at from outbox
		where topic = $1 and partition = $2 and sent_at = $3 and seq = $4`, p.Topic, p.Number, k.SentAt, k.Seq).Scan(&m.Key, &m.Value, &x.Offset, &x.At, &x.SentAt)
	x.Digest = m.Digest()
	return x, err
}
