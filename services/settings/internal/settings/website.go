package settings

import (
	"context"
	"fmt"
	"net/http"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	pages "frontdesk/services/settings/internal/settings/web"
)

// signingIn is the purpose of the key for what a person typed between two steps of signing in.
const signingIn = "signing in"

// website is the pages that settings shows to people in a browser.
func (s *service) website(ops *op.Set) http.Handler {
	return pages.Pages(pages.Options{
		Site: web.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: ops.Handler()},
		Page: s.publishedPage,
		Seal: func(secret []byte) []byte { return s.Keys.Seal(signingIn, secret) },
		Open: func(sealed []byte) ([]byte, error) { return s.Keys.Open(signingIn, sealed) },
	})
}

// publishedPage finds what visitors see at an address of the site; 404 when no page is published there.
func (s *service) publishedPage(ctx context.Context, slug string) (shown pages.SitePage, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := onePage(ctx, tx, `select `+pageColumns+` from page where slug = $1 and status = $2`, slug, statusPublish)
		if err != nil {
			return fmt.Errorf("page at /%s: %w", slug, err)
		}
		shown = pages.SitePage{Title: p.Title, Content: p.Content}
		return nil
	})
	return shown, err
}
