package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/proto"
)

// How a log comes to lie: a broker that did not flush loses its newest messages, a follower that lags becomes the leader, a
// topic is deleted and made anew, a data folder is emptied. The owner of the messages notices it by its newest message of each
// partition, whose place and digest stand in the table published.

const (
	// keepSent is for how long a row stays after it was sent, at least.
	keepSent = 10 * time.Minute
	// sendAgain is the age at which a row that its readers have not consumed is sent again, before the topic drops it.
	sendAgain = proto.KeepAll / 2
	// pruneSlice is how many rows one transaction deletes.
	pruneSlice = 2000
	// tailMost is how many messages behind the newest own one are looked at.
	tailMost = 1000
)

// repair brings the log and the outbox together: under the claim, so that no other process sends meanwhile. It verifies all
// partitions in which this service has published, or only some; messages that the log has lost wait in the outbox again, in
// their order. It returns the partitions that have everything, and lets held ones among them go.
func (r *relay) repair(ctx context.Context, whole bool, some []Partition) (verified []Partition, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkLasts)
	defer cancel()
	defer func() {
		if err != nil {
			err = fmt.Errorf("check the log: %w", err)
			r.notBefore = time.Now().Add(longestHold)
			for _, p := range some {
				r.hold(p, r.held[p].of)
			}
		}
	}()
	if r.doubtful != nil {
		if err := r.sendNewestAgain(ctx, r.doubtful); err != nil {
			return nil, err
		}
		r.doubtful = nil
	}
	connections := r.log.Connections()
	unknown := slices.ContainsFunc(some, func(p Partition) bool { return p.Number < 0 })
	if whole || unknown {
		if err := r.log.Restore(ctx); err != nil {
			return nil, err
		}
	}
	verified, err = r.verify(ctx, func(p Partition) bool {
		return whole || slices.Contains(some, p) || slices.Contains(some, Partition{p.Topic, -1})
	})
	if err != nil {
		return nil, err
	}
	for p := range r.held {
		// A topic that was not known is restored; a partition without any message of ours has nothing to lose.
		if p.Number < 0 && unknown {
			r.held[p].open = true
		}
	}
	if whole {
		r.connections, r.check = connections, false
	}
	return verified, nil
}

// published is a row of the table of the same name.
type published struct {
	Partition
	Offset int64
	Digest []byte
	SentAt time.Time
}

