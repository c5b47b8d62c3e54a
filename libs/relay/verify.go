package relay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"sort"
	"time"

	"frontdesk/proto"
)

const (
	// keepSent is for how long a row stays after it was sent, at least.
	keepSent = 10 * time.Minute
	// sendAgain is the age at which a row that its readers have not consumed is sent again, before the topic drops it.
	sendAgain = proto.KeepAll / 2
	// tailMost is how many messages behind the newest own one are read at once.
	tailMost = 1000
)

// own is a message of this service in the log.
type own struct {
	place
	Digest []byte
	SentAt time.Time
	// next is set while a loss is repaired: the first row of those that have to wait again which does not wait yet. The message is then the first one
	// that the log has not.
	next *since
}

// since is a place in the order in which the rows of a partition were sent.
type since struct {
	SentAt time.Time `db:"sent_at"`
	Offset int64
}

// columns are the values of the columns in which s stands, which are null without it.
func (s *since) columns() (sent *time.Time, offset *int64) {
	if s == nil {
		return nil, nil
	}
	return &s.SentAt, &s.Offset
}

// place is where one appending has put a message. A log that lost it may get the same message at the same offset again, behind others
// than before: the moment of appending tells the two apart. At is 1970 for a message that the version before has marked.
type place struct {
	Partition
	Offset int64
	At     time.Time
}

// has reports whether a message that the log has at the offset is the one that was appended there.
func (x own) has(s Stored) bool {
	return bytes.Equal(s.digest(), x.Digest) && (x.At.UnixMilli() == 0 || x.At.UnixMilli() == s.At.UnixMilli())
}

// finding is what verifying a partition shows.
type finding struct {
	// missing: the log has not the message that it should have.
	missing bool
	// tail are the messages behind it, in a topic in which only this service publishes: nobody has marked them as sent. A relay has put them there when
	// its claim had ended, or an answer was lost. The newest message of each of their keys is sent again.
	tail []Stored
	// newest is what the table published gets.
	newest own
}

// verify compares a partition with the newest message that it was given.
func verify(ctx context.Context, log Log, schema string, published own, b Bounds, now time.Time) (f finding, err error) {
	f.newest = published
	if f.missing = published.next != nil; f.missing {
		return f, nil // whatever stands there now
	}
	there, err := stands(ctx, log, published, b, now)
	if err != nil || !there || !owned(published.Topic, schema) {
		f.missing = err == nil && !there
		return f, err
	}
	for next := max(published.Offset+1, b.First); next < b.End; next = f.newest.Offset + 1 {
		more, err := log.Read(ctx, published.Partition, next, tailMost)
		if err != nil || len(more) == 0 {
			return f, err
		}
		last := more[len(more)-1]
		f.tail, f.newest = append(f.tail, more...), own{place: place{published.Partition, last.Offset, last.At}, Digest: last.digest(), SentAt: now}
	}
	return f, nil
}

// owned reports whether only the service of this schema publishes on the topic.
func owned(topic, schema string) bool { return proto.TopicNamed(topic).Owner == schema }

// stands reports whether the log has an own message at its place. One that is old may have been dropped or compacted.
func stands(ctx context.Context, log Log, x own, b Bounds, now time.Time) (bool, error) {
	if x.Offset >= b.End {
		return false, nil
	}
	mayBeGone := now.Sub(x.SentAt) > dropsAfter(x.Topic)
	if x.Offset < b.First {
		return mayBeGone, nil
	}
	got, err := log.Read(ctx, x.Partition, x.Offset, 1)
	if errors.Is(err, ErrUnreadable) {
		return true, nil // the place alone has to do
	}
	if err != nil {
		return false, err
	}
	if len(got) == 0 || got[0].Offset > x.Offset {
		return mayBeGone, nil
	}
	return x.has(got[0]), nil
}

// dropsAfter is the age from which on a topic may have dropped a message.
func dropsAfter(topic string) time.Duration {
	if keep := proto.TopicNamed(topic).Keep; keep > 0 {
		return keep / 2
	}
	return sendAgain
}

// firstMissing returns the place of the first row of a partition that is kept and that the log has not, or nil if it has all that were sent until then. Up to that
// time the rows that the log has come first. sent returns those that were sent at the first moment from a time on at which any were, in the order of their offsets.
// However many are kept, it is asked for a few.
func firstMissing(until time.Time, sent func(from time.Time) ([]since, error), has func(since) (bool, error)) (first *since, err error) {
	var failed error
	known := map[since]bool{}
	missing := func(s since) bool {
		there, asked := known[s]
		if !asked && failed == nil {
			there, failed = has(s)
			known[s] = there
		}
		return !there
	}
	from := func(t time.Time) []since {
		rows, err := sent(t)
		if failed = cmp.Or(failed, err); failed != nil || len(rows) > 0 && rows[0].SentAt.After(until) {
			return nil
		}
		return rows
	}
	rows := from(time.Time{})
	if len(rows) == 0 {
		return nil, failed
	}
	// The last moment whose first row the log has, if any.
	oldest := rows[0].SentAt
	i := sort.Search(int(until.Sub(oldest)/time.Microsecond)+1, func(i int) bool {
		rows := from(oldest.Add(time.Duration(i) * time.Microsecond))
		return len(rows) == 0 || missing(rows[0])
	})
	if i > 0 {
		rows = from(oldest.Add(time.Duration(i-1) * time.Microsecond))
		if j := sort.Search(len(rows), func(j int) bool { return missing(rows[j]) }); j < len(rows) {
			return &rows[j], failed
		}
		rows = from(oldest.Add(time.Duration(i) * time.Microsecond))
	}
	if len(rows) == 0 {
		return nil, failed
	}
	return &rows[0], failed
}
