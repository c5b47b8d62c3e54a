package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every field of a change is either refused as null, by its name, or cleared by it.
func TestNullIsRefusedByNameOrClearsAText(t *testing.T) {
	s := start(t)
	c := admin(t, s)
	page := "/pages/" + number(int64(c.Post("/pages", map[string]any{"title": "Visit", "content": "Hello"}).Is(201).Field("id").(float64)))
	for route, fields := range map[string][]string{
		"PATCH /apps/forms":                {"enabled"},
		"PATCH /setup":                     {"done", "dismissed"},
		"PATCH /settings/api-access":       {"roles"},
		"PATCH /settings/general":          {"business", "business.name", "business.email", "currency"},
		"PATCH /settings/portal":           {"path", "staff_out", "require_2fa", "idle_hours", "powered_by", "booking_page"},
		"PATCH /settings/privacy":          {"delete_on_uninstall"},
		"PATCH /settings/roles/staff":      {"capabilities", "visibility"},
		"PATCH /settings/telemetry":        {"stats", "profile", "profile_data"},
		"PATCH " + page:                    {"title", "slug", "status"},
		"POST /pages":                      {"title", "slug", "status", "content"},
		"POST /staff":                      {"name", "email", "role"},
		"PUT /staff/1/role":                {"role"},
		"POST /me/application-passwords":   {"name", "assistant"},
		"POST /support/requests":           {"type", "subject", "message", "reply_to", "include_environment"},
		"POST /feedback/deactivate":        {"reason", "text"},
		"POST /auth/login":                 {"login", "password", "code", "portal"},
		"POST /auth/two-factor/confirm":    {"code"},
		"DELETE /auth/two-factor":          {"code"},
		"POST /auth/password/forgot":       {"email"},
		"POST /auth/password/reset":        {"token", "password"},
		"POST /auth/invitation":            {"token", "password"},
		"POST /settings/telemetry/confirm": {"token"},
	} {
		for _, field := range fields {
			t.Run(route+" "+field, func(t *testing.T) {
				a := c.Call(route, nested(field, nil)).Fails(400, "svc_invalid_param")
				details, _ := a.Field("data.details").(map[string]any)
				require.NotEmpty(t, details[field], a.Body)
			})
		}
	}
	for route, fields := range map[string][]string{
		"PATCH /settings/general":   {"business.vat_number", "business.address_line", "business.postal_code", "business.city", "business.phone", "business.website", "country", "ip_header"},
		"PATCH /settings/portal":    {"host", "logo_id"},
		"PATCH /settings/telemetry": {"profile_data.company", "profile_data.website", "profile_data.name", "profile_data.email", "profile_data.sector", "profile_data.team_size"},
		"PATCH " + page:             {"content"},
	} {
		for _, field := range fields {
			t.Run(route+" "+field+" is cleared", func(t *testing.T) {
				now := c.Call(route, nested(field, nil)).Is(200).Field(field)
				require.True(t, slices.Contains([]any{"", nil}, now), now)
			})
		}
	}
}

// nested is a body with one value, at a path of names.
func nested(path string, value any) map[string]any {
	parent, child, deep := strings.Cut(path, ".")
	if deep {
		return map[string]any{parent: map[string]any{child: value}}
	}
	return map[string]any{parent: value}
}
