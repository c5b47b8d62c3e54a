package relay_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

func TestARestoredOutboxSendsCommandsAsStateAndNothingElse(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	ctx := t.Context()
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		for _, e := range []db.Event{
			{Topic: proto.ContactTopic, Kind: proto.KindContactCreated, Key: "a", Version: 1},
			{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: "b", Data: &proto.EnsureContact{Email: "b@example.com"}},
		} {
			if err := tx.Emit(ctx, e); err != nil {
				return err
			}
		}
		return tx.Mail(ctx, &proto.Mail{Id: "m"})
	}))
	open := func() *proto.Envelope {
		env := &proto.Envelope{}
		var value []byte
		require.NoError(t, d.Pool.QueryRow(ctx, `select value from outbox where topic = $1 and sent_at is null`, proto.ContactsCommandTopic).Scan(&value))
		require.NoError(t, protobuf.Unmarshal(value, env))
		return env
	}
	id := open().GetId()
	_, err := d.Pool.Exec(ctx, `update outbox set sent_at = now(), partition = 0, "offset" = 7 where topic = $1`, proto.ContactsCommandTopic)
	require.NoError(t, err)

	for _, run := range []struct {
		name  string
		mails int
	}{{"first run", 1}, {"second run", 0}} {
		t.Run(run.name, func(t *testing.T) {
			mails, waiting, err := relay.SettleRestored(ctx, d)
			require.NoError(t, err)
			require.Equal(t, []int{run.mails, 1}, []int{mails, waiting})
			after := open()
			require.Equal(t, id, after.GetId())
			require.True(t, after.GetState())
			var rows int
			require.NoError(t, d.Pool.QueryRow(ctx, `select count(*) from outbox`).Scan(&rows))
			require.Equal(t, 1, rows)
		})
	}
}