// verify checks the chosen partitions.
func (r *relay) verify(ctx context.Context, chosen func(Partition) bool) (verified []Partition, err error) {
	rows, err := r.Pool.Query(ctx, `select topic, partition, "offset", digest, sent_at from published order by topic, partition`)
	if err != nil {
		return nil, err
	}
	var all []published
	var x published
	if _, err := pgx.ForEachRow(rows, []any{&x.Topic, &x.Number, &x.Offset, &x.Digest, &x.SentAt}, func() error {
		if chosen(x.Partition) {
			all = append(all, x)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	parts := make([]Partition, len(all))
	for i, a := range all {
		parts[i] = a.Partition
	}
	for p := range r.held {
		if chosen(p) && !slices.Contains(parts, p) && p.Number >= 0 {
			parts = append(parts, p)
		}
	}
	bounds, err := r.log.Bounds(ctx, parts)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if _, ok := bounds[p]; !ok {
			// It has no leader. It is verified before anything more is sent to it.
			r.hold(p, r.partitions[p.Topic])
			continue
		}
		verified = append(verified, p)
	}
	var g errgroup.Group
	g.SetLimit(8)
	states, failed := make([]state, len(all)), make([]error, len(all))
	for i, a := range all {
		if b, ok := bounds[a.Partition]; ok {
			g.Go(func() error {
				states[i], failed[i] = r.inspect(ctx, a, b)
				return nil
			})
		}
	}
	_ = g.Wait() // no function fails
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, a := range all {
		if _, ok := bounds[a.Partition]; !ok {
			continue
		}
		err := failed[i]
		if err == nil {
			err = r.settle(ctx, a, states[i])
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			slog.WarnContext(ctx, "a partition is verified later", "topic", a.Topic, "partition", a.Number, "error", err)
			r.hold(a.Partition, r.partitions[a.Topic])
			verified = slices.DeleteFunc(verified, func(p Partition) bool { return p == a.Partition })
		}
	}
	for _, p := range verified {
		if h := r.held[p]; h != nil {
			h.open = true
		}
	}
	return verified, nil
}

// state is what the log holds at the end of a partition.
type state struct {
	// lost is a message that should be there; nil if none is missing.
	lost *published
	// tail are messages behind the newest own one, in a topic in which only this service publishes.
	tail []Stored
}

func (r *relay) inspect(ctx context.Context, a published, b Bounds) (s state, err error) {
	newest := a
	for _, own := range []*published{&a, r.sentSince(a.Partition)} {
		if own == nil {
			continue
		}
		there, err := r.stands(ctx, *own, b)
		if err != nil {
			return s, err
		}
		if !there {
			return state{lost: own}, nil
		}
		newest = *own
	}
	if proto.TopicNamed(a.Topic).Owner == r.Schema && b.End > newest.Offset+1 {
		s.tail, err = r.log.Read(ctx, a.Partition, max(newest.Offset+1, b.First), tailMost)
	}
	return s, err
}

// sentSince is the newest row that this process has sent and not stored in the table published.
func (r *relay) sentSince(p Partition) *published {
	x := r.newest[p]
	if x == nil {
		return nil
	}
	return &published{Partition: p, Offset: x.placed.Offset, Digest: x.Digest(), SentAt: time.Now()}
}

// stands reports whether the log has an own message at its place. One that is old may have been dropped or compacted.
func (r *relay) stands(ctx context.Context, own published, b Bounds) (bool, error) {
	if own.Offset >= b.End {
		return false, nil
	}
	mayBeGone := time.Since(own.SentAt) > dropsAfter(own.Topic)
	if own.Offset < b.First {
		return mayBeGone, nil
	}
	got, err := r.log.Read(ctx, own.Partition, own.Offset, 1)
	if errors.Is(err, ErrUnreadable) {
		return true, nil // the place alone has to do
	}
	if err != nil {
		return false, err
	}
	if len(got) == 0 || got[0].Offset > own.Offset {
		return mayBeGone, nil
	}
	return bytes.Equal(got[0].digest(), own.Digest), nil
}

// dropsAfter is the age from which on a topic may have dropped a message.
func dropsAfter(topic string) time.Duration {
	if keep := proto.TopicNamed(topic).Keep; keep > 0 {
		return keep / 2
	}
	return sendAgain
}

// settle stores what inspect found: rows that have to be sent again, and what the newest message is.
func (r *relay) settle(ctx context.Context, a published, s state) error {
	switch {
	case s.lost != nil:
		if err := r.sendLostAgain(ctx, a.Partition, *s.lost); err != nil {
			return err
		}
		delete(r.newest, a.Partition)
		return nil
	case len(s.tail) > 0:
		// Another relay has put these behind newer ones when its claim had ended, or an answer was lost.
		tail := make([]Message, len(s.tail))
		for i, m := range s.tail {
			tail[i] = m.Message
			tail[i].Topic = a.Topic
		}
		if err := r.sendNewestAgain(ctx, tail); err != nil {
			return err
		}
		last := s.tail[len(s.tail)-1]
		delete(r.newest, a.Partition)
		return r.storePublished(ctx, a.Partition, last.Offset, last.digest())
	}
	if x := r.newest[a.Partition]; x != nil {
		delete(r.newest, a.Partition)
		return r.storePublished(ctx, a.Partition, x.placed.Offset, x.Digest())
	}
	return nil
}

func (r *relay) storePublished(ctx context.Context, p Partition, offset int64, digest []byte) error {
	_, err := r.Pool.Exec(ctx, `update published set "offset" = $3, digest = $4, sent_at = now() where (topic, partition) = ($1, $2)`, p.Topic, p.Number, offset, digest)
	return err
}

// unsend is the beginning of a statement that lets rows wait again.
const unsend = `with turn as (` + lockRelay + `) update outbox set sent_at = null, partition = null, "offset" = null
	where exists (select from turn) and sent_at is not null and `

// sendNewestAgain lets the newest row of each message's key wait again: an older one may stand behind it in the log.
func (r *relay) sendNewestAgain(ctx context.Context, about []Message) error {
	topics, keys, hashes := make([]string, len(about)), make([]string, len(about)), make([]int32, len(about))
	for i, m := range about {
		topics[i], keys[i], hashes[i] = m.Topic, m.Key, keyHash(m.Key)
	}
	// Only hashes have an index.
	_, err := r.Pool.Exec(ctx, unsend+`hash = any($3) and seq in (select max(o.seq) from (select distinct * from unnest($1::text[], $2::text[]) k (topic, key)) k
		join outbox o on o.hash = any($3) and (o.topic, o.key) = (k.topic, k.key) group by o.topic, o.key)`, topics, keys, hashes)
	if err != nil {
		return fmt.Errorf("send the newest messages of %d keys again: %w", len(keys), err)
	}
	return nil
}

// sendLostAgain lets the rows of a partition wait again, from the first one that the log has not. If it has not even the oldest
// that is kept, more may be missing: then the state of all records of the topic is published too.
func (r *relay) sendLostAgain(ctx context.Context, p Partition, lost published) error {
	type place struct {
		SentAt time.Time `db:"sent_at"`
		Offset int64
	}
	rows, err := r.Pool.Query(ctx, `select sent_at, "offset" from outbox where topic = $1 and partition = $2 and sent_at is not null order by sent_at, "offset"`,
		p.Topic, p.Number)
	if err != nil {
		return err
	}
	kept, err := pgx.CollectRows(rows, pgx.RowToStructByName[place])
	if err != nil {
		return err
	}
	b, err := r.log.Bounds(ctx, []Partition{p})
	if err != nil {
		return err
	}
	// Up to the message that is known to be lost, the rows that the log has come first. Behind it may be some that were
	// sent after the loss; they are sent again, so that they stay behind.
	known := slices.IndexFunc(kept, func(k place) bool { return k.Offset == lost.Offset })
	first, failed := sort.Search(max(known, 0), func(i int) bool {
		var there bool
		if err == nil {
			there, err = r.hasRow(ctx, p, kept[i].Offset, b[p])
		}
		return err != nil || !there
	}), err
	if failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	topic := proto.TopicNamed(p.Topic)
	slog.WarnContext(ctx, "the log has lost messages", "topic", p.Topic, "partition", p.Number, "offset", lost.Offset, "end", b[p].End,
		"sent_again", len(kept)-first, "state", first == 0)
	return pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `delete from published where (topic, partition) = ($1, $2)`, p.Topic, p.Number); err != nil {
			return err
		}
		if first < len(kept) {
			if _, err := tx.Exec(ctx, unsend+`topic = $1 and partition = $2 and (sent_at, "offset") >= ($3, $4)`, p.Topic, p.Number, kept[first].SentAt, kept[first].Offset); err != nil {
				return err
			}
		}
		if !topic.Compacted {
			return nil
		}
		if first == 0 {
			_, err := tx.Exec(ctx, `insert into lost_topic (topic, since) values ($1, now()) on conflict (topic) do update set since = excluded.since`, p.Topic)
			return err
		}
		return r.endOfState(ctx, tx, topic)
	})
}

