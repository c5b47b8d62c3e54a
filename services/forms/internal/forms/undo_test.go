package forms

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
	work.Delete(form, nil).Is(204)
	work.Post(form+"/restore", nil).Is(200)
	work.Delete(form, nil).Is(204)
	work.Post("/submissions/"+ann+"/spam", nil).Is(200)
	work.Post("/submissions/"+bo+"/not-spam", nil).Is(200)
	work.Post("/submissions/bulk", m{"ids": []string{ann, bo}, "spam": false}).Is(200)

	require.Empty(t, admin.TakeBack(work))
	after := admin.Get(form).Is(200).Map()
	for _, changed := range []string{"name", "status", "definition", "booking", "deleted_at"} {
		require.Equal(t, before[changed], after[changed])
	}
	for _, path := range []string{made, copied} {
		require.NotNil(t, admin.Get(path).Is(200).Field("deleted_at"))
	}
	require.Equal(t, []string{"received", "spam"}, []string{admin.Get("/submissions/" + ann).Text("status"), admin.Get("/submissions/" + bo).Text("status")})
	require.Empty(t, admin.TakeBack(work), "a second time nothing is left")
	s.CheckUndo()
}

// Work of an assistant beside that of a colleague, in any order, on a form and what was sent with it.
func TestTakingBackLeavesWhatOthersDid(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, colleague := s.AsSession("site_admin"), s.As("site_admin")
	type m = map[string]any
	type act struct {
		What, Word  string
		ByColleague bool
	}
	draw := rapid.Custom(func(t *rapid.T) []act {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{rapid.SampledFrom([]string{"name", "definition", "status", "trash", "restore", "spam", "not-spam", "bulk"}).Draw(t, "what"), rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "word"),
				rapid.IntRange(0, 5).Draw(t, "who") == 0}
		}), 3, 10).Draw(t, "acts")
	})
	for seed := range 12 {
		acts, work := draw.Example(seed), s.As("site_admin")
		form := fmt.Sprint("/forms/", admin.Post("/forms", m{"name": "Contact", "status": "publish", "template": "contact"}).Is(201).Field("id"))
		token := s.Visitor().Get(form + "/token").Is(200).Text("token")
		s.Travel(5 * time.Second)
		s.Visitor().Post(form+"/submit", m{"token": token, "hp_url": "", "page": "https://example.com/contact",
			"values": m{"first_name": "Ann", "email": fmt.Sprintf("ann%d@example.com", seed), "message": "Good morning", "privacy": true}}).Is(200)
		submission := "/submissions/" + admin.Get("/submissions?form="+form[len("/forms/"):]).Is(200).Text("items.0.id")
		seen := func() map[string]any {
			all := map[string]any{}
			for _, path := range []string{form, submission} {
				record := admin.Get(path).Is(200).Map()
				for _, moves := range []string{"updated_at", "version", "result", "read_at", "submissions_30d", "spam_30d", "form"} {
					delete(record, moves)
				}
				all[path] = record
			}
			return all
		}
		before := seen()
		last, shared := map[string]bool{}, map[string]bool{} // whether the colleague was the last one to change it, or has changed it at all
		for _, a := range acts {
			who, path := work, form
			if a.ByColleague {
				who = colleague
			}
			if a.What == "spam" || a.What == "not-spam" || a.What == "bulk" {
				path = submission
			}
			was := seen()[path]
			switch a.What {
			case "name":
				who.Patch(form, m{"name": a.Word})
			case "definition":
				who.Patch(form, m{"definition": m{"elements": []m{{"id": "email", "type": "field", "target": "contact.email", "label": a.Word, "required": true}}}})
			case "status":
				who.Patch(form, m{"status": map[string]string{"one": "draft", "two": "publish", "three": "draft"}[a.Word]})
			case "trash":
				who.Delete(form, nil)
			case "restore":
				who.Post(form+"/restore", nil)
			case "bulk":
				who.Post("/submissions/bulk", m{"ids": []string{submission[len("/submissions/"):]}, "spam": a.Word == "one"})
			default:
				who.Post(path+"/"+a.What, nil)
			}
			if now := seen()[path]; !assert.ObjectsAreEqual(was, now) {
				last[path], shared[path] = a.ByColleague, shared[path] || a.ByColleague
			}
		}
		done := seen()
		left := admin.TakeBack(work)
		after := seen()
		for path := range before {
			if !shared[path] {
				require.Equal(t, before[path], after[path], "%s, %v: %v", path, acts, left)
			}
			if last[path] {
				require.Equal(t, done[path], after[path], "%s, %v: %v", path, acts, left)
			}
		}
	}
}
