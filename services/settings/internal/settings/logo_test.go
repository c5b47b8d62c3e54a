package settings

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

// pixel is a lossless WebP of one red pixel.
const pixel = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

func TestALogoIsAPictureThatStaysWhileItIsOne(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.As("site_admin")
	t.Run("it stays while it is one", func(t *testing.T) {
		var logo struct {
			ID  int64
			URL string
		}
		c.With("Content-Type", "image/webp").Post("/media", pixel).Is(201).Into(&logo)
		a := c.Patch("/settings/portal", map[string]any{"logo_id": 4242}).Fails(400, "svc_invalid_param")
		require.Equal(t, "unknown", a.Field("data.details.logo_id.code"))
		require.Equal(t, logo.URL, c.Patch("/settings/portal", map[string]any{"logo_id": logo.ID}).Is(200).Text("logo_url"))
		require.Equal(t, logo.URL, s.As("staff").Get("/site").Is(200).Text("logo_url"))
		path := fmt.Sprint("/media/", logo.ID)
		require.Equal(t, "in_use", c.Delete(path, nil).Fails(409, "svc_conflict").Field("data.reason"))
		require.Nil(t, c.Patch("/settings/portal", map[string]any{"logo_id": nil}).Is(200).Field("logo_url"))
		c.Delete(path, nil).Is(204)
		c.Delete(path, nil).Fails(404, "svc_not_found")
		_, path, _ = strings.Cut(logo.URL, "/_ui/")
		res, err := http.Get(s.URL + "/_ui/" + path)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNotFound, res.StatusCode)
	})
	t.Run("of choosing and deleting a logo at once one wins", func(t *testing.T) {
		for range 5 {
			var logo struct{ ID int64 }
			c.With("Content-Type", "image/webp").Post("/media", pixel).Is(201).Into(&logo)
			var chosen, deleted *apptest.Answer
			var both sync.WaitGroup
			both.Go(func() { chosen = c.Patch("/settings/portal", map[string]any{"logo_id": logo.ID}) })
			both.Go(func() { deleted = c.Delete(fmt.Sprint("/media/", logo.ID), nil) })
			both.Wait()
			require.NotEqual(t, chosen.Status == 200, deleted.Status == 204, "%s %s", chosen.Body, deleted.Body)
			c.Patch("/settings/portal", map[string]any{"logo_id": nil}).Is(200)
		}
	})
	t.Run("the logo heads the mails of settings", func(t *testing.T) {
		c := admin(t, s)
		head := func(to string) string {
			c.Post("/staff", map[string]any{"name": "Ann", "email": to, "role": "staff"}).Is(201)
			return mails(t, s, to)[0].GetHtml()
		}
		require.NotContains(t, head("before@example.com"), "<img")
		logo := c.With("Content-Type", "image/webp").Post("/media", pixel).Is(201)
		c.Patch("/settings/portal", map[string]any{"logo_id": logo.Field("id")}).Is(200)
		require.Contains(t, head("with@example.com"), fmt.Sprintf(`<img src="%s" alt="Frontdesk"`, logo.Text("url")))
		c.Patch("/settings/portal", map[string]any{"logo_id": nil}).Is(200)
		require.NotContains(t, head("after@example.com"), "<img")
	})
}
