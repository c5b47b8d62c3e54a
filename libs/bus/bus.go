// Package bus is the only user of Kafka. It sends the outbox, follows topics with the position stored in the transaction of
// the effect, parks messages that cannot be handled, and keeps small topics in memory as tables.
package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"frontdesk/libs/relay"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// Bus is a connection to the brokers.
type Bus struct {
	// Trust signs, verifies, seals and opens messages. Without it nothing of a signed topic is sent or taken, and nothing is
	// sent to a sealed one.
	Trust *trust.Keys

	brokers   []string
	login     Login
	transport *kafka.Transport
	client    *kafka.Client

	dialed    atomic.Int64
	stamped   atomic.Int64 // the last result of stamp
	refreshed atomic.Int64 // when the metadata was last asked for out of turn, in nanoseconds

	unreadable sync.Map // when the brokers last refused to let this process read a topic, by its name

	mu     sync.Mutex
	wanted map[string]proto.Topic // those of Ensure
}

// connectWithin bounds a connection to a broker, with its TLS handshake and sign-in.
const connectWithin = 3 * time.Second

// New takes a comma-separated list of brokers. It connects when it is first used.
func New(brokers string, login Login) *Bus {
	addrs := strings.Split(brokers, ",")
	b := &Bus{brokers: addrs, login: login, wanted: map[string]proto.Topic{}}
	dialer := &net.Dialer{Timeout: connectWithin}
	b.transport = login.Transport()
	b.transport.DialTimeout, b.transport.MetadataTTL = connectWithin, 10*time.Second
	b.transport.IdleTimeout = 9 * time.Minute // brokers close a connection that was idle for ten
	b.transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		b.dialed.Add(1)
		return dialer.DialContext(ctx, network, address)
	}
	b.client = &kafka.Client{Addr: kafka.TCP(addrs...), Transport: b.transport, Timeout: 10 * time.Second}
	return b
}

// Close disconnects.
func (b *Bus) Close() error {
	b.transport.CloseIdleConnections()
	return nil
}

// bounds are the first offset that a partition keeps and the one that the next message will get.
func (b *Bus) bounds(ctx context.Context, p relay.Partition) (relay.Bounds, error) {
	res, err := b.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		p.Topic: {kafka.FirstOffsetOf(p.Number), kafka.LastOffsetOf(p.Number)}}})
	if err != nil {
		return relay.Bounds{}, err
	}
	for _, o := range res.Topics[p.Topic] {
		if o.Error != nil {
			return relay.Bounds{}, o.Error
		}
		if o.Partition == p.Number {
			return relay.Bounds{First: o.FirstOffset, End: o.LastOffset}, nil
		}
	}
	return relay.Bounds{}, fmt.Errorf("bus: no offsets for %s/%d", p.Topic, p.Number)
}

// Ends asks for the offsets that the next messages of partitions get, in one request. It leaves out those without a leader.
func (b *Bus) Ends(ctx context.Context, partitions []relay.Partition) (map[relay.Partition]int64, error) {
	ask := map[string][]kafka.OffsetRequest{}
	for _, p := range partitions {
		ask[p.Topic] = append(ask[p.Topic], kafka.LastOffsetOf(p.Number))
	}
	if len(ask) == 0 {
		return nil, nil
	}
	res, err := b.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ask})
	if err != nil {
		return nil, fmt.Errorf("bus: ends of %d partitions: %w", len(partitions), err)
	}
	ends := make(map[relay.Partition]int64, len(partitions))
	for topic, offsets := range res.Topics {
		for _, p := range offsets {
			if p.Error == nil {
				ends[relay.Partition{Topic: topic, Number: p.Partition}] = p.LastOffset
			}
		}
	}
	return ends, nil
}

// reader follows one partition from offset. kafka-go connects again by itself after an error; failed, unless it is nil, gets
// an error when it does.
func (b *Bus) reader(p relay.Partition, offset int64, failed func(error)) (*kafka.Reader, error) {
	cfg := kafka.ReaderConfig{
		Brokers:               b.brokers,
		Dialer:                b.login.Dialer("", 10*time.Second),
		Topic:                 p.Topic,
		Partition:             p.Number,
		MinBytes:              1,
		MaxBytes:              4 << 20,
		MaxWait:               5 * time.Second,
		QueueCapacity:         200,
		ReadBackoffMin:        5 * time.Millisecond,
		ReadBackoffMax:        500 * time.Millisecond,
		ReadBatchTimeout:      10 * time.Second,
		OffsetOutOfRangeError: true,
		ReadLagInterval:       -1, // it would connect once more each minute
	}
	if failed != nil {
		// This is where kafka-go reports, before it connects again.
		cfg.ErrorLogger = kafka.LoggerFunc(func(format string, args ...any) { failed(fmt.Errorf("bus: "+format, args...)) })
	}
	r := kafka.NewReader(cfg)
	err := r.SetOffset(offset)
	return r, err
}

// fetch asks for the messages of a partition behind an offset, in about most bytes, one batch at least. It calls f with each that came until f returns
// false, and reports whether there were any, those of the batch that stand in front of the offset too.
func (b *Bus) fetch(ctx context.Context, p relay.Partition, from, most int64, f func(kafka.Message) (more bool, err error)) (some bool, err error) {
	res, err := b.client.Fetch(ctx, &kafka.FetchRequest{Topic: p.Topic, Partition: p.Number, Offset: from, MinBytes: 1, MaxBytes: most, MaxWait: 100 * time.Millisecond})
	if err == nil {
		err = res.Error
	}
	for more := true; more && err == nil; {
		var r *kafka.Record
		if r, err = res.Records.ReadRecord(); errors.Is(err, io.EOF) {
			return some, nil
		} else if err != nil {
			break
		}
		if some = true; r.Offset < from {
			continue // a batch is answered whole
		}
		m := kafka.Message{Topic: p.Topic, Partition: p.Number, Offset: r.Offset, Time: r.Time, Headers: r.Headers}
		if m.Key, err = kafka.ReadAll(r.Key); err == nil {
			m.Value, err = kafka.ReadAll(r.Value)
		}
		if err == nil {
			more, err = f(m)
		}
	}
	return some, err
}

// leave closes a reader without waiting for its fetch at the broker, whose result is dropped.
func leave(r *kafka.Reader) { go func() { _ = r.Close() }() }
