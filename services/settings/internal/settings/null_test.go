package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// CheckNulls holds that every other field refuses null by its name.
func TestNullClearsWhatMayBeEmpty(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	page := "/pages/" + fmt.Sprint(int64(c.Post("/pages", map[string]any{"title": "Visit", "content": "Hello"}).Is(201).Field("id").(float64)))
	c.Patch("/settings/telemetry", map[string]any{"profile_data": map[string]any{"company": "Lux", "email": "boss@example.com"}}).Is(200)
	logo := c.With("Content-Type", "image/webp").Post("/media", pixel).Is(201).Field("id")
	c.Patch("/settings/portal", map[string]any{"host": "team.example.com", "logo_id": logo}).Is(200)
	c.Patch("/settings/general", map[string]any{"business": map[string]any{"phone": "1", "website": "lux.example"}, "ip_header": "X-Real-IP"}).Is(200)
	for route, fields := range map[string][]string{
		"/settings/general":   {"business.vat_number", "business.address_line", "business.postal_code", "business.city", "business.phone", "business.website", "country", "ip_header"},
		"/settings/portal":    {"host", "logo_id"},
		"/settings/telemetry": {"profile_data.company", "profile_data.website", "profile_data.name", "profile_data.email", "profile_data.sector", "profile_data.team_size"},
		page:                  {"content"},
	} {
		for _, field := range fields {
			t.Run(route+" "+field, func(t *testing.T) {
				now := c.Patch(route, nested(field, nil)).Is(200).Field(field)
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

func TestNamesTakeNoControlCharacters(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	page := "/pages/" + fmt.Sprint(int64(c.Post("/pages", map[string]any{"title": "Visit"}).Is(201).Field("id").(float64)))
	for route, fields := range map[string][]string{
		"POST /me/application-passwords": {"name"},
		"POST /pages":                    {"title"},
		"PATCH " + page:                  {"title"},
		"PATCH /settings/general":        {"business.name", "business.vat_number", "business.address_line", "business.postal_code", "business.city", "business.phone", "business.website"},
		"PATCH /settings/telemetry":      {"profile_data.company", "profile_data.name", "profile_data.sector", "profile_data.team_size"},
		"POST /staff":                    {"name"},
		"POST /support/requests":         {"subject"},
	} {
		for _, field := range fields {
			t.Run(route+" "+field, func(t *testing.T) {
				body := nested(field, "a\u0007b")
				switch route {
				case "POST /staff":
					body["email"] = "an@example.com"
				case "POST /support/requests":
					body["type"], body["message"] = "bug", "It hums"
				}
				details := c.Call(route, body).Fails(400, "svc_invalid_param").Field("data.details").(map[string]any)
				require.Equal(t, map[string]any{"code": "control_characters"}, details[field])
			})
		}
	}
}
