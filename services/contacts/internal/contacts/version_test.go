package contacts

import (
	"fmt"
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	contact := "/contacts/" + admin.Post("/contacts", `{"email":"ada@example.com"}`).Is(201).Text("id")
	organization := "/organizations/" + admin.Post("/organizations", `{"name":"Atelier"}`).Is(201).Text("id")
	task := "/tasks/" + admin.Post("/tasks", `{"title":"Call"}`).Is(201).Text("id")
	// No call reads one note: a change that changes nothing answers with its version.
	note := func(record string) (path string, tag func() string) {
		path = record + "/notes/" + admin.Post(record+"/notes", `{"body":"Called."}`).Is(201).Text("id")
		return path, func() string { return admin.Patch(path, `{}`).Is(200).Header.Get("ETag") }
	}
	field := "/fields/" + admin.Post("/fields", `{"entity":"contact","type":"text","label":"Size"}`).Is(201).Text("id")
	group := "/field-groups/" + admin.Post("/field-groups", `{"entity":"contact","label":"Body"}`).Is(201).Text("id")
	tag := "/tags/" + admin.Post("/tags", `{"name":"VIP"}`).Is(201).Text("slug")
	// Only the list that a record is in has its version.
	listed := func(list string) func() string {
		return func() string { return fmt.Sprintf(`"%v"`, admin.Get(list).Is(200).Field("items.0.version")) }
	}
	link := organization + contact
	admin.Put(link, `{"role":"Owner"}`).Is(204)
	ofLink := listed(contact + "/organizations")
	ofContact, contactTag := note(contact)
	ofOrganization, organizationTag := note(organization)
	other := admin.Post("/tags", `{"name":"Client"}`).Is(201).Text("slug")
	seen := admin.Post("/tags", `{"name":"VIP"}`).Is(200).Header.Get("ETag")
	admin.Post(tag+"/merge", `{"other_slug":"`+other+`"}`).Is(200)
	admin.With("If-Match", seen).Delete(tag, nil).Fails(412, "svc_version_mismatch") // contacts have it now that had the other
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /contacts/{id}":       {Path: contact, Body: `{"first_name":"Ada"}`},
		"DELETE /contacts/{id}":      {Path: contact},
		"PATCH /organizations/{id}":  {Path: organization, Body: `{"city":"Gent"}`},
		"DELETE /organizations/{id}": {Path: organization},
		"PATCH /tasks/{id}":          {Path: task, Body: `{"title":"Call back"}`},
		"DELETE /tasks/{id}":         {Path: task},

		"PATCH /fields/{id}":        {Path: field, Body: `{"label":"Length"}`, Tag: listed("/fields?entity=contact&include_archived=true")},
		"DELETE /fields/{id}":       {Path: field, Tag: listed("/fields?entity=contact&include_archived=true")},
		"PATCH /field-groups/{id}":  {Path: group, Body: `{"label":"Mind"}`, Tag: listed("/field-groups?entity=contact")},
		"DELETE /field-groups/{id}": {Path: group, Tag: listed("/field-groups?entity=contact")},
		"PATCH /tags/{slug}":        {Path: tag, Body: `{"name":"Very important"}`, Tag: listed("/tags")},
		"DELETE /tags/{slug}":       {Path: tag, Tag: listed("/tags")},

		"PUT /organizations/{id}/contacts/{contact_id}":    {Path: link, Body: `{"role":"Director"}`, Tag: ofLink},
		"DELETE /organizations/{id}/contacts/{contact_id}": {Path: link, Tag: ofLink},

		"PATCH /contacts/{id}/notes/{note}":       {Path: ofContact, Body: `{"pinned":true}`, Tag: contactTag},
		"DELETE /contacts/{id}/notes/{note}":      {Path: ofContact, Tag: contactTag},
		"PATCH /organizations/{id}/notes/{note}":  {Path: ofOrganization, Body: `{"pinned":true}`, Tag: organizationTag},
		"DELETE /organizations/{id}/notes/{note}": {Path: ofOrganization, Tag: organizationTag},
	})
}
