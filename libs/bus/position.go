package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// stand is how far a partition is handled.
type stand struct {
	// next is the offset of the next message.
	next int64
	// anchor is the mark of the message at next-1; uuid.Nil while that is not known.
	anchor uuid.UUID
	// stamp is the highest in front of next, in a topic that its owner signs: a message that is not above it is written again.
	stamp int64
}

// mark tells a message from others, and from itself sent again. A log that its owners filled anew may have the same message at the
// same offset behind others than before, so the time at which a message was written counts.
func mark(key, value []byte, at time.Time) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%d\x00%s\x00%s", at.UnixMilli(), key, value))
}

// stands are those of the partitions of a topic.
type stands map[int]stand

func (p stands) offsets() offsets {
	o := offsets{}
	for partition, at := range p {
		o[partition] = at.next
	}
	return o
}

// since is the time before which events of the topic are history: when the schema of the service was made or, for a topic that the
// service follows only from a later version on, when it first did.
func (l *line) since(ctx context.Context) (at time.Time, err error) {
	err = l.DB.Do(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `insert into following (topic, since) select t, case when exists (select from following where topic <> '') then $2
			else (select since from following where topic = '') end from unnest($1::text[]) t on conflict do nothing`, l.topics(), tx.Now)
		if err != nil {
			return err
		}
		// Postgres has times that Go has not: those before this one.
		return tx.QueryRow(ctx, `select greatest(since, 'epoch') from following where topic = $1`, l.follow.Topic).Scan(&at)
	})
	return at, err
}

// history reports whether an event is no news: its owner says so, it is from before this service followed the topic, or so old
// that the topic may have been compacted, so that this may be the last of several changes.
func (l *line) history(e Event, since, now time.Time) bool {
	return e.State || e.At.Before(since) || e.At.Before(now.Add(-l.keptFor()))
}

// keptFor is how long topics keep every change.
func (c *Consumer) keptFor() time.Duration {
	return cmp.Or(c.kept, proto.KeepAll)
}

// absent reports whether a position was last current so long ago that its topic may have been compacted since. Clocks may differ
// by a hundredth of that time.
func (c *Consumer) absent(currentAt, now time.Time) bool {
	return now.Sub(currentAt) > c.keptFor()/100*99
}

// turn is where reading goes on.
type turn int

const (
	// onward: behind the message that was read last.
	onward turn = iota
	// anew: from the first message of a log that is not the one that was read. Nothing in it was handled before; the inbox and the
	// versions of records keep effects from happening twice.
	anew
	// compared: from the first message, after what the log has no longer has gone from the copy: the topic may have been
	// compacted since the position was current.
	compared
	// behindGap: from the first message, since the topic has dropped those in front of it.
	behindGap
)

// turnOf decides where reading goes on. lost says why the log cannot be the one that was read; absent, that its topic may
// have been compacted meanwhile; copies, that the service can compare its copy with the log.
func turnOf(at stand, log relay.Bounds, lost string, absent, copies bool) turn {
	switch {
	case lost != "":
		return anew
	case absent && copies:
		return compared
	case at.next < log.First:
		return behindGap
	}
	return onward
}

// stored is the place of a partition in the table position, and when it was current last. A partition that has none begins at first.
func (c *Consumer) stored(ctx context.Context, p relay.Partition, first int64) (at stand, currentAt time.Time, err error) {
	err = c.DB.Do(ctx, func(tx *db.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`insert into position (topic, partition, next, current_at) values ($1, $2, $3, $4) on conflict do nothing`, p.Topic, p.Number, first, c.DB.Now())
		b.Queue(`select next, coalesce(anchor, '00000000-0000-0000-0000-000000000000'), stamp, current_at from position where (topic, partition) = ($1, $2)`, p.Topic, p.Number).
			QueryRow(func(row pgx.Row) error { return row.Scan(&at.next, &at.anchor, &at.stamp, &currentAt) })
		return tx.SendBatch(ctx, b).Close()
	})
	return at, currentAt, err
}

// position is the place from which a partition is read, as turnOf decides, stored in the table position.
func (l *line) position(ctx context.Context, p relay.Partition, log relay.Bounds) (stand, error) {
	now := l.DB.Now()
	at, currentAt, err := l.stored(ctx, p, log.First)
	if err != nil {
		return stand{}, err
	}
	lost, err := l.Bus.lost(ctx, p, at, log)
	if err != nil {
		return stand{}, away{err}
	}
	t := turnOf(at, log, lost, l.absent(currentAt, now), l.follow.Keys != nil)
	where := []any{"topic", p.Topic, "partition", p.Number, "position", at.next, "first", log.First, "end", log.End}
	switch t {
	case onward:
		return at, nil
	case anew:
		slog.WarnContext(ctx, "the log is not the one that was read: it is read again from its first message", append(where, "cause", lost)...)
		l.resets.Add(ctx, 1, metric.WithAttributes(attribute.String("topic", p.Topic)))
	case compared:
		slog.WarnContext(ctx, "the copy is built anew after a long absence", append(where, "current_at", currentAt)...)
		if err := l.dropGone(ctx, p, at, log); err != nil {
			return stand{}, fmt.Errorf("drop what has gone from %s/%d: %w", p.Topic, p.Number, err)
		}
	case behindGap:
		slog.WarnContext(ctx, "the topic dropped messages before they were handled", where...)
	}
	return stand{next: log.First}, l.DB.Do(ctx, func(tx *db.Tx) error {
		// The offset before which a backup makes messages history is one of the log that was read.
		tag, err := tx.Exec(ctx, `update position set next = $4, anchor = null, stamp = 0, current_at = $5, history = case when $6 then 0 else history end
			where (topic, partition, next) = ($1, $2, $3)`, p.Topic, p.Number, at.next, log.First, now, t == anew)
		if err == nil && tag.RowsAffected() == 0 {
			err = errMoved
		}
		return err
	})
}

