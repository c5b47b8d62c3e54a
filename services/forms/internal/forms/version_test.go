package forms

import (
	"fmt"
	"testing"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("site_admin")
	form := fmt.Sprint("/forms/", admin.Post("/forms", `{"name":"Contact","template":"contact"}`).Is(201).Field("id"))
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /forms/{id}":  {Path: form, Body: `{"name":"Write to us"}`},
		"DELETE /forms/{id}": {Path: form},
	})
}
