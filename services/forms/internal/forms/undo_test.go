package forms

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestEveryKindOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, work := s.AsSession("site_admin"), s.As("site_admin")
	type m = map[string]any
	form := fmt.Sprint("/forms/", admin.Post("/forms", m{"name": "Contact", "status": "publish", "template": "contact"}).Is(201).Field("id"))
	token := s.Visitor().Get(form + "/token").Is(200).Text("token")
	s.Travel(5 * time.Second)
	for _, name := range []string{"Ann", "Bo"} {
		s.Visitor().Post(form+"/submit", m{"token": token, "hp_url": "", "page": "https://example.com/contact",
			"values": m{"first_name": name, "email": name + "@example.com", "message": "Good morning", "privacy": true}}).Is(200)
	}
	sent := admin.Get("/submissions").Is(200)
	ann, bo := sent.Text("items.0.id"), sent.Text("items.1.id")
	admin.Post("/submissions/"+bo+"/spam", nil).Is(200)
	before, definition := admin.Get(form).Is(200).Map(), m{"elements": []m{{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true}}}

	work.Patch(form, m{"name": "Write to us", "definition": definition}).Is(200)
	work.Patch(form, m{"status": "draft"}).Is(200)
	made := fmt.Sprint("/forms/", work.Post("/forms", m{"name": "New", "template": "contact"}).Is(201).Field("id"))
	copied := fmt.Sprint("/forms/", work.Post(form+"/duplicate", nil).Is(201).Field("id"))
	work.Post("/submissions/"+ann+"/spam", nil).Is(200)
	work.Post("/submissions/"+bo+"/not-spam", nil).Is(200)
	work.Post("/submissions/bulk", m{"ids": []string{ann, bo}, "spam": false}).Is(200)

	require.Empty(t, admin.TakeBack(work))
	after := admin.Get(form).Is(200).Map()
	for _, changed := range []string{"name", "status", "definition"} {
		require.Equal(t, before[changed], after[changed])
	}
	for _, path := range []string{made, copied} {
		admin.Get(path).Fails(404, "svc_not_found")
	}
	require.Equal(t, []string{"received", "spam"}, []string{admin.Get("/submissions/" + ann).Text("status"), admin.Get("/submissions/" + bo).Text("status")})
	require.Empty(t, admin.TakeBack(work), "a second time nothing is left")
	s.CheckUndo()
}
