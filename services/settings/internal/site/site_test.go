package site

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
)

// start starts the room with the documents of a new site.
func start(t *testing.T, configure ...func(*app.Config)) (s *apptest.Service, r *Room) {
	t.Helper()
	s = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r = New(k, func(context.Context, *db.Tx, string) (bool, error) { return false, nil })
		r.Settings(set)
		require.NoError(t, k.DB.Do(t.Context(), func(tx *db.Tx) error { return document.Add(t.Context(), tx, r.First()) }))
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "site", Parts: r.Parts()}}
	}, configure...)
	return s, r
}

func TestTheSiteKeepsWhatItIsTold(t *testing.T) {
	t.Parallel()
	s, _ := start(t, func(c *app.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	c := s.AsSession("site_admin")
	t.Run("general settings change one by one", func(t *testing.T) {
		first := c.Get("/settings/general").Is(200)
		require.Equal(t, "Europe/Brussels", first.Text("timezone"))
		require.Equal(t, "admin@example.com", first.Text("reply_to"))

		c.Patch("/settings/general", map[string]any{"business": map[string]any{"name": " Salon Lux ", "city": "Gent"}}).Is(200)
		now := c.Patch("/settings/general", map[string]any{"currency": "GBP", "country": "", "ip_header": "cf-connecting-ip"}).Is(200)
		require.Equal(t, "Salon Lux", now.Text("business.name"))
		require.Equal(t, "Gent", now.Text("business.city"))
		require.Equal(t, "CF-Connecting-IP", now.Text("ip_header"))
		seen := c.With("CF-Connecting-IP", "203.0.113.7").With("X-Forwarded-For", "203.0.113.7, 10.0.0.1").Get("/settings/general").Is(200)
		require.Equal(t, []any{"X-Forwarded-For", "CF-Connecting-IP"}, seen.Field("ip_headers_seen"))
		stranger := c.With("CF-Connecting-IP", "203.0.113.7").With("X-Forwarded-For", "203.0.113.7, 192.0.2.1").Get("/settings/general").Is(200)
		require.Empty(t, stranger.Field("ip_headers_seen"))

		// The other services hear of it.
		s.Eventually(func() bool {
			var g struct {
				Currency string `json:"currency"`
			}
			s.Kit.Site.Read("general", &g)
			return g.Currency == "GBP"
		})
	})
	t.Run("form style takes what is allowed and returns to the theme", func(t *testing.T) {
		for name, value := range map[string]any{
			"font": "svc:inter", "size": 12, "label_size": 24, "heading_size": 40, "field_radius": 0, "button_radius": 40, "label_weight": 400, "button_weight": 700,
			"label_style": "italic", "label_transform": "uppercase", "button_decoration": "underline", "button_width": "full", "button_icon": "gift",
			"button_icon_position": "right", "container": "plain", "color": "#00ffAA",
		} {
			require.EqualValues(t, value, c.Patch("/settings/form-style", map[string]any{name: value}).Is(200).Field(name))
		}
		require.Equal(t, "theme:dark", c.Patch("/settings/form-style", map[string]any{"font": "theme:dark"}).Is(200).Text("font"))
		back := c.Patch("/settings/form-style", map[string]any{"font": "", "size": nil, "color": nil, "label_size": ""}).Is(200)
		for _, name := range []string{"font", "size", "color", "label_size"} {
			require.Nil(t, back.Field(name), name)
		}
		require.EqualValues(t, 40, back.Field("heading_size"))
	})
	t.Run("privacy keeps what it is told", func(t *testing.T) {
		privacy := c.Patch("/settings/privacy", map[string]any{"delete_on_uninstall": true}).Is(200)
		require.EqualValues(t, 365, privacy.Field("retention.audit_log"))
		require.Equal(t, true, c.Get("/settings/privacy").Is(200).Field("delete_on_uninstall"))
	})
}
