package forms

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestEachChangeIsRehearsedAsItHappens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.AsSession("site_admin")
	does := admin.Rehearsing()
	type m = map[string]any
	path := func(id any) string { return fmt.Sprint("/forms/", id) }
	form := path(does.Post("/forms", m{"name": "Contact", "status": "publish", "template": "contact"}).Is(201).Field("id"))
	does.Patch(form, m{"name": "Write to us"}).Is(200)
	copied := path(does.Post(form+"/duplicate", nil).Is(201).Field("id"))

	token := s.Visitor().Get(form + "/token").Is(200).Text("token")
	s.Travel(5 * time.Second)
	for _, name := range []string{"Ann", "Bo"} {
		s.Visitor().Post(form+"/submit", m{"token": token, "hp_url": "", "page": "https://example.com/contact",
			"values": m{"first_name": name, "email": name + "@example.com", "message": "Good morning", "privacy": true}}).Is(200)
	}
	sent := admin.Get("/submissions").Is(200)
	ann, bo := sent.Text("items.0.id"), sent.Text("items.1.id")
	does.Post("/submissions/"+ann+"/spam", nil).Is(200)
	does.Post("/submissions/"+ann+"/not-spam", nil).Is(200)
	contact := db.NewID().String()
	s.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: contact, Version: 1,
		Extra: m{"origin": "submission", "origin_id": bo, "requested_id": contact, "contact_id": contact, "result": "created"},
		Data:  m{"id": contact, "first_name": "Bo", "last_name": "", "email": "bo@example.com", "phone": "", "owner_user_id": nil, "organization": nil}})
	does.Post("/submissions/bulk", m{"ids": []string{ann, bo}, "spam": true}).Is(200)
	does.Delete("/submissions/"+bo, nil).Is(204)
	does.Delete(copied, nil).Is(204)
	does.Post(copied+"/restore", nil).Is(200)
	s.CheckRehearsals()

	t.Run("what follows is not used up, nor what is refused done", func(t *testing.T) {
		next := admin.With("Prefer", "dry-run").Post("/forms", `{"name":"A","template":"contact"}`).Is(200)
		require.Equal(t, []any{next.Field("answer.id"), 201.0}, []any{admin.Post("/forms", `{"name":"B","template":"contact"}`).Is(201).Field("id"), next.Field("status")})
		admin.With("Prefer", "dry-run").Post("/forms", `{"name":7}`).Fails(400, "svc_invalid_param")
		s.As("nobody").With("Prefer", "dry-run").Post("/forms", `{"name":"A"}`).Fails(403, "svc_forbidden")
	})
	t.Run("a change is made with the effects that were seen, or not at all", func(t *testing.T) {
		seen := admin.With("Prefer", "dry-run").Patch(form, `{"name":"Ask us"}`).Is(200).Text("hash")
		admin.With("If-Effects", seen).Patch(form, `{"name":"Ask us"}`).Fails(400, "svc_invalid_param")
		changed := admin.With("If-Effects", `"`+seen+`"`).Patch(form, `{"name":"Ask others"}`).Fails(412, "svc_effects_changed")
		require.Equal(t, "Ask others", changed.Text("data.effects.changes.0.new"))
		require.Equal(t, "Write to us", admin.Get(form).Is(200).Text("name"))
		require.Equal(t, "Ask us", admin.With("If-Effects", `"`+seen+`"`).Patch(form, `{"name":"Ask us"}`).Is(200).Text("name"))
	})
	t.Run("what cannot be rehearsed says so, and reading ignores it", func(t *testing.T) {
		page := admin.With("Prefer", "dry-run").Post(form+"/embed-in-page", `{"page_id":7}`).Fails(400, "svc_no_rehearsal")
		require.Equal(t, "network", page.Text("data.reason"))
		visitor := s.Visitor().With("If-Effects", `"x"`).Post(form+"/submit", m{"token": token, "hp_url": "", "values": m{}}).Fails(400, "svc_no_rehearsal")
		require.Equal(t, "public", visitor.Text("data.reason"))
		require.Empty(t, admin.With("Prefer", "dry-run").Get(form).Is(200).Header.Get("Preference-Applied"))
	})
}
