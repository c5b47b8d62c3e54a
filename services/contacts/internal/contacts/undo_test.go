package contacts

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app/apptest"
)

// seen are records as they are shown, by their paths, without what each change moves. What is in the trash or gone is not there.
func seen(c *apptest.Client, paths []string) map[string]any {
	all := map[string]any{}
	for _, path := range paths {
		a := c.Get(path)
		if a.Status == 404 {
			continue
		}
		record := a.Is(200).Map()
		if record["deleted_at"] != nil {
			continue
		}
		for _, moves := range []string{"updated_at", "last_activity", "created_at", "contacts_count", "marketing_updated_at"} {
			delete(record, moves)
		}
		items, _ := record["items"].([]any)
		for _, item := range items {
			delete(item.(map[string]any), "version")
		}
		all[path] = record
	}
	return all
}

// tagNames are the names of all tags but for those that are being deleted.
func tagNames(c *apptest.Client) (names []string) {
	for _, tag := range c.Get("/tags").Is(200).Items() {
		if changing, _ := tag["changing"].(map[string]any); changing["deleting"] != true {
			names = append(names, tag["name"].(string))
		}
	}
	return names
}

func TestEveryKindOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.SetSite("general", object{"business": object{"name": "Praktijk Jansen", "email": "office@example.com"}, "country": "BE"})
	admin, work, colleague := s.AsSession("site_admin"), s.As("site_admin"), s.AsSession("site_admin")
	made := func(c *apptest.Client, path string, body any) string {
		return path + "/" + c.Post(path, body).Is(201).Text("id")
	}
	idOf := func(path string) string { return path[len(path)-36:] }

	field := made(admin, "/fields", object{"entity": "contact", "label": "Colour", "type": "dropdown", "options": []string{"Red", "Blue"}})
	old := made(admin, "/fields", object{"entity": "contact", "label": "Old", "type": "text"})
	group := made(admin, "/field-groups", object{"entity": "contact", "label": "Body"})
	ann := made(admin, "/contacts", object{"first_name": "Ann", "email": "ann@example.com", "tags": []string{"vip"}, "fields": object{"colour": "Red"}})
	bo := made(admin, "/contacts", object{"first_name": "Bo", "owner_user_id": admin.UserID})
	acme := made(admin, "/organizations", object{"name": "Acme", "city": "Gent"})
	bva := made(admin, "/organizations", object{"name": "Bva"})
	twin, namesake := made(admin, "/organizations", object{"name": "Bva NV"}), made(admin, "/organizations", object{"name": "Bva BV"})
	admin.Post(bva+"/not-duplicate", object{"other_id": idOf(namesake)}).Is(204)
	admin.Post(twin+"/not-duplicate", object{"other_id": idOf(namesake)}).Is(204)
	admin.Put(acme+"/contacts/"+idOf(ann), object{"role": "CEO", "is_primary": true}).Is(204)
	admin.Put(acme+"/contacts/"+idOf(bo), object{"role": "Clerk"}).Is(204)
	note := ann + "/notes/" + admin.Post(ann+"/notes", object{"body": "Called."}).Is(201).Text("id")
	noteThere := acme + "/notes/" + admin.Post(acme+"/notes", object{"body": "Visited."}).Is(201).Text("id")
	task := made(admin, "/tasks", object{"title": "Call", "contact": idOf(ann), "due_on": "2030-01-02"})
	tag := "/tags/" + admin.Post("/tags", object{"name": "Gold"}).Is(201).Text("slug")
	records := []string{ann, bo, acme, bva, task, ann + "/organizations", bo + "/organizations"}
	before := seen(admin, records)
	notes := func() []any {
		texts := []any{}
		for _, record := range []string{ann, acme} {
			for _, e := range admin.Get(record + "/activities?type=note").Is(200).Items() {
				texts = append(texts, e["body"], e["pinned"])
			}
		}
		return texts
	}
	notesBefore, fieldsBefore := notes(), admin.Get("/fields?entity=contact").Is(200).Items()
	pairsBefore := admin.Get("/organizations/possible-duplicates").Is(200).Items()
	require.Len(t, pairsBefore, 1)

	work.Patch(ann, object{"mode": "overwrite", "first_name": "Anna", "tags": []string{"vip", "fair"}, "status": "customer", "fields": object{"colour": "Blue"}}).Is(200)
	work.Patch(ann, object{"mode": "overwrite", "last_name": "Peeters", "email": nil, "fields": object{"colour": nil}}).Is(200)
	work.Post("/contacts/bulk", object{"ids": []string{idOf(ann), idOf(bo)}, "add_tags": []string{"bulk"}, "owner_user_id": work.UserID}).Is(200)
	work.Put(bva+"/contacts/"+idOf(ann), object{"role": "Boss", "is_primary": true}).Is(204)
	work.Delete(acme+"/contacts/"+idOf(bo), nil).Is(204)
	work.Post("/contacts/bulk", object{"ids": []string{idOf(bo)}, "trash": true}).Is(200)
	work.Post(bo+"/restore", nil).Is(200)
	work.Delete(bo, nil).Is(204)
	work.Post("/contacts/bulk", object{"ids": []string{idOf(bo)}, "restore": true}).Is(200)
	created := made(work, "/contacts", object{"first_name": "Cas", "email": "cas@example.com"})
	batch := "/contacts/" + work.Post("/contacts/batch", object{"items": []object{{"email": "dea@example.com"}}}).Is(200).Text("items.0.contact.id")
	work.Patch(acme, object{"mode": "overwrite", "city": "Brugge", "name": "Acme NV"}).Is(200)
	work.Post("/organizations/bulk", object{"ids": []string{idOf(acme)}, "owner_user_id": work.UserID}).Is(200)
	work.Delete(acme, nil).Is(204)
	work.Post(acme+"/restore", nil).Is(200)
	work.Post(twin+"/not-duplicate", object{"other_id": idOf(bva)}).Is(204)
	work.Post(bva+"/not-duplicate", object{"other_id": idOf(namesake)}).Is(204)
	work.Delete(namesake+"/not-duplicate?other_id="+idOf(twin), nil).Is(204)
	company := made(work, "/organizations", object{"name": "New"})
	for path, record := range map[string]string{note: ann, noteThere: acme} {
		work.Patch(path, object{"body": "Called back.", "pinned": true}).Is(200)
		work.Post(record+"/notes", object{"body": "New."}).Is(201)
	}
	work.Patch(task, object{"title": "Call back", "due_on": nil, "contact": idOf(bo)}).Is(200)
	work.Post(task+"/done", nil).Is(200)
	work.Post(task+"/reopen", nil).Is(200)
	todo := made(work, "/tasks", object{"title": "New"})
	work.Patch(field, object{"label": "Favourite colour", "options": []string{"Red", "Blue", "Green"}}).Is(200)
	work.Delete(old, nil).Is(200)
	made(work, "/fields", object{"entity": "contact", "label": "New", "type": "text"})
	work.Patch(group, object{"label": "Mind"}).Is(200)
	made(work, "/field-groups", object{"entity": "contact", "label": "New"})
	work.Patch(tag, object{"name": "Golden"}).Is(200)
	fresh := "/tags/" + work.Post("/tags", object{"name": "Fresh"}).Is(201).Text("slug")
	work.Post("/tags", object{"name": "Golden"}).Is(200)
	work.Post("/contacts/bulk", object{"ids": []string{idOf(ann)}, "add_tags": []string{"fresh"}}).Is(200)
	file := made(work, "/imports", object{"file_name": "x.csv", "csv": "first name,email\nFay,fay@example.com\n"})
	work.Post(file+"/start", nil).Is(200)
	s.Eventually(func() bool { return admin.Get(file).Is(200).Text("status") == "completed" })

	require.Empty(t, admin.TakeBack(work))
	s.Eventually(func() bool { return admin.Get(file).Is(200).Text("status") == "undone" })
	require.Equal(t, before, seen(admin, records))
	require.Empty(t, seen(admin, []string{created, batch, company, todo}), "what was made is in the trash, and a task is gone")
	require.Equal(t, notesBefore, notes())
	require.Equal(t, pairsBefore, admin.Get("/organizations/possible-duplicates").Is(200).Items())
	for _, named := range admin.Get("/tags").Is(200).Items() {
		require.NotContains(t, []any{"Golden", "Fresh"}, named["name"])
	}
	admin.Delete(fresh, nil).Fails(404, "svc_not_found")
	require.Contains(t, tagNames(admin), "Gold", "it was there before")
	for i, f := range fieldsBefore {
		now := admin.Get("/fields?entity=contact").Is(200).Items()[i]
		for _, what := range []string{"label", "options", "archived"} {
			require.Equal(t, f[what], now[what])
		}
	}
	require.Empty(t, admin.TakeBack(work), "a second time nothing is left")

	t.Run("what somebody else has changed since stays, and says by whom", func(t *testing.T) {
		work, admin, colleague := work.For(t), admin.For(t), colleague.For(t)
		work.Patch(ann, object{"mode": "overwrite", "source": "Fair"}).Is(200)
		colleague.Patch(ann, object{"mode": "overwrite", "phone": "0470 12 34 56"}).Is(200)
		work.Patch(bo, object{"mode": "overwrite", "source": "Fair"}).Is(200)
		require.Equal(t, []string{fmt.Sprintf("update-contact: changed by User %d", colleague.UserID)}, admin.TakeBack(work))
		require.Equal(t, "Fair", admin.Get(ann).Is(200).Text("source"))
		require.Empty(t, admin.Get(bo).Is(200).Text("source"))
	})
	t.Run("a pair that somebody else has dismissed again stays dismissed", func(t *testing.T) {
		work, admin, colleague := s.For(t).As("site_admin"), admin.For(t), colleague.For(t)
		work.Post(bva+"/not-duplicate", object{"other_id": idOf(twin)}).Is(204)
		colleague.Delete(twin+"/not-duplicate?other_id="+idOf(bva), nil).Is(204)
		colleague.Post(twin+"/not-duplicate", object{"other_id": idOf(bva)}).Is(204)
		require.Equal(t, []string{fmt.Sprintf("dismiss-organization-duplicate: changed by User %d", colleague.UserID)}, admin.TakeBack(work))
		require.Empty(t, admin.Get("/organizations/possible-duplicates").Is(200).Items())
	})
	t.Run("a tag that contacts have stays", func(t *testing.T) {
		work, admin := s.For(t).As("site_admin"), admin.For(t)
		work.Post("/tags", object{"name": "Fresh"}).Is(201)
		admin.Post("/contacts/bulk", object{"ids": []string{idOf(bo)}, "add_tags": []string{"fresh"}}).Is(200)
		require.Equal(t, []string{"create-tag: svc_conflict"}, admin.TakeBack(work))
		require.Equal(t, []any{"Fresh"}, admin.Get(bo).Is(200).Field("tags"))
	})
	t.Run("what cannot be taken back says why", func(t *testing.T) {
		work, admin := s.For(t).As("site_admin"), admin.For(t)
		work.Delete(task, nil).Is(204)
		work.Post(ann+"/mails", object{"subject": "Hello", "body": "Hello"}).Is(201)
		work.Post("/privacy/erase", object{"email": "dea@example.com"}).Is(200)
		require.Equal(t, []string{"erase-personal-data: deleted", "write-mail: sent", "delete-task: deleted"}, admin.TakeBack(work))
	})
	t.Run("an erasure takes old values out of what is kept", func(t *testing.T) {
		work, admin := s.For(t).As("site_admin"), admin.For(t)
		eve := made(work, "/contacts", object{"first_name": "Eve", "email": "eve@example.com"})
		work.Patch(eve, object{"mode": "overwrite", "email": "eva@example.com"}).Is(200)
		require.Contains(t, s.Holding("eve@example.com"), "deed")
		admin.Post("/privacy/erase", object{"email": "eva@example.com"}).Is(200)
		require.NotContains(t, s.Holding("eve@example.com"), "deed")
		require.Equal(t, []string{"update-contact: erased", "create-contact: erased"}, admin.TakeBack(work))
	})
	t.Run("only a person takes back, with the right of what takes it back", func(t *testing.T) {
		work.For(t).Post("/undo/contacts", object{"entries": []string{idOf(ann)}}).Fails(403, "svc_forbidden")
		s.For(t).AsSession("staff").Post("/undo/contacts", object{"entries": []string{idOf(ann)}}).Fails(403, "svc_forbidden")
	})
	s.CheckUndo()
}

