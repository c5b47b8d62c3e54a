package relay

import (
	"context"
	"errors"
	"time"

	"frontdesk/libs/db"
)

// Log is where a relay publishes: a bus.Bus.
type Log interface {
	// Append adds messages to their topics and returns where each of them stands, in the order of batch. Messages of one
	// partition keep their order: behind one that fails, none of the same partition is added. One that failed may be in the
	// log all the same, if only the answer was lost. The other partitions do not wait for it.
	Append(ctx context.Context, batch []db.Message) []Placed
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
var ErrUnreadable = errors.New("relay: this service may not read the topic")

// Partition is one of a topic's. The number is -1 while the topic is not known.
type Partition struct {
	Topic  string
	Number int
}

// Bounds are the first offset that a partition keeps, and the one that its next message gets.
type Bounds struct{ First, End int64 }

// Stored is a message in the log.
type Stored struct {
	db.Message
	Offset int64
	// At is when its sender appended it, in milliseconds: it tells the message from itself sent again.
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
	// At is Stored.At.
	At  time.Time
	Err error
}
