package bus

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
)

func TestAReplayThatFailsLeavesItsOwnReason(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "parked", nil)
	reason := errors.New("the second reason")
	c := &Consumer{Bus: New("127.0.0.1:1", Login{}), DB: d, Follows: []Follow{{Topic: proto.AppointmentTopic, Handle: func(context.Context, *db.Tx, Event) error { return reason }}}}
	value, err := protobuf.Marshal(&proto.Envelope{Id: db.NewID().String(), Kind: "x", OccurredAt: timestamppb.Now(), Actor: &proto.Actor{Channel: db.ChannelSystem}, Data: []byte("{}")})
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `insert into parked (topic, partition, "offset", key, value, error) values ($1, 0, 1, 'a', $2, 'the first reason')`, proto.AppointmentTopic, value)
	require.NoError(t, err)
	parked, err := c.Parked(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, c.Replay(t.Context(), parked[0].ID), reason)
	parked, err = c.Parked(t.Context())
	require.NoError(t, err)
	require.Len(t, parked, 1)
	require.Contains(t, parked[0].Error, "the second reason")

	reason = context.DeadlineExceeded
	require.ErrorIs(t, c.Replay(t.Context(), parked[0].ID), reason)
	parked, err = c.Parked(t.Context())
	require.NoError(t, err)
	require.Contains(t, parked[0].Error, "the second reason", "an outage says nothing about the message")

	reason = nil
	require.NoError(t, c.Replay(t.Context(), parked[0].ID))
	parked, err = c.Parked(t.Context())
	require.NoError(t, err)
	require.Empty(t, parked)
}
