package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"frontdesk/libs/relay"
	"frontdesk/proto"
)

const day = 24 * time.Hour

// How topics are kept. A value that a tombstone replaced is gone from its compacted topic within about nine days: brokers
// compact eight days after a change at the latest, but never the segment that is written to, which the second tombstone
// after eight days closes. Values of other topics are gone after eight days.
const (
	// compactWithin is the age at which replaced values have to be compacted away.
	compactWithin = 8 * day
	// segmentLasts is how long brokers write to one segment at most: only those that are closed are compacted or dropped.
	segmentLasts = day
)

// configOf are the settings of a topic with so many replicas, by name.
func configOf(t proto.Topic, replicas int) map[string]string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	keep := cmp.Or(t.Keep, proto.KeepAll)
	// One broker may be lost without losing a message, and without stopping the topic.
	out := map[string]string{"min.insync.replicas": strconv.Itoa(max(1, replicas-1))}
	if !t.Compacted {
		maps.Copy(out, map[string]string{"cleanup.policy": "delete", "retention.ms": ms(keep), "segment.ms": ms(min(segmentLasts, keep))})
		return out
	}
	// Brokers ignore retention.ms here. The embedded one does not, and would drop whatever is older than a week.
	maps.Copy(out, map[string]string{"cleanup.policy": "compact", "retention.ms": "-1", "min.compaction.lag.ms": ms(keep), "max.compaction.lag.ms": ms(compactWithin),
		"delete.retention.ms": ms(keep), "segment.ms": ms(segmentLasts)})
	return out
}

// Ensure creates the topics that do not exist yet, which take messages once it returns, and gives all of them the settings of
// configOf. It fails with Refused if a topic has another number of partitions, or a setting that must not be and cannot be changed, or
// if the brokers refuse the login.
func (b *Bus) Ensure(ctx context.Context, topics []proto.Topic) error {
	b.mu.Lock()
	for _, t := range topics {
		b.wanted[t.Name] = t
	}
	b.mu.Unlock()
	if err := b.create(ctx, topics); err != nil {
		return b.explain(ctx, err)
	}
	replicas, err := b.replicas(ctx, topics)
	if err != nil {
		return err
	}
	denied, err := b.configure(ctx, topics, replicas)
	if err != nil {
		return err
	}
	return b.compare(ctx, topics, replicas, denied)
}

func (b *Bus) create(ctx context.Context, topics []proto.Topic) error {
	req := &kafka.CreateTopicsRequest{}
	for _, t := range topics {
		c := kafka.TopicConfig{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: -1}
		for name, value := range configOf(t, 1) {
			c.ConfigEntries = append(c.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
		}
		req.Topics = append(req.Topics, c)
	}
	created, err := b.client.CreateTopics(ctx, req)
	if err != nil {
		return fmt.Errorf("bus: create topics: %w", err)
	}
	var made []relay.Partition
	for _, t := range topics {
		err := created.Errors[t.Name]
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) && !forbidden(err) {
			return fmt.Errorf("bus: create topic %s: %w", t.Name, err)
		}
		for n := range t.Partitions {
			if err == nil {
				made = append(made, relay.Partition{Topic: t.Name, Number: n})
			}
		}
	}
	return b.awaitLeaders(ctx, made)
}

// leadersWithin is for how long a topic that was just made is waited for.
const leadersWithin = 5 * time.Second

// awaitLeaders waits until partitions that were just made take messages: brokers say that they are there a moment before. Those without
// a leader after leadersWithin are left to whoever sends.
func (b *Bus) awaitLeaders(ctx context.Context, made []relay.Partition) error {
	limit := time.After(leadersWithin)
	for {
		// An error is that of a broker that does not lead yet.
		if ends, err := b.Ends(ctx, made); err == nil && len(ends) == len(made) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return nil
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func forbidden(err error) bool {
	return errors.Is(err, kafka.TopicAuthorizationFailed) || errors.Is(err, kafka.ClusterAuthorizationFailed) || errors.Is(err, kafka.PolicyViolation)
}

// replicas returns the number of replicas of each topic, and refuses topics with a wrong number of partitions.
func (b *Bus) replicas(ctx context.Context, topics []proto.Topic) (map[string]int, error) {
	found, err := b.describe(ctx, topics)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, t := range topics {
		k, ok := found[t.Name]
		if !ok {
			return nil, fmt.Errorf("bus: topic %s is not there yet", t.Name)
		}
		if n := len(k.Partitions); n != t.Partitions {
			return nil, Refused(fmt.Sprintf("topic %s has %d partitions, and %d are wanted. With another number a record's messages would lie in two partitions and lose their order. "+
				"Stop all services, delete the topic and start them again: its owner then publishes everything anew. In a local run SVC_KAFKA_PARTITIONS may say %[2]d instead",
				t.Name, n, t.Partitions))
		}
		for _, p := range k.Partitions {
			out[t.Name] = max(out[t.Name], len(p.Replicas))
		}
	}
	return out, nil
}

// describe returns the topics that exist, as the brokers said within the last ten seconds.
func (b *Bus) describe(ctx context.Context, topics []proto.Topic) (map[string]kafka.Topic, error) {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.Name
	}
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		return nil, fmt.Errorf("bus: describe topics: %w", err)
	}
	out := map[string]kafka.Topic{}
	for _, t := range res.Topics {
		if t.Error == nil {
			out[t.Name] = t
		}
	}
	return out, nil
}

