package apps

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// start starts the room alone, with the apps of a new site.
func start(t *testing.T) (s *apptest.Service, r *Room) {
	t.Helper()
	s = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r = New(k)
		r.Operations(set)
		require.NoError(t, k.DB.Do(t.Context(), func(tx *db.Tx) error {
			return errors.Join(document.Add(t.Context(), tx, First()), app.PublishAll(t.Context(), tx, r.Parts().Published))
		}))
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "apps", Parts: r.Parts()}}
	})
	return s, r
}

func TestASwitchWaitsForThoseWhoAreAliveAndNoLonger(t *testing.T) {
	t.Parallel()
	s, inside := start(t)
	c := s.As("site_admin")
	for i := range 20 {
		c.Patch("/apps/forms", map[string]any{"enabled": i%2 == 1}).Is(200)
		// A switch that is answered because nobody confirmed it in time has no presence with its version.
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(inside.presence.All())), func(p *proto.Presence) bool { return p.GetAppsVersion() == s.Kit.Apps.State().Version }))
	}
	// An instance that is behind is waited for until it says that it has followed.
	version := s.Kit.Apps.State().Version
	alive := func(v int64) {
		s.SendMessage(proto.PresenceTopic, "contacts-1", &proto.Presence{Instance: "contacts-1", At: timestamppb.Now(), AppsVersion: v})
	}
	alive(version)
	s.Eventually(func() bool { _, known := inside.presence.Get("contacts-1"); return known })
	var done time.Time
	var answer *apptest.Answer
	var both sync.WaitGroup
	both.Go(func() {
		answer = c.Patch("/apps/forms", map[string]any{"enabled": false})
		done = time.Now()
	})
	time.Sleep(300 * time.Millisecond)
	followed := time.Now()
	alive(version + 1)
	both.Wait()
	answer.Is(200)
	require.False(t, done.Before(followed), "the switch was answered before everybody had followed")
}
