package settings

import (
	"context"
	"net/http"
	"slices"

	"frontdesk/libs/app"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/mcp"
	"frontdesk/services/settings/internal/media"
	"frontdesk/services/settings/internal/organization"
	"frontdesk/services/settings/internal/portal"
	"frontdesk/services/settings/internal/publicpages"
	pages "frontdesk/services/settings/internal/settings/web"
)

// signingIn is the purpose of the key for what a person typed between two steps of signing in.
const signingIn = "signing in"

// paths are what settings serves outside /v1 beside its pages.
var paths = slices.Concat(portal.Paths, []*proto.Page{{Path: mcp.Path, Stream: true}}, assistants.OAuthPaths)

// website is what settings serves outside /v1: the portal and the other pages for people in a browser, and what assistants
// connect to.
func (r rooms) website(k *app.Kit, ops *op.Set) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, r.assistants.Adapter())
	mux.HandleFunc("GET "+media.Path, r.media.Show)
	r.assistants.OAuth(mux)
	provider := ""
	if k.Config.OIDCIssuer != "" {
		provider = k.Config.OIDCName
	}
	site := web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone, API: ops.Handler()}
	mux.Handle("/", portal.Handler(site, k.Identity, r.live.Mark, pages.Pages(pages.Options{
		Site:     site,
		Now:      k.DB.Now,
		Document: func() ([]byte, error) { return r.apps.Description() },
		Public: publicpages.Options{
			Page: func(ctx context.Context, slug string) (p publicpages.SitePage, err error) {
				p.Title, p.Blocks, err = r.pages.Published(ctx, slug)
				return p, err
			},
			Slugs:           r.pages.Slugs,
			SecurityContact: k.Config.SecurityContact, Robots: k.Config.Robots,
		},
		Organization: organization.Options{Name: provider, Only: k.Config.OIDCOnly, Room: r.sso},
		Seal:         func(secret []byte) []byte { return k.Keys.Seal(signingIn, secret) },
		Open:         func(sealed []byte) ([]byte, error) { return k.Keys.Open(signingIn, sealed) },
	})))
	return mux
}
