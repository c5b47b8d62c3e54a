package bus

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/relay"
)

// compacted answers fetches as Apache Kafka does: from the first batch whose last offset, which compaction keeps, is not before the one
// that is asked for. That batch comes whole, the others as far as they fit.
type compacted []batch

type batch struct {
	last int64 // of its header
	kept []int64
	size int32
}

func (c compacted) RoundTrip(_ context.Context, _ net.Addr, r kafka.Request) (kafka.Response, error) {
	f := r.(*fetch.Request)
	p := f.Topics[0].Partitions[0]
	var records []protocol.Record
	var size int32
	for _, b := range c {
		if b.last < p.FetchOffset {
			continue
		}
		if size > 0 && size+b.size > p.PartitionMaxBytes {
			break // what there is of it is cut off, and the client drops it
		}
		size += b.size
		for _, o := range b.kept {
			records = append(records, protocol.Record{Offset: o, Key: protocol.NewBytes(fmt.Append(nil, o)), Value: protocol.NewBytes([]byte("v")), Time: time.Now()})
		}
	}
	return &fetch.Response{Topics: []fetch.ResponseTopic{{Topic: f.Topics[0].Topic, Partitions: []fetch.ResponsePartition{
		{RecordSet: protocol.RecordSet{Version: 2, Records: protocol.NewRecordReader(records...)}}}}}}, nil
}

func numbers(from, to int64) (all []int64) {
	for o := from; o < to; o++ {
		all = append(all, o)
	}
	return all
}

func TestAResyncReadsOnBehindABatchWhoseEndWasCompactedAway(t *testing.T) {
	for name, log := range map[string]compacted{
		"two batches fit":                    {{124, numbers(0, 124), 100_000}, {249, numbers(125, 250), 100_000}, {374, numbers(250, 375), 100_000}},
		"one batch fits":                     {{124, numbers(0, 124), 150_000}, {249, numbers(125, 250), 150_000}, {374, numbers(250, 375), 150_000}},
		"a batch is larger than an answer":   {{124, numbers(0, 124), 900_000}, {249, numbers(125, 250), 900_000}, {374, numbers(250, 375), 900_000}},
		"half of a batch was compacted away": {{124, numbers(0, 60), 150_000}, {249, numbers(125, 250), 150_000}, {374, numbers(250, 375), 150_000}},
		"a whole batch was compacted away":   {{124, nil, 61}, {249, numbers(125, 250), answerBytes}, {374, numbers(250, 375), 900_000}},
		"the end was compacted away":         {{124, numbers(0, 124), 150_000}, {249, numbers(125, 180), 150_000}},
	} {
		b := &Bus{client: &kafka.Client{Addr: kafka.TCP("127.0.0.1:1"), Transport: log}}
		var got, want []int64
		for _, b := range log {
			want = append(want, b.kept...)
		}
		require.NoError(t, b.scan(t.Context(), relay.Partition{Topic: "contacts.contact"}, 0, 375, func(m kafka.Message) error {
			got = append(got, m.Offset)
			return nil
		}))
		require.Equal(t, want, got, name)
	}
}
