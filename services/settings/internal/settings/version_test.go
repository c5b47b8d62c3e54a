package settings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestNobodyOverwritesAChangeThatTheyHaveNotSeen(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := admin(t, s)
	page := fmt.Sprint("/pages/", admin.Post("/pages", `{"title":"About"}`).Is(201).Field("id"))
	admin.Put("/mail-templates/appointment.cancelled/fr", `{"subject":"Tant pis","body":"{details}"}`).Is(200)
	view := "/views/" + admin.Post("/views", `{"entity":"contacts","name":"All"}`).Is(201).Text("id")
	member := userID(join(t, s, admin, "member@example.com", "staff"))
	role := fmt.Sprintf("/staff/%d/role", member)
	s.CheckVersions(admin, map[string]apptest.Change{
		"PATCH /pages/{id}":                        {Path: page, Body: `{"title":"About us"}`},
		"DELETE /pages/{id}":                       {Path: page},
		"PATCH /views/{id}":                        {Path: view, Body: `{"name":"Mine"}`},
		"DELETE /views/{id}":                       {Path: view},
		"PUT /mail-templates/{kind}/{language}":    {Path: "/mail-templates/appointment.booked/nl", Body: `{"subject":"Tot dan","body":"{manage}"}`},
		"DELETE /mail-templates/{kind}/{language}": {Path: "/mail-templates/appointment.cancelled/fr"},
		"PATCH /me/notifications":                  {Path: "/me/notifications", Body: `{"digest_at":"08:00"}`},
		"PATCH /settings/form-style":               {Path: "/settings/form-style", Body: `{"size":17}`},
		"PATCH /settings/general":                  {Path: "/settings/general", Body: `{"currency":"CHF"}`},
		"PATCH /settings/portal":                   {Path: "/settings/portal", Body: `{"powered_by":true}`},
		"PATCH /settings/api-access":               {Path: "/settings/api-access", Body: `{"roles":["staff"]}`},
		"PATCH /integrations/ai":                   {Path: "/integrations/ai", Body: `{"abilities":{"svc/list-apps":false},"approval":{"svc/update-app":"writes"}}`},
		"PATCH /settings/telemetry":                {Path: "/settings/telemetry", Body: `{"stats":true}`},
		"PATCH /settings/roles/{role}": {Path: "/settings/roles/staff", Body: `{"visibility":"all"}`,
			Tag: func() string { return admin.Get("/settings/roles").Is(200).Header.Get("ETag") }},
		"PUT /staff/{user}/role": {Path: role, Body: `{"role":"svc_admin"}`, Tag: func() string {
			var version int64
			require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select version from person where id = $1`, member).Scan(&version))
			return fmt.Sprintf("%q", fmt.Sprint(version))
		}},
		"PATCH /settings/privacy": {Path: "/settings/privacy", Body: `{"delete_on_uninstall":true}`},
	})
}