// away means that no broker answers for a partition now.
type away struct{ error }

func (a away) Unwrap() error { return a.error }

// lost says why a log cannot be the one that was read up to at; it is empty when it can. A message that was compacted away leaves a gap, which
// proves nothing.
func (b *Bus) lost(ctx context.Context, p relay.Partition, at stand, log relay.Bounds) (string, error) {
	if at.next > log.End {
		return "it ends before the position", nil
	}
	if at.next <= log.First || at.anchor == uuid.Nil {
		return "", nil
	}
	found, err := b.Read(ctx, p, at.next-1, 1)
	if err == nil && len(found) > 0 && found[0].Offset == at.next-1 && mark([]byte(found[0].Key), found[0].Value, found[0].At) != at.anchor {
		return "another message stands before the position", nil
	}
	return "", err
}

var errChanged = errors.New("bus: the log has changed behind the position")

// check fails with errChanged when the log is no longer the one that was read up to at. Else it stores until when the positions
// are current.
func (l *line) check(ctx context.Context, at stands) error {
	partitions, current := make([]int, 0, len(at)), make([]time.Time, 0, len(at))
	before := make([]int64, 0, len(at))
	for partition, p := range at {
		now := l.DB.Now()
		of := relay.Partition{Topic: l.follow.Topic, Number: partition}
		log, err := l.Bus.bounds(ctx, of)
		if err != nil {
			return err
		}
		lost, err := l.Bus.lost(ctx, of, p, log)
		if err != nil {
			return err
		}
		if lost != "" {
			return errChanged
		}
		if p.next < log.End {
			continue // move stores the time of what it handles
		}
		partitions, current, before = append(partitions, partition), append(current, now), append(before, p.next)
	}
	return l.DB.Do(ctx, func(tx *db.Tx) error {
		tx.Relax()
		_, err := tx.Exec(ctx, `update position p set current_at = greatest(p.current_at, c.at) from unnest($2::int[], $3::bigint[], $4::timestamptz[]) c (partition, next, at)
			where (p.topic, p.partition, p.next) = ($1, c.partition, c.next)`, l.follow.Topic, partitions, before, current)
		return err
	})
}

// KeysOf is Follow.Keys of a copy that is a table of the service, with the record's id in its column id and its version in version.
// Version 0 is a row that did not come from the topic.
func KeysOf(table string) func(ctx context.Context, tx *db.Tx, after string, limit int) ([]string, error) {
	return func(ctx context.Context, tx *db.Tx, after string, limit int) ([]string, error) {
		var behind *string
		if after != "" {
			behind = &after
		}
		return db.Column[string](ctx, tx, `select id::text from `+table+` where (id > $1 or $1 is null) and version > 0 order by id limit $2`, behind, limit)
	}
}

// dropSlice is how many keys of a copy one transaction looks at.
const dropSlice = 1000

// dropGone applies a tombstone to every key of the copy that belongs to the partition and has no value in the log, whose own
// tombstone is compacted away. Whatever the log gets later is handled later, since at is where the position stays.
func (l *line) dropGone(ctx context.Context, p relay.Partition, at stand, log relay.Bounds) error {
	live, err := l.live(ctx, p, log)
	if err != nil {
		return err
	}
	partitions, err := l.Bus.Partitions(ctx, p.Topic)
	if err != nil {
		return err
	}
	for after, more := "", true; more; {
		err := l.DB.Do(ctx, func(tx *db.Tx) error {
			var next int64
			if err := tx.QueryRow(ctx, `select next from position where (topic, partition) = ($1, $2) for update`, p.Topic, p.Number).Scan(&next); err != nil {
				return err
			}
			if next != at.next {
				return errMoved
			}
			keys, err := l.follow.Keys(ctx, tx, after, dropSlice)
			if err != nil {
				return err
			}
			var gone []Event
			fresh := map[uuid.UUID]bool{}
			for _, key := range keys {
				if db.PartitionOf(key, partitions) != p.Number || live[keyHash([]byte(key))] {
					continue
				}
				e := Event{ID: db.NewID(), Topic: p.Topic, Key: key, At: tx.Now, Tombstone: true, History: true, Actor: db.Actor{Channel: db.ChannelSystem}}
				gone, fresh[e.ID] = append(gone, e), true
			}
			if err := apply(ctx, tx, l.follow, gone, fresh); err != nil {
				return err
			}
			if more = len(keys) == dropSlice; more {
				after = keys[len(keys)-1]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// live are the hashes of the keys that have a value in the log.
func (l *line) live(ctx context.Context, p relay.Partition, log relay.Bounds) (map[uint64]bool, error) {
	live := map[uint64]bool{}
	if log.First >= log.End {
		return live, nil
	}
	r, err := l.Bus.reader(p, log.First, nil)
	if err != nil {
		return nil, err
	}
	defer leave(r)
	check := l.Bus.checker(p.Topic)
	for next := log.First; next < log.End; {
		// The last message of a log is never compacted away, so there always is a next one.
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		m, err := r.FetchMessage(ctx)
		cancel()
		if err != nil {
			return nil, err
		}
		next = m.Offset + 1
		if _, _, err := check.check(ctx, m); err != nil {
			continue
		}
		if m.Value == nil {
			delete(live, keyHash(m.Key))
		} else {
			live[keyHash(m.Key)] = true
		}
	}
	return live, nil
}

// keyHash takes a tenth of the memory of a key. That two of ten million keys have the same happens once in 300,000 times.
func keyHash(key []byte) uint64 { return maphash.Bytes(hashSeed, key) }

var hashSeed = maphash.MakeSeed()