// Work of an assistant beside that of a colleague, in any order, on few records.
func TestTakingBackLeavesWhatOthersDid(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, colleague := s.AsSession("site_admin"), s.AsSession("site_admin")
	const pairs = "/organizations/possible-duplicates"
	var twin string // of the organization, by its name
	do := map[string]func(c *apptest.Client, contact, organization, word string){
		"dismiss": func(c *apptest.Client, _, organization, _ string) {
			c.Post(organization+"/not-duplicate", object{"other_id": twin})
		},
		"undismiss": func(c *apptest.Client, _, organization, _ string) {
			c.Delete(organization+"/not-duplicate?other_id="+twin, nil)
		},
		"rename": func(c *apptest.Client, contact, _, word string) {
			c.Patch(contact, object{"mode": "overwrite", "first_name": word})
		},
		"tag": func(c *apptest.Client, contact, _, word string) { c.Patch(contact, object{"tags": []string{word}}) },
		"clear": func(c *apptest.Client, contact, _, _ string) {
			c.Patch(contact, object{"mode": "overwrite", "source": nil, "tags": []string{}})
		},
		"trash":   func(c *apptest.Client, contact, _, _ string) { c.Delete(contact, nil) },
		"restore": func(c *apptest.Client, contact, _, _ string) { c.Post(contact+"/restore", nil) },
		"bulk": func(c *apptest.Client, contact, _, word string) {
			c.Post("/contacts/bulk", object{"ids": []string{contact[10:]}, "add_tags": []string{word}, "status": "customer"})
		},
		"link": func(c *apptest.Client, contact, organization, word string) {
			c.Put(organization+"/contacts/"+contact[10:], object{"role": word, "is_primary": true})
		},
		"unlink": func(c *apptest.Client, contact, organization, _ string) {
			c.Delete(organization+"/contacts/"+contact[10:], nil)
		},
		"make tag": func(c *apptest.Client, _, _, word string) { c.Post("/tags", object{"name": word}) },
		"move": func(c *apptest.Client, _, organization, word string) {
			c.Patch(organization, object{"mode": "overwrite", "city": word})
		},
	}
	type act struct {
		What, Word  string
		Contact     int
		ByColleague bool
	}
	draw := rapid.Custom(func(t *rapid.T) []act {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{rapid.SampledFrom(slices.Sorted(maps.Keys(do))).Draw(t, "what"), rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "word"),
				rapid.IntRange(0, 2).Draw(t, "contact"), rapid.IntRange(0, 5).Draw(t, "who") == 0}
		}), 3, 12).Draw(t, "acts")
	})
	for seed := range 20 {
		acts := draw.Example(seed)
		work := s.As("site_admin")
		organization := "/organizations/" + admin.Post("/organizations", object{"name": fmt.Sprint("Acme ", seed)}).Is(201).Text("id")
		twin = admin.Post("/organizations", object{"name": fmt.Sprint("Acme ", seed)}).Is(201).Text("id")
		var contacts, records []string
		for range 3 {
			c := "/contacts/" + admin.Post("/contacts", object{"first_name": "Ann", "source": "Fair"}).Is(201).Text("id")
			contacts, records = append(contacts, c), append(records, c, c+"/organizations")
		}
		records = append(records, organization, pairs)
		before := seen(admin, records)
		last, shared := map[string]bool{}, map[string]bool{} // whether a colleague was the last one to change a record, or has changed it at all
		for _, a := range acts {
			contact := contacts[a.Contact]
			who := work
			if a.ByColleague {
				who = colleague
			}
			state := func() map[string]any {
				return map[string]any{contact: admin.Get(contact).Header.Get("ETag"), organization: admin.Get(organization).Header.Get("ETag"), pairs: seen(admin, []string{pairs})}
			}
			was := state()
			do[a.What](who, contact, organization, a.Word)
			now := state()
			for record := range was {
				if !assert.ObjectsAreEqual(was[record], now[record]) {
					last[record] = a.ByColleague
					shared[record] = shared[record] || a.ByColleague
				}
			}
		}
		done := seen(admin, records)
		left := admin.TakeBack(work)
		after, tags := seen(admin, records), tagNames(admin)
		for _, contact := range contacts {
			for _, name := range admin.Get(contact).Is(200).Field("tags").([]any) {
				require.Contains(t, tags, name, "%s, %v: %v", contact, acts, left)
			}
		}
		for _, record := range records {
			owner := record
			if len(record) > 46 && record[:10] == "/contacts/" {
				owner = record[:46]
			}
			if !shared[owner] && !shared[organization] {
				require.Equal(t, before[record], after[record], "%s, %v: %v", record, acts, left)
			}
			if last[owner] {
				require.Equal(t, done[record], after[record], "%s, %v: %v", record, acts, left)
			}
		}
	}
}
