// Package bus is the only user of Kafka. It sends the outbox, follows topics with the position stored in the transaction of
// the effect, parks messages that cannot be handled, and keeps small topics in memory as tables.
package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// Bus is a connection to the brokers.
type Bus struct {
	brokers []string
	writer  *kafka.Writer
	client  *kafka.Client
}

// New takes a comma-separated list of brokers. It connects when it is first used.
func New(brokers string) *Bus {
	addrs := strings.Split(brokers, ",")
	transport := &kafka.Transport{DialTimeout: 3 * time.Second, MetadataTTL: 10 * time.Second}
	return &Bus{
		brokers: addrs,
		client:  &kafka.Client{Addr: kafka.TCP(addrs...), Transport: transport, Timeout: 10 * time.Second},
		writer: &kafka.Writer{
			Addr:         kafka.TCP(addrs...),
			Transport:    transport,
			Balancer:     &kafka.Hash{},
			RequiredAcks: kafka.RequireAll,
			// The outbox already is a batch: waiting for more only adds latency.
			BatchTimeout: time.Millisecond,
			BatchSize:    1000,
			MaxAttempts:  3,
			WriteTimeout: 5 * time.Second,
			ReadTimeout:  5 * time.Second,
		},
	}
}

// Close flushes and disconnects.
func (b *Bus) Close() error { return b.writer.Close() }

// Send writes messages and returns when the brokers have acknowledged all of them. After an error any of them may have been
// written; the caller sends the same messages again.
func (b *Bus) Send(ctx context.Context, batch []db.Message) error {
	messages := make([]kafka.Message, len(batch))
	for i, m := range batch {
		messages[i] = kafka.Message{Topic: m.Topic, Key: []byte(m.Key), Value: m.Value}
	}
	return b.writer.WriteMessages(ctx, messages...)
}

const day = 24 * time.Hour

// How topics are kept. A value that a tombstone replaced is gone from its compacted topic within about nine days: brokers
// compact eight days after a change at the latest, but never the segment that is written to, which the second tombstone
// after eight days closes. Values of other topics are gone after eight days.
const (
	// keepAll is for how long every change stays: a reader that was away for less sees all of them, and the tombstones.
	keepAll = 7 * day
	// compactWithin is the age at which replaced values have to be compacted away.
	compactWithin = 8 * day
	// segmentLasts is how long brokers write to one segment: only those that are closed are compacted or dropped.
	segmentLasts = day
)

// configOf are the settings of a topic, by name.
func configOf(t proto.Topic) map[string]string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	if !t.Compacted {
		return map[string]string{"retention.ms": ms(keepAll), "segment.ms": ms(segmentLasts)}
	}
	return map[string]string{"cleanup.policy": "compact", "min.compaction.lag.ms": ms(keepAll), "max.compaction.lag.ms": ms(compactWithin),
		"delete.retention.ms": ms(keepAll), "segment.ms": ms(segmentLasts)}
}

// Ensure creates the topics that do not exist yet, and gives all of them the settings of configOf.
func (b *Bus) Ensure(ctx context.Context, topics []proto.Topic) error {
	create, alter := &kafka.CreateTopicsRequest{}, &kafka.IncrementalAlterConfigsRequest{}
	for _, t := range topics {
		c := kafka.TopicConfig{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: -1}
		r := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name}
		for name, value := range configOf(t) {
			c.ConfigEntries = append(c.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
			r.Configs = append(r.Configs, kafka.IncrementalAlterConfigsRequestConfig{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
		}
		create.Topics, alter.Resources = append(create.Topics, c), append(alter.Resources, r)
	}
	created, err := b.client.CreateTopics(ctx, create)
	if err != nil {
		return fmt.Errorf("bus: create topics: %w", err)
	}
	for topic, err := range created.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return fmt.Errorf("bus: create topic %s: %w", topic, err)
		}
	}
	altered, err := b.client.IncrementalAlterConfigs(ctx, alter)
	if err != nil {
		return fmt.Errorf("bus: configure topics: %w", err)
	}
	for _, r := range altered.Resources {
		if r.Error != nil {
			return fmt.Errorf("bus: configure topic %s: %w", r.ResourceName, r.Error)
		}
	}
	return nil
}

// partitions asks the brokers how many partitions topic has.
func (b *Bus) partitions(ctx context.Context, topic string) ([]int, error) {
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if len(res.Topics) != 1 || res.Topics[0].Error != nil {
		return nil, fmt.Errorf("bus: topic %s: %w", topic, res.Topics[0].Error)
	}
	var ids []int
	for _, p := range res.Topics[0].Partitions {
		ids = append(ids, p.ID)
	}
	return ids, nil
}

// bounds are the first offset that is kept and the one that the next message will get.
func (b *Bus) bounds(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	res, err := b.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}}})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range res.Topics[topic] {
		if p.Error != nil {
			return 0, 0, p.Error
		}
		if p.Partition == partition {
			return p.FirstOffset, p.LastOffset, nil
		}
	}
	return 0, 0, fmt.Errorf("bus: no offsets for %s/%d", topic, partition)
}

// reader follows one partition from offset.
func (b *Bus) reader(topic string, partition int, offset int64) (*kafka.Reader, error) {
	r := kafka.NewReader(kafka.ReaderConfig{
		Brokers:               b.brokers,
		Topic:                 topic,
		Partition:             partition,
		MinBytes:              1,
		MaxBytes:              4 << 20,
		MaxWait:               2 * time.Second,
		QueueCapacity:         200,
		ReadBackoffMin:        5 * time.Millisecond,
		ReadBackoffMax:        500 * time.Millisecond,
		ReadBatchTimeout:      10 * time.Second,
		OffsetOutOfRangeError: true,
	})
	return r, r.SetOffset(offset)
}

// leave closes a reader without waiting for its fetch at the broker, whose result is dropped.
func leave(r *kafka.Reader) { go func() { _ = r.Close() }() }