// Partitions returns how many partitions a topic has, 0 if it does not exist.
func (b *Bus) Partitions(ctx context.Context, topic string) (int, error) {
	found, err := b.describe(ctx, []proto.Topic{{Name: topic}})
	return len(found[topic].Partitions), err
}

// configure sets the settings, and returns why the brokers do not let it, by topic.
func (b *Bus) configure(ctx context.Context, topics []proto.Topic, replicas map[string]int) (map[string]error, error) {
	req := &kafka.IncrementalAlterConfigsRequest{}
	for _, t := range topics {
		r := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name}
		for name, value := range configOf(t, replicas[t.Name]) {
			r.Configs = append(r.Configs, kafka.IncrementalAlterConfigsRequestConfig{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet})
		}
		req.Resources = append(req.Resources, r)
	}
	altered, err := b.client.IncrementalAlterConfigs(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("bus: configure topics: %w", err)
	}
	denied := map[string]error{}
	for _, r := range altered.Resources {
		if r.Error != nil {
			denied[r.ResourceName] = r.Error
		}
	}
	return denied, nil
}

// compare refuses topics whose settings could not be set and are others.
func (b *Bus) compare(ctx context.Context, topics []proto.Topic, replicas map[string]int, denied map[string]error) error {
	topics = slices.DeleteFunc(slices.Clone(topics), func(t proto.Topic) bool { return denied[t.Name] == nil })
	if len(topics) == 0 {
		return nil
	}
	req := &kafka.DescribeConfigsRequest{}
	for _, t := range topics {
		req.Resources = append(req.Resources, kafka.DescribeConfigRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name})
	}
	res, err := b.client.DescribeConfigs(ctx, req)
	if err != nil {
		return fmt.Errorf("bus: read the settings of topics: %w", err)
	}
	found := map[string]map[string]string{}
	for _, r := range res.Resources {
		if r.Error != nil {
			return fmt.Errorf("bus: read the settings of topic %s: %w", r.ResourceName, r.Error)
		}
		found[r.ResourceName] = map[string]string{}
		for _, e := range r.ConfigEntries {
			found[r.ResourceName][e.ConfigName] = e.ConfigValue
		}
	}
	for _, t := range topics {
		want := configOf(t, replicas[t.Name])
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got := found[t.Name][name]; got != want[name] {
				return Refused(fmt.Sprintf("topic %s has %s=%s, %s is wanted, and the brokers do not let it be changed (%v). Set it, or allow this service to alter the topic",
					t.Name, name, got, want[name], denied[t.Name]))
			}
		}
	}
	return nil
}

// Restore implements relay.Log: it creates those of the ensured topics that are missing, as they were.
func (b *Bus) Restore(ctx context.Context) error {
	b.mu.Lock()
	wanted := slices.Collect(maps.Values(b.wanted))
	b.mu.Unlock()
	if len(wanted) == 0 {
		return nil
	}
	found, err := b.describe(ctx, wanted)
	if err != nil {
		return err
	}
	for _, t := range wanted {
		if k, ok := found[t.Name]; ok && len(k.Partitions) != t.Partitions {
			_, err := b.replicas(ctx, []proto.Topic{t})
			return err
		}
	}
	missing := slices.DeleteFunc(wanted, func(t proto.Topic) bool { _, ok := found[t.Name]; return ok })
	if len(missing) == 0 {
		return nil
	}
	return b.Ensure(ctx, missing)
}

// explain returns err with what a person can do about it, as Refused where trying again is of no use.
func (b *Bus) explain(ctx context.Context, err error) error {
	if errors.Is(err, kafka.BrokerNotAvailable) {
		// The client keeps to itself why no broker is available, but for this question.
		if _, cause := b.describe(ctx, nil); cause != nil {
			err = cause
		}
	}
	return b.login.explain(err)
}
