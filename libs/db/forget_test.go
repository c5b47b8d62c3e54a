package db_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
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
	// The clock of the database is ahead, and a message may be parked long after it was sent.
	_, err := d.Pool.Exec(ctx, `update outbox set created_at = created_at + interval '2 minutes'`)
	require.NoError(t, err)
	_, err = d.Pool.Exec(ctx, `insert into parked (topic, partition, "offset", key, value, error, parked_at) select topic, 0, seq, key, value, 'x', created_at from outbox`)
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

func TestForgettingLateMeetsWhatWasPublishedSinceTheErasure(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	d.Hash = hash
	ann, gone, others := db.NewID().String(), db.NewID(), db.NewID().String()
	event := func(key, kind, note string) db.Event {
		return db.Event{Topic: proto.SubmissionTopic, Kind: kind, Key: key, Data: map[string]any{"id": key, "note": note}}
	}
	emit := func(events ...db.Event) {
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error { return tx.EmitAll(ctx, events) }))
	}
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		return tx.End(ctx, db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactErased, Key: ann, Data: map[string]any{"id": ann}})
	}))
	emit(event(others, proto.KindFormSubmitted, "ask ann@x.example"), event(db.NewID().String(), proto.KindFormSubmitted, "I am back: ann@x.example"),
		db.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: "submission/" + gone.String(), Data: &proto.Mail{Text: "somebody wrote"}})
	p := erasure.New(hash, time.Now().Add(-time.Hour), []string{ann}, [][]byte{hash("ann@x.example")})
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		if err := tx.Emit(ctx, event(others, proto.KindSubmissionUpdated, "ask")); err != nil {
			return err
		}
		p.AddID(gone)
		return tx.Forget(ctx, p)
	}))
	var notes []string
	messages, err := d.Pool.Query(ctx, `select value from outbox order by seq`)
	require.NoError(t, err)
	var value []byte
	_, err = pgx.ForEachRow(messages, []any{&value}, func() error {
		var e proto.Envelope
		require.NoError(t, protobuf.Unmarshal(value, &e))
		notes = append(notes, e.GetKind()+" "+gjson.GetBytes(e.GetData(), "note").String())
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{proto.KindContactErased + " ", proto.KindFormSubmitted + " I am back: ann@x.example", proto.KindSubmissionUpdated + " ask"}, notes)
}

func TestAPersonIsForgottenAgainOnceTheTransactionsBesideHaveEnded(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	d.Hash = hash
	p := erasure.New(hash, time.Now().Add(time.Minute), nil, [][]byte{hash("ann@x.example")})
	left := func() (n int) {
		require.NoError(t, d.Pool.QueryRow(ctx, `select count(*) from outbox`).Scan(&n))
		return n
	}
	other := db.NewID()
	forget := func(ctx context.Context, tx *db.Tx, p *erasure.Person) error {
		if err := tx.ForgetLater(ctx, p); err != nil {
			return err
		}
		require.NotContains(t, p.IDs(), other, "a record from which the person was struck is not theirs")
		p.AddID(other)
		return tx.Forget(ctx, p)
	}
	looked := make(chan error, 1)
	// The transaction has begun, and stores what it emits after the person was forgotten.
	require.NoError(t, d.Do(ctx, func(beside *db.Tx) error {
		if _, err := beside.Exec(ctx, `select`); err != nil {
			return err
		}
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error { return forget(ctx, tx, p) }))
		go func() { looked <- d.ForgetAgain(ctx, forget) }()
		require.Eventually(t, func() bool { // it waits
			var asks bool
			err := d.Pool.QueryRow(ctx, `select exists (select from pg_stat_activity where query like '%usename = current_user and xact_start%' and query not like '%query like%' and datname = current_database())`).Scan(&asks)
			return err == nil && asks
		}, time.Minute, time.Millisecond)
		return beside.Emit(ctx, db.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: "1", Data: &proto.Mail{To: "ann@x.example"}})
	}))
	require.NoError(t, <-looked)
	require.Zero(t, left())
	// Once is enough, and nothing of later is the person's.
	var again int
	require.NoError(t, d.Pool.QueryRow(ctx, `select count(*) from forgotten_person where again`).Scan(&again))
	require.Zero(t, again)
	require.NoError(t, d.ForgetAgain(ctx, func(context.Context, *db.Tx, *erasure.Person) error {
		t.Error("nobody is left")
		return nil
	}))
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
