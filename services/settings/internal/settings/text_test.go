package settings

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesTakeNoControlCharacters(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	page := "/pages/" + number(int64(c.Post("/pages", map[string]any{"title": "Visit"}).Is(201).Field("id").(float64)))
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

func TestAddressesAreWhatTheySay(t *testing.T) {
	for typed, stored := range map[string]string{"lux.example": "https://lux.example", "http://lux.example/x": "http://lux.example/x",
		"javascript:alert(1)": "", "https://": "", "not a website": "", "https://lux": ""} {
		t.Run("website "+typed, func(t *testing.T) {
			site, wrong := parseWebsite(typed)
			require.Equal(t, stored, site)
			require.Equal(t, stored == "", !wrong.IsZero())
		})
	}
	for typed, stored := range map[string]string{" An@Example.COM ": "An@example.com", "an@bücher.example": "an@bücher.example",
		"": "", "an@localhost": "", "An <an@example.com>": "", "üser@example.com": "", "an@example.com, bo@example.com": ""} {
		t.Run("email "+typed, func(t *testing.T) {
			email, wrong := parseEmail(typed)
			require.Equal(t, stored, email)
			require.Equal(t, stored == "", !wrong.IsZero())
		})
	}
}
