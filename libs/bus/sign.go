package bus

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// Headers of a message.
const (
	signatureHeader = "signature"
	// digestHeader recognises a sealed message for its sender, who cannot open it.
	digestHeader = "digest"
	// committedHeader is when the message was committed, in milliseconds since 1970. The time of the message itself is when the relay sent it.
	committedHeader = "committed"
)

// errReplayed means that a message stands behind others that its service has signed later.
var errReplayed = errors.New("bus: the message was signed before one that stands in front of it")

// record is a message as brokers get it: signed, or sealed, as its topic says.
func (b *Bus) record(m db.Message) (r kafka.Record, err error) {
	topic, value := proto.TopicNamed(m.Topic), m.Value
	if topic.Signed {
		signature, err := b.Trust.Sign(trust.Message{Topic: m.Topic, Key: m.Key, Value: value, Stamp: m.Stamp})
		if err != nil {
			return r, err
		}
		r.Headers = append(r.Headers, kafka.Header{Key: signatureHeader, Value: signature})
	}
	if topic.SealedTo != "" && value != nil {
		if value, err = b.Trust.Seal(topic.SealedTo, m.Topic, m.Key, value); err != nil {
			return r, err
		}
		r.Headers = append(r.Headers, kafka.Header{Key: digestHeader, Value: m.Digest()})
	}
	if !m.Committed.IsZero() {
		r.Headers = append(r.Headers, kafka.Header{Key: committedHeader, Value: strconv.AppendInt(nil, m.Committed.UnixMilli(), 10)})
	}
	r.Key = kafka.NewBytes([]byte(m.Key))
	if value != nil {
		r.Value = kafka.NewBytes(value)
	}
	return r, nil
}

// stamp is the time in microseconds, and higher than every result before.
func (b *Bus) stamp() int64 {
	for {
		last := b.stamped.Load()
		if next := max(last+1, time.Now().UnixMicro()); b.stamped.CompareAndSwap(last, next) {
			return next
		}
	}
}

// committed is when a message was committed, or when it was sent if the message lacks that header.
func committed(m kafka.Message) time.Time {
	ms, err := strconv.ParseInt(string(header(m.Headers, committedHeader)), 10, 64)
	if err != nil {
		return m.Time
	}
	return time.UnixMilli(ms)
}

func header(headers []kafka.Header, name string) []byte {
	for _, h := range headers {
		if h.Key == name {
			return h.Value
		}
	}
	return nil
}

// checker verifies the messages of one partition, in their order. In a signed topic each message of a service has a higher stamp
// than those in front of it. So an old message that is written again is refused, however long ago its key ended.
type checker struct {
	bus   *Bus
	topic proto.Topic
	// newest is the highest stamp of each service so far.
	newest map[string]int64
}

func (b *Bus) checker(topic string) *checker {
	c := &checker{bus: b, topic: proto.TopicNamed(topic), newest: map[string]int64{}}
	if c.topic.Signed {
		for _, reason := range reasons {
			c.refused(context.Background(), 0, reason) // an alert sees the first one only behind a 0
		}
	}
	return c
}

// begin makes the checker go on behind a position: a restart forgets no stamp. Of topics that several services sign nothing is stored.
func (c *checker) begin(at stand) { c.newest[c.topic.Owner] = at.stamp }

func (c *checker) refused(ctx context.Context, n int64, reason string) {
	refusals.Add(ctx, n, metric.WithAttributes(attribute.String("topic", c.topic.Name), attribute.String("reason", reason)))
}

// check returns the stamp of a message and the service that has signed it, 0 and "" in a topic that is not signed. Of a message
// that must not be taken it returns an error, after a line in the log and a count in the metric frontdesk.messages.refused.
func (c *checker) check(ctx context.Context, m kafka.Message) (service string, stamp int64, err error) {
	if !c.topic.Signed {
		return "", 0, nil
	}
	service = c.topic.SignerOf(string(m.Key))
	stamp, err = c.bus.Trust.Verify(service, trust.Message{Topic: c.topic.Name, Key: string(m.Key), Value: m.Value}, header(m.Headers, signatureHeader))
	if err == nil && stamp <= c.newest[service] {
		err = errReplayed
	}
	if err == nil {
		c.newest[service] = stamp
		return service, stamp, nil
	}
	slog.WarnContext(ctx, "message refused", "topic", c.topic.Name, "partition", m.Partition, "offset", m.Offset, "error", err)
	c.refused(ctx, 1, reasons[err])
	return "", 0, err
}

// reasons name the errors of check in its metric.
var reasons = map[error]string{trust.ErrUnsigned: "unsigned", errReplayed: "replayed", trust.ErrForged: "forged"}

var refusals, _ = otel.Meter("frontdesk").Int64Counter("frontdesk.messages.refused", metric.WithUnit("{message}"),
	metric.WithDescription("messages that were not taken: without a signature, with that of another service, or written again"))
