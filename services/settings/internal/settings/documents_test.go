package settings

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestSettingsKeepWhatTheyAreTold(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("the portal path is free or refused", func(t *testing.T) {
		page := fmt.Sprint("/pages/", c.Post("/pages", map[string]any{"title": "About us"}).Is(201).Field("id"))
		c.Post("/pages/preview", map[string]any{"content": "Hello\n\n[svc-form id=\"3\"]"}).Is(200)
		status := func(path string) any { return c.Get("/settings/portal/path?path=" + path).Is(200).Field("status") }
		require.Nil(t, status("crew"))
		for _, path := range []string{"v1", "mcp", "f", "manage", "marketing", "account", "admin", "oauth", "docs", "book"} {
			require.Equal(t, "reserved", status(path), path)
			c.Post("/pages", map[string]any{"title": path, "slug": path}).Fails(409, "svc_conflict")
		}
		require.Equal(t, "invalid", status("Our%20Team"))
		require.Equal(t, "in_use", status("about-us"))
		c.Get("/settings/portal/path").Fails(400, "svc_invalid_param")

		patch := func(v map[string]any) *apptest.Answer { return c.Patch("/settings/portal", v) }
		patch(map[string]any{"path": "about-us"}).Fails(409, "svc_conflict")
		patch(map[string]any{"path": "account"}).Fails(409, "svc_conflict")
		now := patch(map[string]any{"path": "crew", "booking_page": true, "idle_hours": 24}).Is(200)
		require.Equal(t, "http://localhost:8080/crew"+page, c.Get(page).Is(200).Text("edit_url"), "at once")
		require.Equal(t, "http://localhost:8080/crew", now.Text("url"))
		require.Equal(t, "http://localhost:8080/crew/book", now.Text("booking_url"))
		require.Nil(t, patch(map[string]any{"booking_page": false}).Is(200).Field("booking_url"))
		c.Post("/pages", map[string]any{"title": "Crew", "slug": "crew"}).Fails(409, "svc_conflict")
	})
	t.Run("only a person agrees to telemetry", func(t *testing.T) {
		key := withKey(t, s, c, "admin", false)
		require.Equal(t, "person_only", key.Patch("/settings/telemetry", map[string]any{"stats": true}).Fails(403, "svc_forbidden").Text("data.reason"))
		require.Equal(t, false, key.Get("/settings/telemetry").Is(200).Field("stats"))
		now := c.Patch("/settings/telemetry", map[string]any{"stats": true}).Is(200)
		require.Equal(t, true, now.Field("stats"))
		require.Nil(t, now.Field("last_sent"))
		require.NotEmpty(t, now.Field("payload.apps"))

		c.Patch("/settings/telemetry", map[string]any{"profile": true}).Fails(400, "svc_invalid_param")
		c.Patch("/settings/telemetry", map[string]any{"profile": true, "profile_data": map[string]any{"email": "boss@example.com", "company": "Lux"}}).Is(200)
		first := token(t, mails(t, s, "boss@example.com")[0])
		c.Patch("/settings/telemetry", map[string]any{"profile_data": map[string]any{"email": "new@example.com"}}).Is(200)
		second := token(t, mails(t, s, "new@example.com")[0])
		confirm := func(token string) *apptest.Answer {
			return s.Visitor().Post("/settings/telemetry/confirm", map[string]any{"token": token})
		}
		confirm(first).Fails(410, "svc_token_expired")
		confirm(second).Is(200)
		confirm(second).Fails(410, "svc_token_expired")
	})
	t.Run("a link to confirm a company profile belongs to one address", func(t *testing.T) {
		one := admin(t, s)
		two := join(t, s, one, "two@example.com", "site_admin")
		agree := func(c *apptest.Client, change map[string]any) { c.Patch("/settings/telemetry", change).Is(200) }
		profile := func(email string) map[string]any {
			return map[string]any{"profile": true, "profile_data": map[string]any{"email": email}}
		}
		confirm := func(token string) *apptest.Answer {
			return s.Visitor().Post("/settings/telemetry/confirm", map[string]any{"token": token})
		}
		agree(one, profile("first@example.com"))
		first := token(t, mails(t, s, "first@example.com")[0])
		agree(two, profile("second@example.com"))
		second := token(t, mails(t, s, "second@example.com")[0])
		confirm(first).Fails(410, "svc_token_expired")
		confirm(second).Is(200)

		// An address that is given, taken back and given again is asked again, by a new link.
		agree(one, profile("third@example.com"))
		third := token(t, mails(t, s, "third@example.com")[0])
		agree(two, map[string]any{"profile": false})
		confirm(third).Fails(410, "svc_token_expired")
		agree(two, map[string]any{"profile": true})
		confirm(third).Fails(410, "svc_token_expired")
		confirm(token(t, mails(t, s, "third@example.com")[0])).Is(200)
	})
	t.Run("support goes out in a persons name", func(t *testing.T) {
		key := withKey(t, s, c, "admin", false)
		ask := map[string]any{"type": "bug", "subject": "It hums", "message": "All day.\n\nAnd at night.", "include_environment": true}
		key.Post("/support/requests", ask).Fails(403, "svc_forbidden")
		c.Post("/support/requests", map[string]any{"type": "bug", "subject": "two\nlines", "message": "x"}).Fails(400, "svc_invalid_param")
		c.Post("/support/requests", map[string]any{"type": "rant", "subject": "x", "message": "x"}).Fails(400, "svc_invalid_param")
		c.Post("/support/requests", ask).Is(200)
		m := mails(t, s, "admin@example.com")[0]
		require.Equal(t, "It hums", m.GetSubject())
		require.Contains(t, m.GetText(), "Postgres")
		require.Equal(t, "admin@example.com", m.GetReplyTo())
		require.NotEmpty(t, c.Get("/support").Is(200).Field("environment.postgres"))
		c.Post("/feedback/deactivate", map[string]any{"reason": "too_hard", "text": "sorry"}).Is(200)
		c.Post("/feedback/deactivate", map[string]any{"reason": "bored"}).Fails(400, "svc_invalid_param")
	})
	t.Run("setup keeps what it is told", func(t *testing.T) {
		require.Equal(t, false, c.Get("/setup").Is(200).Field("done"))
		c.Patch("/setup", map[string]any{"done": true}).Is(200)
		require.Equal(t, true, c.Patch("/setup", map[string]any{"dismissed": true}).Is(200).Field("done"))
	})
}

