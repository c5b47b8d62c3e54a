package db_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
)

func TestEventsEmittedTogetherKeepTheirOrder(t *testing.T) {
	for _, n := range []int{3, 200} {
		d := dbtest.New(t, "desk", nil)
		var want []string
		require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
			var events []db.Event
			want = nil
			for i := range n {
				key := fmt.Sprint("k", (i*7)%n)
				want = append(want, key)
				events = append(events, db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: key, Data: i})
			}
			return tx.EmitAll(t.Context(), events)
		}))
		rows, err := d.Pool.Query(t.Context(), `select key from outbox order by seq`)
		require.NoError(t, err)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
