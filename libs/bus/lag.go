package bus

import (
	"context"
	"sync"
	"time"

	"frontdesk/libs/relay"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// held are the partitions that a consumer follows now.
type held struct {
	mu sync.Mutex
	at map[relay.Partition]*behindness
}

// behindness is how far a partition is handled, and since when its oldest message waits that was fetched; zero if none does.
type behindness struct {
	next   int64
	oldest time.Time
}

// take adds partitions of a topic at their positions. Call drop when they are followed no more.
func (h *held) take(topic string, at offsets) (drop func()) {
	mine := map[relay.Partition]*behindness{}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = map[relay.Partition]*behindness{}
	}
	for p, next := range at {
		b := &behindness{next: next}
		mine[relay.Partition{Topic: topic, Number: p}], h.at[relay.Partition{Topic: topic, Number: p}] = b, b
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for p, b := range mine {
			if h.at[p] == b {
				delete(h.at, p)
			}
		}
	}
}

// begin notes that a message of a partition is being handled that was published at a time.
func (h *held) begin(p relay.Partition, published time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.at[p]; b != nil && (b.oldest.IsZero() || published.Before(b.oldest)) {
		b.oldest = published
	}
}

// moved notes that the messages of a topic before some offsets are handled.
func (h *held) moved(topic string, at offsets) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p, next := range at {
		if b := h.at[relay.Partition{Topic: topic, Number: p}]; b != nil {
			b.next, b.oldest = next, time.Time{}
		}
	}
}

func (h *held) snapshot() map[relay.Partition]behindness {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[relay.Partition]behindness, len(h.at))
	for p, b := range h.at {
		out[p] = *b
	}
	return out
}

// endsWithin is how long a scrape waits for the ends of the partitions.
const endsWithin = 2 * time.Second

// observe registers the lag of the partitions that this replica follows, until stop is called. While no broker answers there
// are no numbers of messages.
func (c *Consumer) observe() (stop func()) {
	meter := otel.Meter("frontdesk")
	messages, _ := meter.Int64ObservableGauge("frontdesk.consumer.lag", metric.WithUnit("{message}"),
		metric.WithDescription("messages that this replica has not handled yet, by topic and partition"))
	seconds, _ := meter.Float64ObservableGauge("frontdesk.consumer.lag.seconds", metric.WithUnit("s"),
		metric.WithDescription("age of the message that this replica is handling, by topic and partition; 0 when none waits"))
	partitions, _ := meter.Int64ObservableGauge("frontdesk.consumer.partitions", metric.WithUnit("{partition}"),
		metric.WithDescription("partitions that this replica follows, by topic"))
	r, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		at := c.held.snapshot()
		var all []relay.Partition
		count := map[string]int64{}
		for p, b := range at {
			all = append(all, p)
			count[p.Topic]++
			age := 0.
			if !b.oldest.IsZero() {
				age = max(0, time.Since(b.oldest).Seconds())
			}
			o.ObserveFloat64(seconds, age, of(p))
		}
		for _, f := range c.Follows {
			o.ObserveInt64(partitions, count[f.Topic], metric.WithAttributes(attribute.String("topic", f.Topic)))
		}
		ctx, cancel := context.WithTimeout(ctx, endsWithin)
		defer cancel()
		ends, err := c.Bus.Ends(ctx, all)
		for p, end := range ends {
			o.ObserveInt64(messages, max(0, end-at[p].next), of(p))
		}
		return err
	}, messages, seconds, partitions)
	if err != nil {
		return func() {}
	}
	return func() { _ = r.Unregister() }
}

func of(p relay.Partition) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("topic", p.Topic), attribute.Int("partition", p.Number))
}
