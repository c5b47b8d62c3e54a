package settings

import (
	"fmt"
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	page := fmt.Sprint("/pages/", admin.Post("/pages", `{"title":"About"}`).Is(201).Field("id"))
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /pages/{id}":          {Path: page, Body: `{"title":"About us"}`},
		"DELETE /pages/{id}":         {Path: page},
		"PATCH /settings/form-style": {Path: "/settings/form-style", Body: `{"size":17}`},
		"PATCH /settings/general":    {Path: "/settings/general", Body: `{"currency":"CHF"}`},
		"PATCH /settings/portal":     {Path: "/settings/portal", Body: `{"powered_by":true}`},
		"PATCH /settings/privacy":    {Path: "/settings/privacy", Body: `{"delete_on_uninstall":true}`},
	})
}
