package relay

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// repair brings the log and the outbox together: under the claim, so that no other process sends meanwhile. Messages that the log has lost
// wait in the outbox again, in their order. It returns the partitions of the plan that have everything.
func (s *sender) repair(ctx context.Context, p plan) (verified []Partition, err error) {
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
			return nil, err
		}
		s.doubtful = nil
	}
	connections := s.Log.Connections()
	if p.restores() {
		if err := s.Log.Restore(ctx); err != nil {
			return nil, err
		}
	}
	if verified, err = s.verifyAll(ctx, p); err != nil {
		return nil, err
	}
	s.checked(p, connections)
	return verified, nil
}

// verifyAll verifies the partitions of a plan, and holds those that cannot be.
func (s *sender) verifyAll(ctx context.Context, p plan) (verified []Partition, err error) {
	published, err := s.published(ctx)
	if err != nil {
		return nil, err
	}
	parts := s.included(p, published)
	bounds, err := s.Log.Bounds(ctx, parts)
	if err != nil {
		return nil, err
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
			err = s.settle(ctx, x.published, found[i])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			slog.WarnContext(ctx, "a partition is verified later", "topic", part.Topic, "partition", part.Number, "error", err)
		}
		if err != nil || !led {
			s.hold(part, time.Now())
			continue
		}
		s.verified(part)
		verified = append(verified, part)
	}
	return verified, nil
}

// published is what the tables say about each partition in which this service has published.
func (s *sender) published(ctx context.Context) (map[Partition]known, error) {
	rows, err := s.DB.Pool.Query(ctx, `select p.topic, p.partition, p."offset", p.digest, p.sent_at, k.key, k.value, k."offset", k.sent_at,
			array(select o."offset" from outbox o where (o.topic, o.partition) = (p.topic, p.partition) and o.sent_at >= p.sent_at and o."offset" > p."offset")
		from published p left join lateral (select key, value, "offset", sent_at from outbox o
			where (o.topic, o.partition) = (p.topic, p.partition) and sent_at is not null order by sent_at desc, "offset" desc limit 1) k on true`)
	if err != nil {
		return nil, err
	}
	all := map[Partition]known{}
	var x known
	var key *string
	var value []byte
	var offset *int64
	var sentAt *time.Time
	_, err = pgx.ForEachRow(rows, []any{&x.published.Topic, &x.published.Number, &x.published.Offset, &x.published.Digest, &x.published.SentAt,
		&key, &value, &offset, &sentAt, &x.marked}, func() error {
		x.newest = nil
		if key != nil {
			x.newest = &own{x.published.Partition, *offset, db.Message{Key: *key, Value: value}.Digest(), *sentAt}
		}
		all[x.published.Partition] = x
		return nil
	})
	return all, err
}

// settle stores what a partition needs: rows that have to be sent again, and what the newest message is.
func (s *sender) settle(ctx context.Context, published own, f finding) error {
	if f.missing != nil {
		return s.sendLostAgain(ctx, *f.missing)
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
	_, err := s.DB.Pool.Exec(ctx, `update published set "offset" = $3, digest = $4, sent_at = $5 where (topic, partition) = ($1, $2)`,
		published.Topic, published.Number, f.newest.Offset, f.newest.Digest, f.newest.SentAt)
	return err
}

// unsend is the beginning of a statement that lets rows wait again.
const unsend = `with turn as (` + db.LockRelay + `) update outbox set sent_at = null, partition = null, "offset" = null
	where exists (select from turn) and sent_at is not null and `

// sendNewestAgain lets the newest row of each message's key wait again: an older one may stand behind it in the log.
func (s *sender) sendNewestAgain(ctx context.Context, about []db.Message) error {
	topics, keys, hashes := make([]string, len(about)), make([]string, len(about)), make([]int32, len(about))
	for i, m := range about {
		topics[i], keys[i], hashes[i] = m.Topic, m.Key, db.KeyHash(m.Key)
	}
	// Only hashes have an index.
	_, err := s.DB.Pool.Exec(ctx, unsend+`hash = any($3) and seq in (select max(o.seq) from (select distinct * from unnest($1::text[], $2::text[]) k (topic, key)) k
		join outbox o on o.hash = any($3) and (o.topic, o.key) = (k.topic, k.key) group by o.topic, o.key)`, topics, keys, hashes)
	if err != nil {
		return fmt.Errorf("send the newest messages of %d keys again: %w", len(keys), err)
	}
	return nil
}

// kept is a row of the outbox that was sent.
type kept struct {
	SentAt time.Time `db:"sent_at"`
	Offset int64
}

// sendLostAgain lets the rows of a partition wait again, from the first one that the log has not, and publishes the state of all records
// where these rows are not enough.
func (s *sender) sendLostAgain(ctx context.Context, missing own) error {
	p := missing.Partition
	rows, err := s.DB.Pool.Query(ctx, `select sent_at, "offset" from outbox where topic = $1 and partition = $2 and sent_at is not null order by sent_at, "offset"`,
		p.Topic, p.Number)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[kept])
	if err != nil {
		return err
	}
	b, err := s.Log.Bounds(ctx, []Partition{p})
	if err != nil {
		return err
	}
	first, err := firstMissing(slices.IndexFunc(all, func(k kept) bool { return k.Offset == missing.Offset }), func(i int) (bool, error) {
		x, err := s.keptRow(ctx, p, all[i].Offset)
		if err != nil {
			return false, err
		}
		return stands(ctx, s.Log, x, b[p], time.Now())
	})
	if err != nil {
		return err
	}
	topic := proto.TopicNamed(p.Topic)
	by := repairOf(first, topic)
	slog.WarnContext(ctx, "the log has lost messages", "topic", p.Topic, "partition", p.Number, "offset", missing.Offset, "end", b[p].End,
		"sent_again", len(all)-first, "state", by == publishing)
	return pgx.BeginFunc(ctx, s.DB.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from published where (topic, partition) = ($1, $2)`, p.Topic, p.Number); err != nil {
			return err
		}
		if first < len(all) {
			if _, err := tx.Exec(ctx, unsend+`topic = $1 and partition = $2 and (sent_at, "offset") >= ($3, $4)`, p.Topic, p.Number, all[first].SentAt, all[first].Offset); err != nil {
				return err
			}
		}
		if by == publishing {
			_, err := tx.Exec(ctx, `insert into lost_topic (topic, since) values ($1, now()) on conflict (topic) do update set since = excluded.since`, p.Topic)
			return err
		}
		return s.endOfState(ctx, tx, topic)
	})
}

// keptRow is the row that was sent to an offset.
func (s *sender) keptRow(ctx context.Context, p Partition, offset int64) (own, error) {
	x, m := own{Partition: p, Offset: offset}, db.Message{Topic: p.Topic}
	err := s.DB.Pool.QueryRow(ctx, `select key, value, sent_at from outbox where topic = $1 and partition = $2 and "offset" = $3 and sent_at is not null
		order by sent_at limit 1`, p.Topic, p.Number, offset).Scan(&m.Key, &m.Value, &x.SentAt)
	x.Digest = m.Digest()
	return x, err
}
