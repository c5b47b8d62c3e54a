package db_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/erasure"
	"frontdesk/libs/relay"
	"frontdesk/libs/relay/relaytest"
	"frontdesk/proto"
)

func hash(s string) []byte { h := sha256.Sum256([]byte(strings.ToLower(s))); return h[:] }

func TestForgettingAPersonLeavesTheirNamesakesAlone(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	d.Hash = hash
	ann, appointment, other := db.NewID(), db.NewID(), db.NewID()
	stored := func(key, body string, about ...uuid.UUID) {
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
			r := db.Request{Caller: "visitor", Op: "book", Key: key, Prints: [][]byte{[]byte(key)}}
			if _, err := tx.Claim(ctx, r); err != nil {
				return err
			}
			return tx.Keep(ctx, r, db.Answer{Status: 200, Body: []byte(body), About: about})
		}))
	}
	stored("by id", `{"contact":{"id":"`+ann.String()+`"}}`)
	stored("by address", `{"email":"Ann@Bücher.example"}`)
	stored("by a record of hers", `{"status":"confirmed"}`, appointment)
	stored("of somebody else", `{"contact":{"id":"`+other.String()+`"},"email":"joann@bücher.example"}`)
	emit := func(key string, m *proto.EnsureContact) {
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
			return tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: key, Data: m})
		}))
	}
	emit("1", &proto.EnsureContact{Email: "ANN@xn--bcher-kva.example", FirstName: "A"})
	emit("2", &proto.EnsureContact{Email: "joann@bücher.example", FirstName: "Ann", LastName: "Stays"})
	emit("3", &proto.EnsureContact{FirstName: "Ann", LastName: "Leaves"})
	// A visitor without a name is called by the address.
	require.NoError(t, d.Do(db.WithActor(ctx, db.Actor{Label: "Ann@bücher.example", Channel: db.ChannelForm}), func(tx *db.Tx) error {
		return tx.Audit(ctx, &proto.Audit{Action: "submit-form"})
	}))
	_, err := d.Pool.Exec(ctx, `insert into parked (topic, partition, "offset", key, value, error) select topic, 0, seq, key, value, 'x' from outbox`)
	require.NoError(t, err)

	p := erasure.New(hash, time.Now().Add(time.Minute), []string{ann.String()}, [][]byte{hash("ann@xn--bcher-kva.example"), hash("Ann Leaves")})
	p.AddID(appointment)
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error { return tx.Forget(ctx, p) }))

	left := func(sql string) (keys []string) {
		require.NoError(t, d.Pool.QueryRow(ctx, sql).Scan(&keys))
		return keys
	}
	require.Equal(t, []string{"of somebody else"}, left(`select array_agg(key) from idempotency`))
	require.Equal(t, []string{"2"}, left(`select array_agg(key) from parked`))
	require.Equal(t, []string{"2"}, left(`select array_agg(key) from outbox`))
	// A message from before the erasure arrives later. A message from after it is about a new person.
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		for at, gone := range map[time.Time]bool{time.Now(): true, p.At: false} {
			yes, err := tx.Forgotten(ctx, at, hash("nobody@example.com"), hash("ann@xn--bcher-kva.example"))
			require.NoError(t, err)
			require.Equal(t, gone, yes)
			since, err := tx.ForgottenSince(ctx, at)
			require.NoError(t, err)
			require.Equal(t, gone, since.MentionedIn("of "+ann.String()))
			require.Equal(t, gone, since.MentionedIn("to ann@bücher.example"))
		}
		return nil
	}))
	require.NoError(t, (&relay.Relay{DB: d, Log: &relaytest.Log{}}).Flush(ctx))
}

func TestATombstoneIsSentAgainWhenItMayBeCompacted(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	now := time.Now()
	d.Now = func() time.Time { return now }
	record := db.NewID().String()
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		tx.Tombstone(proto.AppsTopic, "a name that may come back")
		tx.Tombstone(proto.ContactTopic, record)
		return nil
	}))
	var log relaytest.Log
	seen := map[string]int{}
	sent := func() (keys []string) {
		require.NoError(t, d.Clean(ctx))
		require.NoError(t, (&relay.Relay{DB: d, Log: &log}).Flush(ctx))
		for _, topic := range []string{proto.AppsTopic, proto.ContactTopic} {
			all := log.Messages(relay.Partition{Topic: topic})
			for _, m := range all[seen[topic]:] {
				require.Nil(t, m.Value)
				keys = append(keys, m.Key)
			}
			seen[topic] = len(all)
		}
		return keys
	}
	require.Equal(t, []string{"a name that may come back", record}, sent())
	now = now.Add(7 * 24 * time.Hour)
	require.Empty(t, sent())
	now = now.Add(2 * 24 * time.Hour)
	require.Equal(t, []string{record}, sent())
	require.Empty(t, sent())
}

func TestTheLastEventOfARecordIsSentAgainAsState(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	now := time.Now()
	d.Now = func() time.Time { return now }
	record := db.NewID().String()
	e := db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: record, Data: map[string]any{"id": record}}
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		return tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: record, Data: map[string]any{"first_name": "Ann"}})
	}))
	require.NoError(t, d.Do(db.WithActor(ctx, db.Actor{UserID: 1, Label: "Staff"}), func(tx *db.Tx) error { return tx.End(ctx, e) }))
	var log relaytest.Log
	seen := 0
	sent := func() (all []*proto.Envelope) {
		require.NoError(t, d.Clean(ctx))
		require.NoError(t, (&relay.Relay{DB: d, Log: &log}).Flush(ctx))
		stored := log.Messages(relay.Partition{Topic: proto.ContactTopic})
		defer func() { seen = len(stored) }()
		for _, m := range stored[seen:] {
			env := &proto.Envelope{}
			require.NoError(t, protobuf.Unmarshal(m.Value, env))
			require.Equal(t, record, m.Key)
			require.Equal(t, proto.KindContactErased, env.GetKind())
			require.JSONEq(t, `{"id": "`+record+`"}`, string(env.GetData()))
			all = append(all, env)
		}
		return all
	}
	first := sent()
	require.Len(t, first, 1, "what waited about the record is not sent")
	require.False(t, first[0].GetState())
	now = now.Add(7 * 24 * time.Hour)
	require.Empty(t, sent())
	now = now.Add(2 * 24 * time.Hour)
	again := sent()
	require.Len(t, again, 1)
	require.True(t, again[0].GetState())
	require.Empty(t, again[0].GetActor().GetLabel(), "it stays for good")
	require.NotEqual(t, first[0].GetId(), again[0].GetId())
	require.Empty(t, sent())
}
