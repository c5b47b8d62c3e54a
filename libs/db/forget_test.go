package db_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

func hash(s string) []byte { h := sha256.Sum256([]byte(strings.ToLower(s))); return h[:] }

func TestForgettingAPersonLeavesTheirNamesakesAlone(t *testing.T) {
	d, ctx := dbtest.New(t, "desk", nil), t.Context()
	d.Hash = hash
	ann, appointment, other := db.NewID(), db.NewID(), db.NewID()
	stored := func(key, body string, about ...uuid.UUID) {
		require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
			r := db.Request{Caller: "visitor", Op: "book", Key: key, Hash: []byte(key)}
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
	require.NoError(t, d.Flush(context.WithoutCancel(ctx), func(context.Context, []db.Message) error { return nil }))
}