func TestPagesAreWrittenByPeopleAndByOtherServices(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("pages stand at their address once published", func(t *testing.T) {
		made := c.Post("/pages", map[string]any{"title": "Über uns & <more>", "content": "Hello\n\n[svc-form id=\"3\"]\n\n<b>no</b> markup\n\n[svc-booking service=\"0198c0de-0000-7000-8000-000000000001\"]"}).Is(201)
		require.Equal(t, "uber-uns-more", made.Text("slug"))
		require.Equal(t, "uber-uns-more-2", c.Post("/pages", map[string]any{"title": "Über uns, more"}).Is(201).Text("slug"))
		visit := func() (int, string) {
			res, err := http.Get(s.URL + "/uber-uns-more")
			require.NoError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return res.StatusCode, string(body)
		}
		status, _ := visit()
		require.Equal(t, 404, status, "a draft is not there")
		path := fmt.Sprintf("/pages/%v", made.Field("id"))
		c.Patch(path, map[string]any{"status": "publish"}).Is(200)
		require.Contains(t, s.Changes("update-page")[0], `"status":{"old":"draft","new":"publish"}`)
		status, body := visit()
		require.Equal(t, 200, status)
		require.Contains(t, body, `<svc-form form="3" lang="en"><p><a class="button" href="/f/3">`)
		require.Contains(t, body, `<svc-booking lang="en" service="0198c0de-0000-7000-8000-000000000001">`)
		require.Contains(t, body, "&lt;b&gt;no&lt;/b&gt;")
		require.Contains(t, body, "Über uns &amp; &lt;more&gt;")
		c.Patch("/apps/forms", map[string]any{"enabled": false}).Is(200)
		_, body = visit()
		require.NotContains(t, body, `href="/f/3"`)
		require.Contains(t, body, "not available")

		c.Patch(path, map[string]any{"slug": "v1"}).Fails(409, "svc_conflict")
		c.Patch(path, map[string]any{"slug": "uber-uns-more-2"}).Fails(409, "svc_conflict")
		c.Patch(path, map[string]any{"slug": "No Way"}).Fails(400, "svc_invalid_param")
		c.Patch(path, map[string]any{"title": " "}).Fails(400, "svc_invalid_param")
		require.Len(t, c.Get("/pages?status=publish").Is(200).Items(), 1)
		list := c.Get("/pages?per_page=1").Is(200)
		require.EqualValues(t, 2, list.Field("total"))
		require.Len(t, c.Get("/pages?per_page=1&cursor="+list.Text("next_cursor")).Is(200).Items(), 1)
		c.Delete(path, nil).Is(204)
		c.Get(path).Fails(404, "svc_not_found")
		status, _ = visit()
		require.Equal(t, 404, status)
	})
}

