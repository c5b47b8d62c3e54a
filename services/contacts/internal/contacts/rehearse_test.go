package contacts

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

func TestEachChangeIsRehearsedAsItHappens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	s.SetSite("general", object{"business": object{"name": "Praktijk Jansen", "email": "office@example.com"}, "country": "BE"})
	admin := s.AsSession("site_admin")
	does := admin.Rehearsing()
	made := func(path string, body any) string { return path + "/" + does.Post(path, body).Is(201).Text("id") }
	idOf := func(path string) string { return path[len(path)-36:] }

	field := made("/fields", object{"entity": "contact", "label": "Colour", "type": "dropdown", "options": []string{"Red", "Blue"}})
	does.Patch(field, object{"label": "Favourite colour"}).Is(200)
	group := made("/field-groups", object{"entity": "contact", "label": "Body"})
	does.Patch(group, object{"label": "Mind"}).Is(200)

	ann := made("/contacts", object{"first_name": "Ann", "email": "ann@example.com", "tags": []string{"vip"}})
	bo := made("/contacts", object{"first_name": "Bo", "email": "bo@example.com", "owner_user_id": admin.UserID})
	gone := made("/contacts", object{"first_name": "Cas", "email": "cas@example.com"})
	does.Post("/contacts/batch", object{"items": []object{{"email": "dea@example.com"}, {"email": "eva@example.com"}}}).Is(200)
	does.Patch(ann, object{"mode": "overwrite", "status": "customer", "phone": "0470 12 34 56"}).Is(200)
	does.Post("/contacts/bulk", object{"ids": []string{idOf(ann), idOf(bo)}, "add_tags": []string{"fair"}, "status": "lead"}).Is(200)
	does.Delete(gone, nil).Is(204)
	does.Post(gone+"/restore", nil).Is(200)
	does.Post(ann+"/marketing/request", nil).Is(200)
	does.Post(ann+"/marketing/unsubscribe", nil).Is(200)
	does.Post("/me/news/seen", nil).Is(200)

	does.Post("/tags", object{"name": "Gold"}).Is(201)
	does.Post("/tags", object{"name": "Client"}).Is(201)
	slug := does.Patch("/tags/gold", object{"name": "Golden"}).Is(200).Text("slug")
	// A worker brings contacts and names up to date behind these calls.
	worked := func() {
		s.Eventually(func() bool {
			var left int
			return s.Kit.DB.Pool.QueryRow(t.Context(), `select (select count(*) from tag_change) + (select count(*) from tag where deleting)`).Scan(&left) == nil && left == 0
		})
	}
	worked()
	does.Post("/tags/"+slug+"/merge", object{"other_slug": "client"}).Is(200)
	worked()
	does.Delete("/tags/"+slug, nil).Is(204)
	worked()

	acme := made("/organizations", object{"name": "Acme", "city": "Gent", "email": "info@acme.example"})
	twin := made("/organizations", object{"name": "Acme BV", "city": "Gent"})
	other := made("/organizations", object{"name": "Other"})
	does.Patch(acme, object{"city": "Brugge"}).Is(200)
	does.Put(acme+"/contacts/"+idOf(ann), object{"role": "CEO", "is_primary": true}).Is(204)
	does.Delete(acme+"/contacts/"+idOf(ann), nil).Is(204)
	does.Post(acme+"/not-duplicate", object{"other_id": idOf(other)}).Is(204)
	does.Delete(acme+"/not-duplicate?other_id="+idOf(other), nil).Is(204)
	does.Post("/organizations/bulk", object{"ids": []string{idOf(acme), idOf(twin)}, "owner_user_id": admin.UserID}).Is(200)
	does.Post(acme+"/merge", object{"other_id": idOf(twin)}).Is(200)
	does.Delete(other, nil).Is(204)
	does.Post(other+"/restore", nil).Is(200)

	for _, record := range []string{ann, acme} {
		note := record + "/notes/" + does.Post(record+"/notes", object{"body": "Called."}).Is(201).Text("id")
		does.Patch(note, object{"body": "Called back."}).Is(200)
		does.Delete(note, nil).Is(204)
	}
	does.Post(ann+"/mails", object{"subject": "Your question", "body": "Dear Ann"}).Is(201)
	task := made("/tasks", object{"title": "Call", "contact": idOf(ann), "due_on": "2030-01-02"})
	does.Patch(task, object{"title": "Call back"}).Is(200)
	does.Post(task+"/done", nil).Is(200)
	does.Post(task+"/reopen", nil).Is(200)
	does.Delete(task, nil).Is(204)

	file := made("/imports", object{"file_name": "x.csv", "csv": "first name,email\nFay,fay@example.com\n"})
	does.Patch(file, object{"options": object{"tag": "Imported"}}).Is(200)
	does.Post(file+"/start", nil).Is(200)
	s.Eventually(func() bool { return admin.Get(file).Is(200).Text("status") == "completed" })
	does.Post(file+"/undo", nil).Is(200)
	s.Eventually(func() bool { return admin.Get(file).Is(200).Text("status") == "undone" })

	s.Send(apptest.Event{Topic: proto.EndpointTopic, Kind: proto.KindEndpointUpdated, Key: idOf(ann), Version: 1, Data: webhook.Endpoint{
		Name: "Mine", Host: "example.com", Events: []string{proto.KindContactMerged, proto.KindContactUpdated}, Active: true, Only: map[string][]string{"tag": {"fair"}}}})
	s.Eventually(func() bool { return len(s.Kit.Endpoints.All()) == 1 })
	t.Run("what is shown is what a person would ask", func(t *testing.T) {
		seen := admin.With("Prefer", "dry-run").Patch(ann, object{"mode": "overwrite", "first_name": "Anna"}).Is(200)
		require.Equal(t, "dry-run", seen.Header.Get("Preference-Applied"))
		require.Equal(t, []any{"first_name", "Ann", "Anna", "contact", "Anna", idOf(ann)}, []any{seen.Text("effects.changes.0.field"), seen.Text("effects.changes.0.old"), seen.Text("effects.changes.0.new"),
			seen.Text("effects.changes.0.record.type"), seen.Text("effects.changes.0.record.name"), seen.Text("effects.changes.0.record.id")})
		require.Equal(t, []any{proto.KindContactUpdated, "Anna"}, []any{seen.Text("effects.events.0.event"), seen.Text("effects.events.0.data.first_name")})
		require.Equal(t, []any{"Mine", "example.com"}, []any{seen.Text("effects.webhooks.0.name"), seen.Text("effects.webhooks.0.host")})
		require.Equal(t, "update-contact", seen.Text("effects.audit.action"))
		require.Empty(t, admin.With("Prefer", "dry-run").Patch(ann, object{"mode": "overwrite", "tags": []string{}}).Is(200).Field("effects.webhooks"), "it has the tag no longer")
	})
	t.Run("who may not see webhooks, or sees their own records, is shown neither", func(t *testing.T) {
		staff := s.As("staff")
		admin.Patch(bo, object{"mode": "overwrite", "owner_user_id": staff.UserID}).Is(200)
		seen := staff.With("Prefer", "dry-run").Patch(bo, object{"mode": "overwrite", "first_name": "Bob"}).Is(200)
		require.Equal(t, []any{[]any{}, "Bob"}, []any{seen.Field("effects.webhooks"), seen.Field("effects.events.0.data.first_name")})
		staff.With("Prefer", "dry-run").Patch(ann, object{"first_name": "X"}).Fails(404, "svc_not_found")
	})
	t.Run("a change elsewhere changes no effects", func(t *testing.T) {
		erase := func() string {
			return admin.With("Prefer", "dry-run").Post(ann+"/merge", object{"other_id": idOf(bo)}).Is(200).Text("hash")
		}
		seen := erase()
		admin.Post("/contacts", object{"email": "guy@example.com"}).Is(201)
		require.Equal(t, seen, erase())
		admin.Patch(bo, object{"mode": "overwrite", "source": "Fair"}).Is(200)
		require.NotEqual(t, seen, erase())
	})
	t.Run("an ability and an assistant rehearse as well", func(t *testing.T) {
		assistant := s.AsAssistant("site_admin")
		run := "/abilities/svc/update-contact/run"
		input := object{"input": object{"id": idOf(ann), "mode": "overwrite", "first_name": "Anke"}}
		seen := assistant.With("Prefer", "dry-run").Post(run, input).Is(200)
		require.Equal(t, []any{"dry-run", "Anke"}, []any{seen.Header.Get("Preference-Applied"), seen.Field("effects.changes.0.new")})
		assistant.With("If-Effects", `"0"`).Post(run, input).Fails(412, "svc_effects_changed")
		require.Equal(t, "Anke", assistant.With("If-Effects", fmt.Sprintf("%q", seen.Text("hash"))).Post(run, input).Is(200).Text("first_name"))
	})
	t.Run("a key is not used up by a rehearsal", func(t *testing.T) {
		key := admin.With("Idempotency-Key", db.NewID().String())
		key.With("Prefer", "dry-run").Post("/contacts", object{"email": "hal@example.com"}).Is(200)
		require.Empty(t, key.Post("/contacts", object{"email": "hal@example.com"}).Is(201).Header.Get("Idempotent-Replayed"))
	})

	does.Post(ann+"/merge", object{"other_id": idOf(bo)}).Is(200)
	does.Post("/privacy/erase", object{"email": "ann@example.com"}).Is(200)
	does.Delete(field, nil).Is(200)
	does.Delete(group, nil).Is(204)
	s.CheckRehearsals()
}
