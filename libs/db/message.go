package db

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"time"

	"go.opentelemetry.io/otel/propagation"
)

// Message is what a row of the outbox carries. Without a value it is a tombstone.
type Message struct {
	Topic string
	Key   string
	Value []byte
	// Stamp is higher than in each message that was sent before; 0 stands for the time at which it is sent.
	Stamp int64
	// Committed is when its transaction was, to within the commit's round trip; zero for a message of no transaction.
	Committed time.Time
}

// Digest recognises the message in the log.
func (m Message) Digest() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s", len(m.Key), m.Key)
	h.Write(m.Value)
	return h.Sum(nil)[:16]
}

// KeyHash is FNV-1a of a key, which PartitionOf turns into a partition.
func KeyHash(key string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int32(h.Sum32())
}

// PartitionOf is the partition of a key in a topic of n partitions.
func PartitionOf(key string, n int) int {
	return int(max(KeyHash(key)%int32(n), -(KeyHash(key) % int32(n))))
}

// Traceparent is the W3C trace context of ctx, empty without a trace.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
