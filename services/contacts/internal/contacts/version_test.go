package contacts

import (
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
	ofContact, contactTag := note(contact)
	ofOrganization, organizationTag := note(organization)
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /contacts/{id}":       {Path: contact, Body: `{"first_name":"Ada"}`},
		"DELETE /contacts/{id}":      {Path: contact},
		"PATCH /organizations/{id}":  {Path: organization, Body: `{"city":"Gent"}`},
		"DELETE /organizations/{id}": {Path: organization},
		"PATCH /tasks/{id}":          {Path: task, Body: `{"title":"Call back"}`},
		"DELETE /tasks/{id}":         {Path: task},

		"PATCH /contacts/{id}/notes/{note}":       {Path: ofContact, Body: `{"pinned":true}`, Tag: contactTag},
		"DELETE /contacts/{id}/notes/{note}":      {Path: ofContact, Tag: contactTag},
		"PATCH /organizations/{id}/notes/{note}":  {Path: ofOrganization, Body: `{"pinned":true}`, Tag: organizationTag},
		"DELETE /organizations/{id}/notes/{note}": {Path: ofOrganization, Tag: organizationTag},
	})
}