func TestAnAppBelongsToTheServiceThatAnnouncesIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	t.Run("a service that announces itself is an app", func(t *testing.T) {
		announce(t, s, &proto.Manifest{Service: "webhooks", BaseUrl: "http://127.0.0.1:1", App: &proto.App{Id: "loyalty", Name: "Loyalty"}})
		s.Eventually(func() bool { return len(c.Get("/apps").Is(200).Items()) == 4 })
		require.Equal(t, "Loyalty", c.Patch("/apps/loyalty", map[string]any{"enabled": false}).Is(200).Text("name"))
		c.Patch("/apps/loyalty", map[string]any{"enabled": true}).Is(200)
	})
	t.Run("what needs no app stays while its service is off", func(t *testing.T) {
		announce(t, s, &proto.Manifest{Service: "webhooks", BaseUrl: "http://127.0.0.1:1", App: &proto.App{Id: "loyalty", Name: "Loyalty"},
			Abilities: []*proto.Ability{{Name: "svc/list-members", Exposed: true, InputSchema: []byte("{}"), OutputSchema: []byte("{}")},
				{Name: "svc/list-points", App: "loyalty", Exposed: true, InputSchema: []byte("{}"), OutputSchema: []byte("{}")}}})
		offered := func(name string) bool { return strings.Contains(c.Get("/abilities").Is(200).Body, name) }
		s.Eventually(func() bool { return offered("svc/list-members") && offered("svc/list-points") })
		s.Eventually(func() bool { return strings.Contains(c.Get("/apps").Is(200).Body, "loyalty") })
		c.Patch("/apps/loyalty", map[string]any{"enabled": false}).Is(200)
		s.Eventually(func() bool { return !offered("svc/list-points") })
		require.True(t, offered("svc/list-members"))
	})
}

func TestAProfileIsAskedAgainOnceItsLinkHasEnded(t *testing.T) {
	t.Parallel()
	s := start(t)
	agree := func() {
		admin(t, s).Patch("/settings/telemetry", map[string]any{"profile": true, "profile_data": map[string]any{"email": "boss@example.com"}}).Is(200)
	}
	agree()
	agree()
	require.Len(t, mails(t, s, "boss@example.com"), 1, "a link that works is enough")
	s.Travel(8 * 24 * time.Hour)
	agree()
	all := mails(t, s, "boss@example.com")
	require.Len(t, all, 2)
	s.Visitor().Post("/settings/telemetry/confirm", map[string]any{"token": token(t, all[0])}).Is(200)
}
