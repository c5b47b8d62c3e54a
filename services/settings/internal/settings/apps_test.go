package settings

import (
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASwitchWaitsForThoseWhoAreAliveAndNoLonger(t *testing.T) {
	t.Parallel()
	s, inside := startInside(t)
	c := admin(t, s)
	for i := range 20 {
		c.Patch("/apps/forms", map[string]any{"enabled": i%2 == 1}).Is(200)
		// A switch that is answered because nobody confirmed it in time has no presence with its version.
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(inside.presence.All())), func(p *proto.Presence) bool { return p.GetAppsVersion() == s.Kit.Apps.State().Version }))
	}
	// An instance that is behind is waited for until it says that it has followed.
	version := s.Kit.Apps.State().Version
	alive := func(v int64) { present(t, s, "contacts-1", v) }
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
