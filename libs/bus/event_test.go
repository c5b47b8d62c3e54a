package bus

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestExtraIsReadAsTheMessageOfItsKind(t *testing.T) {
	for name, c := range map[string]struct {
		extra string
		want  *proto.Ensured
		fails bool
	}{
		"all there":         {extra: `{"origin":"submission","contact_id":"c"}`, want: &proto.Ensured{Origin: "submission", ContactId: "c"}},
		"one from tomorrow": {extra: `{"origin":"submission","mood":"good"}`, want: &proto.Ensured{Origin: "submission"}},
		"none":              {want: &proto.Ensured{}},
		"no object":         {extra: `[]`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got proto.Ensured
			err := Event{Extra: []byte(c.extra)}.DecodeExtra(&got)
			if c.fails {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.True(t, protobuf.Equal(c.want, &got), "%v", &got)
		})
	}
}

func TestAnEnvelopeIsOpenedWithItsRecord(t *testing.T) {
	value, err := protobuf.Marshal(&proto.Envelope{Kind: proto.KindFieldCreated, Version: 3, Data: []byte(`{"label":"Size"}`)})
	require.NoError(t, err)
	var field struct{ Label string }
	env, err := OpenEnvelope(value, &field)
	require.NoError(t, err)
	require.EqualValues(t, 3, env.GetVersion())
	require.Equal(t, "Size", field.Label)
	_, err = OpenEnvelope([]byte("{}"), nil)
	require.Error(t, err)
	_, err = OpenEnvelope(value, &[]string{})
	require.ErrorContains(t, err, proto.KindFieldCreated)
}

func TestOnHandlesEventsOfOneKind(t *testing.T) {
	var seen []string
	handle := On(proto.KindKeySeen, func(_ context.Context, _ *db.Tx, e Event, in *proto.KeySeen) error {
		seen = append(seen, e.Key+" "+in.GetAddress())
		return nil
	})
	raw, err := protobuf.Marshal(&proto.KeySeen{Address: "192.0.2.1"})
	require.NoError(t, err)
	require.NoError(t, handle(t.Context(), nil, Event{Kind: proto.KindKeySeen, Key: "a", Data: raw}))
	require.NoError(t, handle(t.Context(), nil, Event{Kind: proto.KindSessionSeen, Key: "b", Data: []byte("no KeySeen")}))
	require.Error(t, handle(t.Context(), nil, Event{Kind: proto.KindKeySeen, Key: "c", Data: []byte("no KeySeen")}))
	require.Equal(t, []string{"a 192.0.2.1"}, seen)
}
