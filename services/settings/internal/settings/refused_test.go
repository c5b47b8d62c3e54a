package settings

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each value that a setting does not take is refused by the setting's name and a code.
func TestWhatASettingDoesNotTakeIsRefusedByName(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	for _, x := range []struct {
		path, field string
		value       any
		code        string
	}{
		{"general", "business.email", "x@example.com", "read_only"},
		{"general", "business.name", "", "empty"},
		{"general", "business.name", "\u200f", "empty"},
		{"general", "business.shoe_size", 44, "unknown"},
		{"general", "business.city", strings.Repeat("x", 101), "too_long"},
		{"general", "business.website", "javascript:alert(1)", "url"},
		{"general", "currency", "euro", "currency"},
		{"general", "currency", "XXX", "currency"},
		{"general", "country", "US", "not_one_of"},
		{"general", "ip_header", "X-Made-Up", "not_one_of"},
		{"general", "timezone", "UTC", "unknown"},
		{"portal", "path", "", "slug"},
		{"portal", "path", "Our Team", "slug"},
		{"portal", "path", strings.Repeat("x", 51), "slug"},
		{"portal", "idle_hours", 2, "not_one_of"},
		{"portal", "idle_hours", "8", "type"},
		{"portal", "logo_id", 0, "too_low"},
		{"portal", "host", "127.0.0.1", "private"},
		{"portal", "host", "team.example.com/x", "host"},
		{"portal", "host", strings.Repeat("x", 254), "too_long"},
		{"api-access", "roles", []string{"captain"}, "unknown_role"},
		{"roles/editor", "capabilities", []string{"svc_view_contacts", "fly"}, "unknown_capability"},
		{"roles/editor", "capabilities", []string{"svc_manage_forms"}, "incomplete"},
		{"roles/editor", "visibility", "some", "not_one_of"},
		{"privacy", "retention", map[string]any{"spam": 1}, "unknown"},
		{"telemetry", "profile_data.email", "boss", "email"},
		{"telemetry", "profile_data.website", "ftp://lux.example", "url"},
		{"form-style", "font", "comic-sans", "not_one_of"},
		{"form-style", "size", 25, "range"},
		{"form-style", "label_size", 11, "range"},
		{"form-style", "heading_size", 20.5, "range"},
		{"form-style", "field_radius", -1, "range"},
		{"form-style", "button_radius", "41", "range"},
		{"form-style", "label_weight", 450, "not_one_of"},
		{"form-style", "label_style", "oblique", "not_one_of"},
		{"form-style", "button_icon", "skull", "not_one_of"},
		{"form-style", "color", "red", "colour"},
		{"form-style", "background", "#fff", "colour"},
		{"form-style", "error_color", "#12345g", "colour"},
		{"form-style", "border", "1px", "unknown"},
	} {
		t.Run(x.path+" "+x.field+" "+x.code, func(t *testing.T) {
			details := c.Patch("/settings/"+x.path, nested(x.field, x.value)).Fails(400, "svc_invalid_param").Field("data.details").(map[string]any)
			require.Contains(t, details, x.field)
			require.Equal(t, x.code, details[x.field].(map[string]any)["code"])
		})
	}
}
