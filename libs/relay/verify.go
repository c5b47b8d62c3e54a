package relay

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"frontdesk/proto"
)

const (
	// keepSent is for how long a row stays after it was sent, at least.
	keepSent = 10 * time.Minute
	// sendAgain is the age at which a row that its readers have not consumed is sent again, before the topic drops it.
	sendAgain = proto.KeepAll / 2
	// tailMost is how many messages behind the newest own one are looked at.
	tailMost = 1000
)

// own is a message of this service in the log.
type own struct {
	Partition
	Offset int64
	Digest []byte
	SentAt time.Time
}

// known is what the owner's tables say about a partition.
type known struct {
	// published is the row in the table of this name. newest is the row of the outbox that was marked as sent last: the same message, or a later
	// one that was sent over a connection that was not verified. nil if no row is kept.
	published own
	newest    *own
	// marked are the offsets behind published of rows that were marked as sent.
	marked []int64
}

// finding is what verifying a partition shows.
type finding struct {
	// missing is a message that the log should have; nil if it has all of them.
	missing *own
	// tail are messages that nobody has marked as sent, in a topic in which only this service publishes: a relay has put them behind newer
	// ones when its claim had ended, or an answer was lost. The newest message of each of their keys is sent again.
	tail []Stored
	// newest is what the table published gets.
	newest own
}

// verify compares a partition with what its owner knows about it.
func verify(ctx context.Context, log Log, schema string, k known, b Bounds, now time.Time) (f finding, err error) {
	f.newest = k.published
	for _, x := range []*own{&k.published, k.newest} {
		if x == nil || x == k.newest && x.Offset == k.published.Offset {
			continue
		}
		there, err := stands(ctx, log, *x, b, now)
		if err != nil {
			return finding{}, err
		}
		if !there {
			return finding{missing: x}, nil
		}
		if x.Offset > f.newest.Offset {
			f.newest = *x
		}
	}
	if !owned(k.published.Topic, schema) || b.End <= k.published.Offset+1 {
		return f, nil
	}
	behind, err := log.Read(ctx, k.published.Partition, max(k.published.Offset+1, b.First), tailMost)
	if err != nil || len(behind) == 0 {
		return f, err
	}
	last := behind[len(behind)-1]
	f.newest = own{k.published.Partition, last.Offset, last.digest(), now}
	f.tail = slices.DeleteFunc(behind, func(m Stored) bool { return slices.Contains(k.marked, m.Offset) })
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
	return bytes.Equal(got[0].digest(), x.Digest), nil
}

// dropsAfter is the age from which on a topic may have dropped a message.
func dropsAfter(topic string) time.Duration {
	if keep := proto.TopicNamed(topic).Keep; keep > 0 {
		return keep / 2
	}
	return sendAgain
}

// firstMissing is the first of n kept rows that the log has not. missing is the one that is known to be. Up to it, the rows that the log
// has come first. Behind it may be some that were sent after the loss: they are sent again too, so that they stay behind.
func firstMissing(missing int, has func(i int) (bool, error)) (first int, err error) {
	first = sort.Search(max(missing, 0), func(i int) bool {
		if err != nil {
			return true
		}
		var there bool
		there, err = has(i)
		return err != nil || !there
	})
	return first, err
}
