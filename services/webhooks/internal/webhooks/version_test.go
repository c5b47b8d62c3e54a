package webhooks

import (
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	hook := "/webhooks/" + admin.Post("/webhooks", `{"name":"A","url":"https://example.com/hook","events":["contact.created"]}`).Is(201).Text("webhook.id")
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /webhooks/{id}":  {Path: hook, Body: `{"name":"B"}`},
		"DELETE /webhooks/{id}": {Path: hook},
	})
}
