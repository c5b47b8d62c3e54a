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
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /contacts/{id}":       {Path: contact, Body: `{"first_name":"Ada"}`},
		"DELETE /contacts/{id}":      {Path: contact},
		"PATCH /organizations/{id}":  {Path: organization, Body: `{"city":"Gent"}`},
		"DELETE /organizations/{id}": {Path: organization},
	})
}
