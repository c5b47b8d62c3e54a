package apptest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// PublishesStateAgain publishes the state of all records of the service again and requires that every record in topic comes
// once more as its newest event was: the same data under the same version, marked as state. It returns how many records
// came. Topics with bare messages are left out.
func (s *Service) PublishesStateAgain(topic string) int {
	s.t.Helper()
	before := s.Events(topic)
	require.NoError(s.t, s.Kit.DB.Do(s.t.Context(), func(tx *db.Tx) error {
		return app.PublishAll(s.t.Context(), tx, slices.DeleteFunc(slices.Clone(s.Parts.Published), func(p app.Published) bool { return p.Topic != topic }))
	}))
	again := map[string]*proto.Envelope{}
	for _, e := range s.Events(topic) {
		if slices.ContainsFunc(before, func(b *proto.Envelope) bool { return b.GetId() == e.GetId() }) {
			continue
		}
		require.NotContains(s.t, again, e.GetRecordId(), "published twice")
		require.True(s.t, e.GetState(), e.GetKind())
		again[e.GetRecordId()] = e
	}
	newest := map[string]*proto.Envelope{}
	for _, e := range before {
		newest[e.GetRecordId()] = e
	}
	for key, e := range again {
		require.Contains(s.t, newest, key, "never published before")
		require.Equal(s.t, newest[key].GetVersion(), e.GetVersion(), "%s %s", e.GetKind(), key)
		require.JSONEq(s.t, string(newest[key].GetData()), string(e.GetData()), "%s %s", e.GetKind(), key)
	}
	return len(again)
}
