package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/relay"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

func masterOf(service string) []string { return []string{"the master key of " + service} }

// TrustOf are the keys of a service in tests.
func TrustOf(service string) *trust.Keys {
	return trust.New(service, masterOf(service), trust.RingOf(proto.Services, masterOf))
}

// write puts a message into the first partition of a topic, as whoever reaches the broker can.
func write(t *testing.T, b *Bus, topic, key string, value []byte, headers ...kafka.Header) {
	t.Helper()
	r := kafka.Record{Key: kafka.NewBytes([]byte(key)), Headers: headers, Time: time.Now()}
	if value != nil {
		r.Value = kafka.NewBytes(value)
	}
	res, err := b.client.Produce(t.Context(), &kafka.ProduceRequest{Topic: topic, RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(r)})
	require.NoError(t, errors.Join(err, res.Error))
}

// stored are the messages in the first partition of a topic.
func stored(t *testing.T, b *Bus, topic string) (all []kafka.Message) {
	t.Helper()
	log, err := b.bounds(t.Context(), relay.Partition{Topic: topic})
	require.NoError(t, err)
	require.NoError(t, b.scan(t.Context(), relay.Partition{Topic: topic}, 0, log.End, func(m kafka.Message) error { all = append(all, m); return nil }))
	return all
}

func repeat(t *testing.T, b *Bus, m kafka.Message) {
	t.Helper()
	write(t, b, m.Topic, string(m.Key), m.Value, m.Headers...)
}

// signed are the value and the header of a message that a service signs now.
func signed(t *testing.T, service, topic, key string, version int64, data string) ([]byte, kafka.Header) {
	t.Helper()
	var value []byte
	if data != "" {
		var err error
		value, err = protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Kind: "x", Version: version, Data: []byte(data), OccurredAt: timestamppb.Now()})
		require.NoError(t, err)
	}
	signature, err := TrustOf(service).Sign(trust.Message{Topic: topic, Key: key, Value: value, Stamp: time.Now().UnixMicro()})
	require.NoError(t, err)
	return value, kafka.Header{Key: signatureHeader, Value: signature}
}

// forgeries are what a foreign producer can write about the key a of a topic, by name. The service booking has lost its key to them.
func forgeries(topic, thief string) map[string]func(t *testing.T, b *Bus) {
	return map[string]func(t *testing.T, b *Bus){
		"an unsigned record": func(t *testing.T, b *Bus) {
			value, _ := signed(t, thief, topic, "a", 1000, "forged")
			write(t, b, topic, "a", value)
		},
		"an empty signature": func(t *testing.T, b *Bus) {
			value, _ := signed(t, thief, topic, "a", 1000, "forged")
			write(t, b, topic, "a", value, kafka.Header{Key: signatureHeader})
		},
		"another service's signature": func(t *testing.T, b *Bus) {
			value, h := signed(t, thief, topic, "a", 1000, "forged")
			write(t, b, topic, "a", value, h)
		},
		"an unsigned tombstone": func(t *testing.T, b *Bus) { write(t, b, topic, "a", nil) },
		"another service's tombstone": func(t *testing.T, b *Bus) {
			_, h := signed(t, thief, topic, "a", 0, "")
			write(t, b, topic, "a", nil, h)
		},
		"a signed value under another key": func(t *testing.T, b *Bus) {
			m := stored(t, b, topic)[0]
			write(t, b, topic, "a", m.Value, m.Headers...)
		},
		"a tombstone with the signature of a value": func(t *testing.T, b *Bus) {
			m := stored(t, b, topic)[1]
			write(t, b, topic, "a", nil, m.Headers...)
		},
		"an older record again":   func(t *testing.T, b *Bus) { repeat(t, b, stored(t, b, topic)[1]) },
		"the newest record again": func(t *testing.T, b *Bus) { repeat(t, b, stored(t, b, topic)[2]) },
		"the owner's value from another topic": func(t *testing.T, b *Bus) {
			value, h := signed(t, proto.TopicNamed(topic).SignerOf("a"), "another.topic", "a", 1000, "forged")
			write(t, b, topic, "a", value, h)
		},
		"a forged marker behind the state": func(t *testing.T, b *Bus) {
			value, h := signed(t, thief, topic, proto.StateKey, 0, "x")
			write(t, b, topic, proto.StateKey, value, h)
		},
	}
}

func TestATableTakesOnlyWhatItsOwnerHasSigned(t *testing.T) {
	t.Parallel()
	for _, topic := range []string{proto.IdentityTopic, proto.SiteTopic, proto.AppsTopic, proto.StaffTopic} {
		t.Run(topic, func(t *testing.T) {
			t.Parallel()
			_, b, table, _ := tableOf(t, topic)
			owner := proto.TopicNamed(topic).Owner
			b.Trust = TrustOf(owner)
			send(t, b, topic, "other", 1, "other")
			send(t, b, topic, "a", 1, "before")
			send(t, b, topic, "a", 2, "now")
			for name, forge := range forgeries(topic, "webhooks") {
				t.Log(name)
				forge(t, b)
			}
			send(t, b, topic, "last", 1, "last")
			want := map[string]string{"other": "other", "a": "now", "last": "last"}
			becomes(t, table, want)

			again := &Table[string]{newFollower(b, topic, table.decode)}
			follow(t, again)
			require.Eventually(t, again.Ready, 10*time.Second, time.Millisecond)
			require.Equal(t, want, again.All(), "after a restart")
		})
	}
}

