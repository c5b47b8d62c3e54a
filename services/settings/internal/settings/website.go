package settings

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/portal"
	pages "frontdesk/services/settings/internal/settings/web"
)

// signingIn is the purpose of the key for what a person typed between two steps of signing in.
const signingIn = "signing in"

// paths are what settings serves outside /v1 beside its pages.
var paths = slices.Concat(portal.Paths, []*proto.Page{{Path: mcp.Path, Stream: true}}, oauthPaths)

// website is what settings serves outside /v1: the portal and the other pages for people in a browser, and what assistants
// connect to.
func (s *service) website(ops *op.Set) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, s.adapter())
	mux.HandleFunc("GET "+mediaPath, s.showMedia)
	s.oauth(mux)
	mux.Handle("/", s.pages(ops))
	return mux
}

func (s *service) pages(ops *op.Set) http.Handler {
	site := web.Site{Read: s.Site.Read, On: s.Apps.On, PublicURL: s.Config.PublicURL, Zone: s.Config.Zone, API: ops.Handler()}
	return portal.Handler(site, pages.Pages(pages.Options{
		Site:     site,
		Now:      s.DB.Now,
		Page:     s.publishedPage,
		Document: func() ([]byte, error) { return s.currentDescription() },
		Seal:     func(secret []byte) []byte { return s.Keys.Seal(signingIn, secret) },
		Open:     func(sealed []byte) ([]byte, error) { return s.Keys.Open(signingIn, sealed) },
	}))
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
