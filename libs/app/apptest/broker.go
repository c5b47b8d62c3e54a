package apptest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// Events are the envelopes on a topic so far, in order of each key. It waits until the outbox is empty.
func (s *Service) Events(topic string) (all []*proto.Envelope) {
	s.t.Helper()
	s.messages(topic, func(key string, value []byte) {
		env := &proto.Envelope{RecordId: key, Kind: "tombstone"}
		if value != nil {
			env = &proto.Envelope{}
			require.NoError(s.t, protobuf.Unmarshal(value, env))
		}
		all = append(all, env)
	})
	return all
}

// messages reads the messages on a topic so far, opened, in order of each key; value is nil for a tombstone. It waits until the outbox is empty.
func (s *Service) messages(topic string, each func(key string, value []byte)) {
	s.t.Helper()
	s.Settle()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ends, err := s.ends(ctx, topic)
	require.NoError(s.t, err)
	keys := Trust(proto.TopicNamed(topic).SealedTo)
	for p, end := range ends {
		for next := int64(0); next < end; {
			found, err := s.Neighbours.Read(ctx, p, next, 1000)
			require.NoError(s.t, err)
			for _, m := range found {
				if next = m.Offset + 1; next > end {
					break
				}
				if m.Value != nil {
					m.Value, err = keys.Open(topic, m.Key, m.Value)
					require.NoError(s.t, err)
				}
				each(m.Key, m.Value)
			}
		}
	}
}

// Audited are the audit entries so far with the operation action.
func (s *Service) Audited(action string) (all []*proto.Audit) {
	s.t.Helper()
	for _, e := range s.Events(proto.AuditTopic) {
		a := &proto.Audit{}
		require.NoError(s.t, protobuf.Unmarshal(e.GetData(), a))
		if a.GetAction() == action {
			all = append(all, a)
		}
	}
	return all
}

// Changes are the changes that audit entries show, as JSON, in the order of each record.
func (s *Service) Changes(action string) (all []string) {
	s.t.Helper()
	for _, a := range s.Audited(action) {
		all = append(all, string(a.GetChanges()))
	}
	return all
}

// ends are the ends of all partitions of the topics.
func (s *Service) ends(ctx context.Context, topics ...string) (map[relay.Partition]int64, error) {
	var all []relay.Partition
	for _, t := range proto.TopicsOf(s.Kit.Config.Partitions) {
		for p := range t.Partitions {
			if slices.Contains(topics, t.Name) {
				all = append(all, relay.Partition{Topic: t.Name, Number: p})
			}
		}
	}
	ends, err := s.Neighbours.Ends(ctx, all)
	if err == nil && len(ends) < len(all) {
		err = fmt.Errorf("%d of %d partitions have no leader", len(all)-len(ends), len(all))
	}
	return ends, err
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
		before, err := s.ends(ctx, topics...)
		// An event that is consumed may leave rows in the outbox, so the outbox is asked second; they may go to a topic that the
		// service follows, so the ends are asked again.
		if err != nil || !s.caughtUp(ctx, before) {
			return false
		}
		var waiting bool
		if err := s.Kit.DB.Pool.QueryRow(ctx, `select exists (select from outbox where sent_at is null)`).Scan(&waiting); err != nil || waiting {
			return false
		}
		after, err := s.ends(ctx, topics...)
		return err == nil && maps.Equal(before, after)
	})
}

// Absent is what a consumer does after a long absence about records whose tombstones it has missed: it compares the keys of
// each copy with the newest messages of its topic, and handles a tombstone for those that the topic does not have. It returns
// the keys that are left, by topic.
func (s *Service) Absent() map[string][]string {
	s.t.Helper()
	left := map[string][]string{}
	for _, f := range s.Parts.Follows {
		if f.Keys == nil {
			continue
		}
		live := map[string]bool{}
		for _, e := range s.Events(f.Topic) {
			live[e.GetRecordId()] = e.GetKind() != "tombstone"
		}
		require.NoError(s.t, s.Kit.DB.Do(context.Background(), func(tx *db.Tx) error {
			keys, err := f.Keys(context.Background(), tx, "", 1000)
			require.NoError(s.t, err)
			for _, key := range keys {
				behind, err := f.Keys(context.Background(), tx, key, 1)
				require.NoError(s.t, err)
				require.NotContains(s.t, behind, key)
				if live[key] {
					continue
				}
				tx.History = true
				e := bus.Event{ID: db.NewID(), Topic: f.Topic, Key: key, At: tx.Now, Tombstone: true, History: true}
				require.NoError(s.t, f.Handle(context.Background(), tx, e))
			}
			left[f.Topic], err = f.Keys(context.Background(), tx, "", 1000)
			return err
		}))
	}
	return left
}

// caughtUp reports whether the service has consumed the topics up to these ends.
func (s *Service) caughtUp(ctx context.Context, ends map[relay.Partition]int64) bool {
	for p, end := range ends {
		if end == 0 {
			continue
		}
		var next int64
		err := s.Kit.DB.Pool.QueryRow(ctx, `select next from position where (topic, partition) = ($1, $2)`, p.Topic, p.Number).Scan(&next)
		if err != nil || next < end {
			return false
		}
	}
	return true
}