func TestSignedRecordsThatAreSentTogetherAreAllTaken(t *testing.T) {
	t.Parallel()
	_, b, table, _ := tableOf(t, proto.IdentityTopic)
	want := map[string]string{}
	for range 3 {
		var batch []db.Message
		for i := range 20 {
			key := fmt.Sprint(len(want), ".", i)
			value, _ := signed(t, "settings", proto.IdentityTopic, key, 1, key)
			batch = append(batch, db.Message{Topic: proto.IdentityTopic, Key: key, Value: value})
		}
		for _, m := range batch {
			want[m.Key] = m.Key
		}
		require.NoError(t, b.Send(t.Context(), batch))
	}
	becomes(t, table, want)
}

func TestASignedRecordThatHasEndedDoesNotComeBack(t *testing.T) {
	t.Parallel()
	topic := proto.IdentityTopic
	cluster, b, table, stop := tableOf(t, topic)
	send(t, b, topic, "session", 1, "of a thief")
	send(t, b, topic, "session", 0, "")
	session := stored(t, b, topic)[0]
	tombstone := stored(t, b, topic)[1]
	repeat(t, b, session)
	send(t, b, topic, "b", 1, "b")
	want := map[string]string{"b": "b"}
	becomes(t, table, want)

	// The memory of deletions is empty.
	table.mu.Lock()
	clear(table.gone)
	table.mu.Unlock()
	repeat(t, b, session)
	send(t, b, topic, "c", 1, "c")
	want["c"] = "c"
	becomes(t, table, want)
	again := &Table[string]{newFollower(b, topic, table.decode)}
	follow(t, again)
	becomes(t, again, want)

	// Its tombstone is compacted away, and the table has to read the topic anew.
	stop()
	repeat(t, b, session)
	repeat(t, b, session)
	require.NoError(t, cluster.DeleteRecords(topic, 0, int64(len(stored(t, b, topic)))-1))
	send(t, b, topic, "b", 2, "b2")
	want["b"] = "b2"
	delete(want, "c") // it was not written again
	follow(t, table)
	becomes(t, table, want)

	// A key that came back is not ended by its old tombstone.
	send(t, b, topic, "session", 2, "made anew")
	repeat(t, b, tombstone)
	send(t, b, topic, "d", 1, "d")
	want["session"], want["d"] = "made anew", "d"
	becomes(t, table, want)
}

func TestSignaturesOfAnOldKeyAreTakenWhileItsPublicKeyIsThere(t *testing.T) {
	t.Parallel()
	topic := proto.SiteTopic
	_, b, table, _ := tableOf(t, topic)
	send(t, b, topic, "a", 1, "by the old key")
	next := []string{"another master key of settings", masterOf("settings")[0]}
	ring := trust.RingOf(proto.Services, masterOf)
	ring["settings"] = []trust.Public{trust.PublicOf(next[0], "settings"), trust.PublicOf(next[1], "settings")}
	b.Trust = trust.New("settings", next, ring)
	send(t, b, topic, "b", 1, "by the new key")
	becomes(t, table, map[string]string{"a": "by the old key", "b": "by the new key"})

	b.Trust = trust.New("settings", next[:1], trust.Ring{"settings": ring["settings"][:1]})
	again := &Table[string]{newFollower(b, topic, table.decode)}
	follow(t, again)
	becomes(t, again, map[string]string{"b": "by the new key"})
}

// handled notes the data of the events of a topic.
type handled struct {
	mu  sync.Mutex
	all []string
}

func (h *handled) handle(_ context.Context, _ *db.Tx, e Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, e.Key+"="+string(e.Data))
	return nil
}

func (h *handled) are(want ...string) func() bool {
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Equal(h.all, want)
	}
}

