package settings

import (
	"context"
	"net/http"
	"slices"

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
		Site: site,
		Now:  s.DB.Now,
		Page: func(ctx context.Context, slug string) (p pages.SitePage, err error) {
			p.Title, p.Content, err = s.publishedPage(ctx, slug)
			return p, err
		},
		Document: func() ([]byte, error) { return s.currentDescription() },
		Seal:     func(secret []byte) []byte { return s.Keys.Seal(signingIn, secret) },
		Open:     func(sealed []byte) ([]byte, error) { return s.Keys.Open(signingIn, sealed) },
	}))
}
