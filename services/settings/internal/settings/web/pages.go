// Package web holds the pages that settings serves: signing in and out, one's own account, the pages behind links in mails,
// and the site's own pages with the widgets that their shortcodes name.
package web

import (
	"embed"
	"net/http"
	"slices"
	"strconv"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/docs"
	"frontdesk/services/settings/internal/organization"
	"frontdesk/services/settings/internal/publicpages"
	"frontdesk/services/settings/internal/sso"
)

//go:embed all:page all:dist ability css guide sample
var folder embed.FS

const maxForm = 64 << 10

// Paths are the paths of Pages, for the gateway.
var Paths = slices.Concat([]*proto.Page{{Path: "/account"}, {Path: "/account/sign-in"}, {Path: "/account/sign-out"}, {Path: "/account/invitation"},
	{Path: "/account/password"}, {Path: "/account/second-factor"}, {Path: "/account/confirm"}, {Path: "/account/access"}, {Path: "/account/keys"}, {Path: "/account/assistants"}, {Path: "/account/connect"}, {Path: "/account/passkeys"}, {Path: "/account/telemetry"}, {Path: organizationPath}, {Path: sso.CallbackPath}, {Path: sso.LogoutPath}, {Path: docs.Path}, {Path: docs.Path + "/"}, {Path: "/_ui/settings/"}, {Path: "/_ui/w/v1/svc.js"}, {Path: "/.well-known/change-password"}}, publicpages.Paths)

// Options is everything that the pages use of the service.
type Options struct {
	web.Site
	// Now is the service's clock.
	Now func() time.Time
	// Document is the OpenAPI description of the installation.
	Document func() ([]byte, error)
	// Public are the options of the site's own pages, without what all pages share.
	Public publicpages.Options
	// Organization is the provider at which people sign in as well.
	Organization organization.Options
	// Seal and Open encrypt what a person typed between two steps of signing in.
	Seal func(secret []byte) []byte
	Open func(sealed []byte) ([]byte, error)
}

type pages struct {
	*web.UI
	options      Options
	organization organization.Pages
}

// Pages serves the pages at Paths, and the script that other sites embed. It refuses forms that another site sends, because most
// pages act for the person who is signed in.
func Pages(o Options) http.Handler {
	ui := web.New("settings", o.Site, folder)
	p := &pages{ui, o, organization.Pages{UI: ui, Options: o.Organization}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /account", p.showAccount)
	mux.HandleFunc("GET /account/sign-in", p.showSignIn)
	mux.HandleFunc("POST /account/sign-in", p.signIn)
	mux.HandleFunc("GET /account/sign-out", p.showSignedOut)
	mux.HandleFunc("POST /account/sign-out", p.signOut)
	mux.HandleFunc("GET "+organizationPath, p.toOrganization)
	mux.HandleFunc("GET "+sso.CallbackPath, p.fromOrganization)
	mux.HandleFunc("POST "+sso.LogoutPath, p.organization.EndSessions)
	mux.HandleFunc("GET /account/invitation", p.showInvitation)
	mux.HandleFunc("POST /account/invitation", p.accept)
	mux.HandleFunc("GET /account/password", p.showPassword)
	mux.HandleFunc("POST /account/password", p.password)
	mux.HandleFunc("GET "+secondFactorPath, p.showSecondFactor)
	mux.HandleFunc("POST "+secondFactorPath, p.changeSecondFactor)
	mux.HandleFunc("GET "+confirmPath, func(w http.ResponseWriter, r *http.Request) {
		p.askPassword(w, r, http.StatusOK, typed{Next: p.next(r)})
	})
	mux.HandleFunc("POST "+confirmPath, p.confirm)
	mux.HandleFunc("GET "+accessPath, p.showAccess)
	mux.HandleFunc("POST "+accessPath, p.endAccess)
	mux.HandleFunc("GET "+keysPath, p.showKeys)
	mux.HandleFunc("POST "+keysPath, p.changeKeys)
	mux.HandleFunc("GET "+assistantsPath, p.showAssistants)
	mux.HandleFunc("POST "+assistantsPath, p.changeAssistant)
	mux.HandleFunc("GET "+connectPath, p.showConnect)
	mux.HandleFunc("POST "+connectPath, p.connect)
	mux.HandleFunc("GET "+passkeysPath, p.showPasskeys)
	mux.HandleFunc("POST "+passkeysPath, p.changePasskeys)
	mux.HandleFunc("GET /account/telemetry", p.showTelemetry)
	mux.HandleFunc("POST /account/telemetry", p.confirmTelemetry)
	forIntegrators := docs.New(p.UI, folder, o.Document, func(w http.ResponseWriter, r *http.Request) (signIn, person string) {
		who, _ := p.signedIn(w, r)
		return p.signInFor(r, r.URL.Path), who.Name
	})
	mux.Handle("GET "+docs.Path, forIntegrators)
	mux.Handle("GET "+docs.Path+"/", forIntegrators)
	mux.Handle("/_ui/settings/", p.Assets())
	mux.Handle("GET /_ui/w/v1/svc.js", p.Embed())
	mux.HandleFunc("GET /.well-known/change-password", func(w http.ResponseWriter, r *http.Request) { p.leadOn(w, r, "/account/password") })
	o.Public.UI, o.Public.Now, o.Public.Languages = p.UI, o.Now, languages
	publicpages.Handle(mux, o.Public)
	mux.HandleFunc("/", p.Elsewhere(mux))
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(p.refuseForeign))
	return foreign.Handler(mux)
}

// refuseForeign answers a form that another site has sent.
func (p *pages) refuseForeign(w http.ResponseWriter, r *http.Request) {
	t := p.Reader(r)
	p.Message(w, r, http.StatusForbidden, web.Message{Icon: "lock", Tone: "bad", Title: t.T("sorry"), Text: t.T("account_elsewhere")})
}

// refusal is why a form was not accepted, in the visitor's language, and the status to answer with. wrong is true, and problem
// empty, when the person can correct an answer of theirs.
func (p *pages) refusal(w http.ResponseWriter, r *http.Request, err error) (problem string, status int, wrong bool) {
	t := p.Reader(r)
	switch f := fault.From(err); {
	case f.Status == http.StatusTooManyRequests:
		wait := web.Wait(f)
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		return t.T("account_limited", "wait", t.Wait(wait)), f.Status, false
	case f.Status == http.StatusForbidden:
		return t.T("account_elsewhere"), f.Status, false
	case f.Status >= 500:
		return t.T("account_failed"), f.Status, false
	}
	return "", http.StatusUnprocessableEntity, true
}

// languages gives a page's address in each language, for pages that were opened, not sent.
func languages(r *http.Request) func(string) string {
	if r.Method != http.MethodGet {
		return nil
	}
	q := r.URL.Query()
	return func(language string) string {
		q.Set("lang", language)
		return r.URL.Path + "?" + q.Encode()
	}
}

// in adds the chosen language to an address of ours without a query.
func in(t *web.Reader, address string) string {
	if t.Chosen == "" {
		return address
	}
	return address + "?lang=" + t.Chosen
}
