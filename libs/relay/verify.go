package relay

import (
	"bytes"
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
		f.tail, f.newest = append(f.tail, more...), own{place{published.Partition, last.Offset, last.At}, last.digest(), now}
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
