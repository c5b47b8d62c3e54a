package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

func TestAnEventOfStateIsHistoryAndMailsNothing(t *testing.T) {
	b, d := open(t), notes(t)
	name := topic(t, b, 1)
	var got []bus.Event
	c := &bus.Consumer{Bus: b, DB: d, Follows: []bus.Follow{{Topic: name, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		tx.AfterCommit(func() { got = append(got, e) })
		if err := tx.Mail(ctx, &proto.Mail{Id: e.Kind}); err != nil {
			return err
		}
		return note(ctx, tx, e)
	}}}}
	for _, e := range []db.Event{{Kind: "first"}, {Kind: "state", State: true}, {Kind: "last"}} {
		e.Topic, e.Key, e.Version = name, "a", 1
		require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error { return tx.Emit(t.Context(), e) }))
	}
	require.NoError(t, (&relay.Relay{DB: d, Log: b}).Flush(t.Context()))
	stop := run(t, c.Run)
	until.Holds(t, func() bool { return len(seen(t, d)) == 3 }, 10*time.Second, 5*time.Millisecond)
	stop()

	for i, state := range []bool{false, true, false} {
		require.Equal(t, state, got[i].State, got[i].Kind)
		require.Equal(t, state, got[i].History, got[i].Kind)
	}
	mails := map[string]bool{}
	rows, err := d.Pool.Query(t.Context(), `select key from outbox where topic = $1`, proto.MailTopic)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		require.NoError(t, rows.Scan(&key))
		mails[key] = true
	}
	require.Equal(t, map[string]bool{"first": true, "last": true}, mails)
}
