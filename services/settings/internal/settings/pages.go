package settings

import (
	"context"
	"net/http"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	pages "frontdesk/services/settings/internal/settings/web"
)

// signingIn is the purpose of the key for what a person typed between two steps of signing in.
const signingIn = "signing in"

// pages are what settings shows to people in a browser.
func (s *service) pages(ops *op.Set) http.Handler {
	return pages.Pages(pages.Options{
		Site: web.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: ops.Handler()},
		Page: s.publishedPage,
		Seal: func(secret []byte) []byte { return s.Keys.Seal(signingIn, secret) },
		Open: func(sealed []byte) ([]byte, error) { return s.Keys.Open(signingIn, sealed) },
	})
}

// publishedPage is what visitors see at an address of the site.
func (s *service) publishedPage(ctx context.Context, slug string) (shown pages.SitePage, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := onePage(ctx, tx, `select `+pageColumns+` from page where slug = $1 and status = 'publish'`, slug)
		shown = pages.SitePage{Title: p.Title, Content: p.Content}
		return err
	})
	return shown, err
}
