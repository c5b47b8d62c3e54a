package apptest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/proto"
)

// Events are the envelopes on a topic so far, in order of each key. It waits until the outbox is empty.
func (s *Service) Events(topic string) []*proto.Envelope {
	s.t.Helper()
	s.Settle()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ends, err := s.ends(ctx, topic)
	require.NoError(s.t, err)
	var all []*proto.Envelope
	for p, end := range ends[topic] {
		for next := int64(0); next < end; {
			var envelopes []*proto.Envelope
			envelopes, next, err = s.fetch(ctx, topic, p, next, end)
			require.NoError(s.t, err)
			all = append(all, envelopes...)
		}
	}
	return all
}

// fetch reads from offset next on, but not from end on, and answers the offset behind what it read.
func (s *Service) fetch(ctx context.Context, topic string, partition int, next, end int64) (all []*proto.Envelope, _ int64, err error) {
	res, err := s.broker.Fetch(ctx, &kafka.FetchRequest{Topic: topic, Partition: partition, Offset: next, MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 5 * time.Second})
	if err = errors.Join(err, errorOf(res)); err != nil {
		return nil, next, fmt.Errorf("fetch %s/%d from %d: %w", topic, partition, next, err)
	}
	for {
		r, err := res.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return all, next, nil
		}
		if err != nil {
			return nil, next, err
		}
		if r.Offset < next || r.Offset >= end {
			continue // a batch is answered whole
		}
		next = r.Offset + 1
		env := &proto.Envelope{}
		if r.Value == nil {
			key, err := io.ReadAll(r.Key)
			if err != nil {
				return nil, next, err
			}
			env.RecordId, env.Kind = string(key), "tombstone"
		} else {
			raw, err := io.ReadAll(r.Value)
			if err == nil {
				err = protobuf.Unmarshal(raw, env)
			}
			if err != nil {
				return nil, next, err
			}
		}
		all = append(all, env)
	}
}

func errorOf(res *kafka.FetchResponse) error {
	if res == nil {
		return nil
	}
	return res.Error
}

// ends are the ends of all partitions of the topics, by topic and partition.
func (s *Service) ends(ctx context.Context, topics ...string) (map[string][]int64, error) {
	wanted := map[string][]kafka.OffsetRequest{}
	ends := map[string][]int64{}
	for _, t := range proto.Topics {
		if !slices.Contains(topics, t.Name) {
			continue
		}
		ends[t.Name] = make([]int64, t.Partitions)
		for p := range t.Partitions {
			wanted[t.Name] = append(wanted[t.Name], kafka.LastOffsetOf(p))
		}
	}
	res, err := s.broker.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: wanted})
	if err != nil {
		return nil, err
	}
	for topic, partitions := range res.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, fmt.Errorf("end of %s/%d: %w", topic, p.Partition, p.Error)
			}
			ends[topic][p.Partition] = p.LastOffset
		}
	}
	return ends, nil
}

// Settle waits until the service has sent all its events and consumed all of those it follows.
func (s *Service) Settle() {
	s.t.Helper()
	topics := []string{proto.ForgetTopic}
	for _, f := range s.Parts.Follows {
		topics = append(topics, f.Topic)
	}
	s.Eventually(func() bool {
		ctx := context.Background()
		var waiting bool
		err := s.Kit.DB.Pool.QueryRow(ctx, `select exists (select from outbox)`).Scan(&waiting)
		return err == nil && !waiting && s.caughtUp(ctx, topics)
	})
}

// caughtUp reports whether the service has consumed the topics to their ends.
func (s *Service) caughtUp(ctx context.Context, topics []string) bool {
	ends, err := s.ends(ctx, topics...)
	if err != nil {
		return false
	}
	for topic, partitions := range ends {
		for p, end := range partitions {
			if end == 0 {
				continue
			}
			var next int64
			err := s.Kit.DB.Pool.QueryRow(ctx, `select next from position where (topic, partition) = ($1, $2)`, topic, p).Scan(&next)
			if err != nil || next < end {
				return false
			}
		}
	}
	return true
}
