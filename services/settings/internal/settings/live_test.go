package settings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// screen opens the stream of changes and waits until it has begun.
func screen(c *apptest.Client) *apptest.Listener {
	l := c.Listen("/live")
	l.Until("ready", "")
	return l
}

func TestChangesOfAllServicesReachAllScreens(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("open screens hear changes of all services", func(t *testing.T) {
		boss, staff := s.AsSession("site_admin"), s.AsSession("staff")
		all, own := screen(boss), screen(staff)

		boss.Patch("/settings/form-style", `{"size":17}`).Is(200)
		h := all.Until("change", "settings")
		require.Equal(t, "form-style", h.Data["id"])
		require.Equal(t, fmt.Sprintf("User %d", boss.UserID), h.Data["actor"])
		own.Until("change", "settings")

		s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "theirs", Version: 3, Data: map[string]any{"owner_user_id": boss.UserID}})
		s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "mine", Version: 4, Changed: []string{"email"},
			Actor: &proto.Actor{Label: "Bo", Channel: db.ChannelPortal}, Data: map[string]any{"owner_user_id": staff.UserID}})
		all.Until("change", "contact")
		h = own.Until("change", "contact")
		require.Equal(t, map[string]any{"type": "contact", "id": "mine", "version": 4.0, "actor": "Bo", "changed": []any{"email"}}, h.Data)

		s.SetApp("forms", false)
		s.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormUpdated, Key: "1", Version: 2, Data: map[string]any{}})
		s.Send(apptest.Event{Topic: proto.StaffTopic, Kind: proto.KindStaffUpdated, Key: "7", Version: 2, Data: map[string]any{}})
		for h := all.Next(); h.Data["type"] != "staff"; h = all.Next() {
			require.NotEqual(t, "form", h.Data["type"], "the app was off")
		}
	})
	t.Run("who comes back hears what changed meanwhile, and loads nothing else", func(t *testing.T) {
		boss, staff := s.AsSession("site_admin"), s.AsSession("staff")
		l := boss.Listen("/live")
		had := l.Until("ready", "").ID
		say := func(key string, owner int64) {
			s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: key, Version: 3, Data: map[string]any{"owner_user_id": owner}})
			for h := l.Until("change", "contact"); h.Data["id"] != key; h = l.Until("change", "contact") {
			}
		}
		say("theirs", boss.UserID)
		say("his", staff.UserID)
		for _, back := range []*apptest.Listener{staff.Listen("/live?after=" + had), staff.With("Last-Event-ID", had).Listen("/live?after=other.1")} {
			require.Equal(t, "his", back.Until("change", "contact").Data["id"])
			ready := back.Until("ready", "")
			require.Equal(t, true, ready.Data["continued"])
			require.NotEqual(t, had, ready.ID)
		}
		for _, unknown := range []string{"", "other.0", had + "x", strings.TrimRight(had, "0123456789") + "99999", "%27%22"} {
			h := staff.Listen("/live?after=" + unknown).Next()
			require.Equal(t, []any{"ready", false}, []any{h.Event, h.Data["continued"]}, unknown)
		}
	})
	// The system's own tests measure how long that takes.
	t.Run("a change reaches each of many screens", func(t *testing.T) {
		var all []*apptest.Listener
		who := s.AsSession("site_admin")
		for range 200 {
			all = append(all, screen(who))
		}
		s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: "c", Version: 2, Data: map[string]any{}})
		for _, l := range all {
			require.Equal(t, "contact", l.Next().Data["type"])
		}
	})
}

func TestTheStreamOfChangesEndsWithTheRightToIt(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	for _, c := range []struct {
		name, reason string
		do           func(*apptest.Client)
	}{
		{"signed out", "session", func(c *apptest.Client) { c.Post("/auth/logout", nil).Is(204) }},
		{"other visibility", "rights", func(*apptest.Client) { s.Role("custom", "own", auth.ViewContacts) }},
		{"fewer rights", "rights", func(*apptest.Client) { s.Role("custom", "all") }},
		{"idle", "session", func(*apptest.Client) { s.Travel(9 * time.Hour) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Role("custom", "all", auth.ViewContacts)
			who := s.AsSession("custom")
			if c.name == "signed out" {
				who = signIn(t, s, "admin", adminPassword)
			}
			s.Eventually(func() bool { return who.Get("/site").Status == 200 })
			l := screen(who)
			c.do(who)
			require.Equal(t, c.reason, l.Until("end", "").Data["reason"])
			require.Empty(t, l.Next().Event)
		})
	}
}

func TestListeningNeedsAPersonOfTheTeam(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, func(c *app.Config) { c.RateFactor = 1 })
	s.Visitor().Get("/live").Fails(401, "svc_unauthorized")
	s.AsSession("nobody").Get("/live").Fails(403, "svc_forbidden")
	s.AsAssistant("site_admin").Get("/live").Fails(403, "svc_forbidden")
	who := s.As("site_admin")
	for range 10 {
		screen(who)
	}
	who.Get("/live").Fails(429, "svc_rate_limited")
	screen(s.AsSession("site_admin"))
}