// hasRow reports whether the log has the row that was given this offset.
func (r *relay) hasRow(ctx context.Context, p Partition, offset int64, b Bounds) (bool, error) {
	own := published{Partition: p, Offset: offset}
	m := Message{Topic: p.Topic}
	err := r.Pool.QueryRow(ctx, `select key, value, sent_at from outbox where topic = $1 and partition = $2 and "offset" = $3 and sent_at is not null
		order by sent_at limit 1`, p.Topic, p.Number, offset).Scan(&m.Key, &m.Value, &own.SentAt)
	if err != nil {
		return false, err
	}
	own.Digest = m.Digest()
	return r.stands(ctx, own, b)
}

// endOfState adds the marker behind the state of all records, for the tables that follow the topic: they then drop the keys
// that it has not. A topic with several owners or partitions has no such place.
func (d *DB) endOfState(ctx context.Context, tx pgx.Tx, t proto.Topic) error {
	if t.Owner != d.Schema || t.Partitions != 1 || !t.Compacted {
		return nil
	}
	value, err := protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Kind: proto.KindStatePublished, RecordId: proto.StateKey, State: true,
		OccurredAt: timestamppb.New(d.Now()), Actor: &proto.Actor{Channel: ChannelSystem}})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into outbox (topic, key, value, hash) values ($1, $2, $3, $4)`, t.Name, proto.StateKey, value, keyHash(proto.StateKey))
	return err
}

// publishLost publishes the state of each topic that has lost more than the rows that were kept, and the marker behind it. If it
// fails, the next check tries again.
func (d *DB) publishLost(ctx context.Context) error {
	rows, err := d.Pool.Query(ctx, `select topic, since from lost_topic order by topic`)
	if err != nil {
		return err
	}
	type lost struct {
		Topic string
		Since time.Time
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[lost])
	if err != nil || d.PublishState == nil {
		return err
	}
	var failed []error
	for _, l := range all {
		_, err := d.Lease(ctx, "state of "+l.Topic, func(ctx context.Context) error {
			if err := d.PublishState(ctx, l.Topic); err != nil {
				return err
			}
			return d.Do(ctx, func(tx *Tx) error {
				// If the topic has lost messages again meanwhile, since has changed and the row stays.
				if _, err := tx.Exec(ctx, `delete from lost_topic where topic = $1 and since = $2`, l.Topic, l.Since); err != nil {
					return err
				}
				return d.endOfState(ctx, tx.Tx, proto.TopicNamed(l.Topic))
			})
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("publish the state of %s: %w", l.Topic, err))
		}
	}
	d.wake()
	return errors.Join(failed...)
}

// prune deletes rows that were sent to these partitions, once they are old enough and the readers have consumed them. Rows that readers
// leave for long wait again instead, before the topic drops the messages.
func (d *DB) prune(ctx context.Context, log Log, partitions []Partition) error {
	of := map[string][]Partition{}
	for _, p := range partitions {
		of[p.Topic] = append(of[p.Topic], p)
	}
	for name, partitions := range of {
		consumed, err := consumedBefore(ctx, log, proto.TopicNamed(name).Readers, partitions)
		if err != nil {
			return err
		}
		for _, p := range partitions {
			if err := d.prunePartition(ctx, p, consumed[p]); err != nil {
				return fmt.Errorf("prune topic %s, partition %d: %w", p.Topic, p.Number, err)
			}
		}
	}
	return nil
}

// consumedBefore returns the offsets before which all readers have consumed everything. Without readers it is the end of time.
func consumedBefore(ctx context.Context, log Log, readers []string, partitions []Partition) (map[Partition]int64, error) {
	consumed := map[Partition]int64{}
	for _, p := range partitions {
		consumed[p] = math.MaxInt64
	}
	for _, reader := range readers {
		committed, err := log.Committed(ctx, reader, partitions)
		if err != nil {
			return nil, fmt.Errorf("ask what %s has consumed: %w", reader, err)
		}
		for _, p := range partitions {
			consumed[p] = min(consumed[p], committed[p])
		}
	}
	return consumed, nil
}

func (d *DB) prunePartition(ctx context.Context, p Partition, consumed int64) error {
	for ctx.Err() == nil {
		tag, err := d.Pool.Exec(ctx, `delete from outbox where ctid = any(array(select ctid from outbox where topic = $1 and partition = $2
			and sent_at < now() - $3::interval and "offset" < $4 order by sent_at limit $5 for update skip locked))`, p.Topic, p.Number, keepSent, consumed, pruneSlice)
		if err != nil {
			return err
		}
		if tag.RowsAffected() < pruneSlice {
			break
		}
	}
	if consumed == math.MaxInt64 {
		return nil
	}
	_, err := d.Pool.Exec(ctx, unsend+`topic = $1 and partition = $2 and sent_at < now() - $3::interval`, p.Topic, p.Number, sendAgain)
	return err
}