func consume(t *testing.T, c *Consumer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func TestAConsumerHandlesOnlyWhatTheOwnerHasSigned(t *testing.T) {
	t.Parallel()
	topic := proto.StaffTopic
	_, b, _, _ := tableOf(t, topic)
	b.Trust = TrustOf("booking")
	d := dbtest.New(t, "desk", nil)
	var h handled
	send(t, b, topic, "other", 1, "other")
	send(t, b, topic, "a", 1, "before")
	send(t, b, topic, "a", 2, "now")
	consume(t, &Consumer{Bus: b, DB: d, Follows: []Follow{{Topic: topic, Handle: h.handle}}})
	require.Eventually(t, h.are("other=other", "a=before", "a=now"), 15*time.Second, time.Millisecond)
	for name, forge := range forgeries(topic, "webhooks") {
		t.Log(name)
		forge(t, b)
	}
	send(t, b, topic, "last", 1, "last")
	require.Eventually(t, h.are("other=other", "a=before", "a=now", "last=last"), 15*time.Second, time.Millisecond)
	var parked int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select count(*) from parked`).Scan(&parked))
	require.Zero(t, parked)

	// Its owner does not take versions from them either, when its data went back to a backup.
	var records int
	require.NoError(t, b.Records(t.Context(), topic, func(Record) error { records++; return nil }))
	require.Equal(t, 4, records)
}

func TestAConsumerThatStartsAgainKnowsWhatWasSignedBefore(t *testing.T) {
	t.Parallel()
	topic := proto.StaffTopic
	_, b, _, _ := tableOf(t, topic)
	b.Trust = TrustOf("booking")
	d := dbtest.New(t, "desk", nil)
	var h handled
	send(t, b, topic, "a", 1, "first")
	send(t, b, topic, "a", 0, "")
	send(t, b, topic, "a", 2, "again")
	runs := func(t *testing.T, want ...string) {
		consume(t, &Consumer{Bus: b, DB: d, Follows: []Follow{{Topic: topic, Handle: h.handle}}})
		require.Eventually(t, h.are(want...), 15*time.Second, time.Millisecond, "%v", &h.all)
	}
	t.Run("before", func(t *testing.T) { runs(t, "a=first", "a=", "a=again") })
	repeat(t, b, stored(t, b, topic)[1]) // the tombstone: it has no id, and its time is that of whoever writes it
	send(t, b, topic, "last", 1, "last")
	t.Run("after", func(t *testing.T) { runs(t, "a=first", "a=", "a=again", "last=last") })
}

func TestCommandsAreReadableForTheirReceiverOnly(t *testing.T) {
	t.Parallel()
	topic := proto.MailTopic
	_, b, _, _ := tableOf(t, topic)
	sender := dbtest.New(t, "booking", nil)
	const secret = "the link with the token"
	emitMail := func(id string) {
		require.NoError(t, sender.Do(t.Context(), func(tx *db.Tx) error {
			return tx.Mail(t.Context(), &proto.Mail{Id: id, To: "ann@example.com", Text: secret})
		}))
	}
	emitMail("first")
	b.Trust = TrustOf("booking")
	require.NoError(t, (&relay.Relay{DB: sender, Log: b}).Flush(t.Context()))
	all := func() []kafka.Message {
		var all []kafka.Message
		for p := range proto.TopicNamed(topic).Partitions {
			at := relay.Partition{Topic: topic, Number: p}
			log, err := b.bounds(t.Context(), at)
			require.NoError(t, err)
			require.NoError(t, b.scan(t.Context(), at, 0, log.End, func(m kafka.Message) error { all = append(all, m); return nil }))
		}
		return all
	}
	require.Len(t, all(), 1)
	require.NotContains(t, string(all()[0].Value), secret)
	require.NotContains(t, string(all()[0].Value), "ann@example.com")

	// The sender finds it in the log, and does not send it again.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); (&relay.Relay{DB: sender, Log: b}).Run(ctx, func(err error) { t.Log(err) }) }()
	emitMail("second")
	require.Eventually(t, func() bool {
		var checked bool
		err := sender.Pool.QueryRow(t.Context(), `select checked_at > now() - interval '1 minute' and not exists (select from outbox where sent_at is null) from relay`).Scan(&checked)
		return err == nil && checked
	}, 15*time.Second, 5*time.Millisecond)
	cancel()
	<-done
	require.Len(t, all(), 2)
	var plain int
	require.NoError(t, sender.Pool.QueryRow(t.Context(), `select count(*) from outbox where position($1::bytea in value) > 0`, []byte(secret)).Scan(&plain))
	require.Equal(t, 2, plain, "erasing finds people in the outbox")

	// The receiver opens it. With another key it is parked, as it stands in the log, until the old key is there.
	receiver := dbtest.New(t, "settings", nil)
	var got handled
	key := trust.New("settings", []string{"another master key of settings"}, trust.RingOf(proto.Services, masterOf))
	settings := New(b.brokers[0], Login{})
	t.Cleanup(func() { _ = settings.Close() })
	settings.Trust = key
	c := &Consumer{Bus: settings, DB: receiver, Follows: []Follow{{Topic: topic, Handle: func(ctx context.Context, tx *db.Tx, e Event) error {
		var m proto.Mail
		if err := e.Decode(&m); err != nil {
			return err
		}
		return got.handle(ctx, tx, Event{Key: m.GetId(), Data: []byte(m.GetText())})
	}}}, retries: []time.Duration{time.Millisecond}}
	consume(t, c)
	var parked []Parked
	require.Eventually(t, func() bool {
		var err error
		parked, err = c.Parked(t.Context())
		return err == nil && len(parked) == 2
	}, 15*time.Second, 5*time.Millisecond)
	require.ErrorIs(t, c.Replay(t.Context(), parked[0].ID), trust.ErrSealed)
	later := &Consumer{Bus: b, DB: receiver, Follows: c.Follows}
	b.Trust = TrustOf("settings")
	slices.SortFunc(parked, func(x, y Parked) int { return len(x.Key) - len(y.Key) })
	for _, p := range parked {
		require.NoError(t, later.Replay(t.Context(), p.ID))
	}
	require.True(t, got.are("first="+secret, "second="+secret)(), got.all)
}
