// Package portal serves the team's screens: one page with one program, at the portal's path, on the portal's own host and at
// /admin. The sources of the program stand in web, what is built of them in dist.
package portal

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/libs/auth"
	"frontdesk/libs/fault"
	"frontdesk/libs/lang"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/roles"
)

//go:embed all:dist index.html text/*.json
var folder embed.FS

// Paths are the paths of Handler, for the gateway. The portal stands below whatever path it has now, or at the root of its
// own host.
var Paths = []*proto.Page{{Path: "/admin"}, {Path: "/admin/"}, {Path: "/{$}"}, {Path: "/{portal}/"}, {Path: "/_ui/portal/"}}

const (
	adminPath = "/admin"
	assets    = "/_ui/portal/"
)

type portal struct {
	*web.UI
	people *auth.Identity
	mark   func(context.Context) string
	page   *template.Template
	// build is nil if dist holds no build.
	build *build
}

// Handler serves the portal, and passes on to rest what belongs to other pages of the service. mark says where the stream of changes is.
func Handler(site web.Site, people *auth.Identity, mark func(context.Context) string, rest http.Handler) http.Handler {
	p := &portal{UI: web.New("portal", site, folder), people: people, mark: mark, page: template.Must(template.ParseFS(folder, "index.html")), build: readBuild(folder)}
	files := p.Assets()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, assets) {
			files.ServeHTTP(w, r)
			return
		}
		base, ok := p.place(r)
		switch {
		case !ok && r.URL.Path == "/":
			p.home(w, r)
			return
		case !ok:
			rest.ServeHTTP(w, r)
			return
		}
		p.show(w, r, base)
	})
}

// home leads from the root of the site to the booking page, or to the portal while that page is off.
func (p *portal) home(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	s := p.settings()
	to := s.address()
	if s.BookingPage && p.On("booking") {
		to += "/book"
	}
	p.leadOn(w, r, to+query(r.URL))
}

// settings are the portal's, as the site's document has them.
type settings struct {
	Path        string
	BookingPage bool `json:"booking_page"`
	StaffOut    bool `json:"staff_out"`
	Host        string
	HostActive  bool `json:"host_active"`
	URL         string
}

func (p *portal) settings() settings {
	s := settings{Path: "team"}
	p.Read("portal", &s)
	return s
}

// place returns the path under which the request finds the portal, "/" for the root of the portal's host. It reports false
// for addresses of other pages.
func (p *portal) place(r *http.Request) (base string, ok bool) {
	s := p.settings()
	for _, base := range []string{adminPath, "/" + s.Path} {
		if r.URL.Path == base || strings.HasPrefix(r.URL.Path, base+"/") {
			return base, true
		}
	}
	account := r.URL.Path == "/account" || strings.HasPrefix(r.URL.Path, "/account/") || strings.HasPrefix(r.URL.Path, "/_ui/") ||
		strings.HasPrefix(r.URL.Path, "/.well-known/") || r.URL.Path == "/robots.txt"
	if s.onHost(r) && !account {
		return "/", true
	}
	return "", false
}

// address is where the portal stands: its own host, or its path at whatever host the request came to, where the session is.
func (s settings) address() string {
	if s.HostActive {
		return s.URL
	}
	return "/" + s.Path
}

func (s settings) onHost(r *http.Request) bool {
	host, _, _ := strings.Cut(r.Host, ":")
	return s.HostActive && strings.EqualFold(host, s.Host)
}

// OnHost reports whether a request came by the portal's own host.
func OnHost(site web.Site, r *http.Request) bool {
	p := portal{UI: &web.UI{Site: site}}
	return p.settings().onHost(r)
}

// InPortal reports whether a session that begins in order to open next at this host belongs to the portal rather than to
// the administration.
func InPortal(site web.Site, r *http.Request, next string) bool {
	p := portal{UI: &web.UI{Site: site}}
	at, err := url.Parse(next)
	if err != nil {
		return false
	}
	base, ok := p.place(&http.Request{Host: r.Host, URL: at})
	return ok && base != adminPath
}

// start is what the program begins with.
type start struct {
	Base     string `json:"base"`
	Language string `json:"language"`
	Locale   string `json:"locale"`
	Zone     string `json:"zone"`
	Business string `json:"business"`
	Currency string `json:"currency"`
	Country  string `json:"country"`
	Portal   string `json:"portal"`
	// Logo is where the logo stands on this host; empty without one.
	Logo string `json:"logo"`
	// Live is where the stream of changes was before the program has read anything; empty if that is not known.
	Live string `json:"live"`
	// Session and Apps are the answers of GET /auth/session and GET /apps.
	Session json.RawMessage `json:"session"`
	Apps    json.RawMessage `json:"apps"`
}

// show answers with the page. Without a session it redirects to the sign-in page; who lacks the second factor that the site
// asks for gets to their account, which says so; staff_out sends people with only the role staff from /admin to the portal.
func (p *portal) show(w http.ResponseWriter, r *http.Request, base string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	s, t := p.settings(), p.reader(r)
	var files files
	if p.build != nil {
		files = p.build.files(strings.TrimPrefix(r.URL.Path, base), t.Language)
	}
	if path := strings.TrimRight(r.URL.Path, "/"); files.found() && path != r.URL.Path && path != base && len(path) > 1 {
		to := url.URL{Path: "/" + strings.Trim(path, "/"), RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
		return
	}
	if base != adminPath && s.HostActive && !s.onHost(r) {
		p.leadOn(w, r, s.URL+strings.TrimPrefix(r.URL.EscapedPath(), base)+query(r.URL))
		return
	}
	begin := start{Base: base, Language: t.Language, Locale: t.Locale(), Zone: p.Zone.String(), Portal: s.URL, Logo: p.Logo()}
	business := p.Business()
	if len(r.Cookies()) > 0 {
		begin.Live = p.mark(r.Context())
	}
	begin.Business, begin.Currency, begin.Country = business.Name, business.Currency, business.Country
	var who struct {
		UserID           int64 `json:"user_id"`
		TwoFactorMissing bool  `json:"two_factor_missing"`
	}
	err := p.session(w, r, &begin)
	if err == nil {
		err = json.Unmarshal(begin.Session, &who)
	}
	switch {
	case err != nil && fault.From(err).Status == http.StatusUnauthorized:
		p.leadOn(w, r, "/account/sign-in?"+url.Values{"next": {r.URL.EscapedPath() + query(r.URL)}}.Encode())
		return
	case err != nil:
		slog.ErrorContext(r.Context(), "portal cannot be shown", "error", err)
		p.Message(w, r, http.StatusServiceUnavailable, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text")})
		return
	case who.TwoFactorMissing:
		p.leadOn(w, r, "/account")
		return
	case base == adminPath && s.StaffOut && p.onlyStaff(who.UserID):
		p.leadOn(w, r, s.address()+strings.TrimPrefix(r.URL.EscapedPath(), base)+query(r.URL))
		return
	case p.build == nil:
		p.Message(w, r, http.StatusOK, web.Message{Icon: "info", Tone: "soft", Title: t.T("portal_missing"), Text: t.T("portal_missing_text")})
		return
	}
	if r.URL.RawQuery != "" || !begin.open(files.Screen) {
		files.Calls = nil // filters make other calls, and a refused call would stand in the audit log
	}
	p.write(w, r, begin, files)
}

// onlyStaff reports whether the role staff is the only one of the user's that allows anything.
func (p *portal) onlyStaff(userID int64) bool {
	u, _ := p.people.User(userID)
	held := slices.DeleteFunc(p.people.RolesNamed(u.GetRoles()), func(r auth.Role) bool { return len(r.Capabilities) == 0 })
	return len(held) == 1 && held[0].Name == roles.Staff
}

// appState is the part of an app's answer that decides whether its screens are shown.
type appState struct {
	ID      string
	Enabled bool
}

// open reports whether the program will show a screen to the person. It is the rule of guard in kit/root.tsx.
func (s start) open(screen screen) bool {
	var session struct {
		Capabilities []string
		Visibility   string
	}
	var apps struct{ Items []appState }
	if json.Unmarshal(s.Session, &session) != nil || json.Unmarshal(s.Apps, &apps) != nil {
		return false
	}
	off := slices.ContainsFunc(apps.Items, func(a appState) bool { return a.ID == screen.App && !a.Enabled })
	return !off && slices.Contains(session.Capabilities, "svc_view_contacts") &&
		(screen.May == "" || slices.Contains(session.Capabilities, screen.May)) && (screen.Sees == "" || session.Visibility == screen.Sees)
}

// heading is the title of a screen for the person; empty where only its record has one.
func (s start) heading(screen screen) string {
	var session struct{ Name string }
	if json.Unmarshal(s.Session, &session) != nil || !s.open(screen) {
		return ""
	}
	first, _, _ := strings.Cut(session.Name, " ")
	return strings.ReplaceAll(screen.Titles[s.Language], "{name}", first)
}

// session asks the API who is signed in and which apps there are. Whoever may not list the apps gets none.
func (p *portal) session(w http.ResponseWriter, r *http.Request, begin *start) error {
	if len(r.Cookies()) == 0 {
		return fault.Unauthorized("")
	}
	if err := p.CallAs(w, r, http.MethodGet, "/auth/session", nil, &begin.Session); err != nil {
		return err
	}
	begin.Apps = json.RawMessage(`{"items":[]}`)
	err := p.CallAs(w, r, http.MethodGet, "/apps", nil, &begin.Apps)
	if err != nil && fault.From(err).Status == http.StatusForbidden {
		return nil
	}
	return err
}

func (p *portal) write(w http.ResponseWriter, r *http.Request, begin start, files files) {
	data, err := json.Marshal(begin)
	var page bytes.Buffer
	nonce := rand.Text()
	if err == nil {
		err = p.page.Execute(&page, map[string]any{"Language": begin.Language, "Business": begin.Business, "Logo": begin.Logo, "Initial": initial(begin.Business), "Heading": begin.heading(files.Screen),
			"Icon": p.Asset("favicon.svg"), "Nonce": nonce, "Start": string(data), "Files": files, "Assets": assets, "API": "/v1", "Theme": theme(r), "NoScript": p.ReaderOf(begin.Language).T("portal_no_script")})
	}
	if err != nil {
		slog.ErrorContext(r.Context(), "portal cannot be rendered", "error", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", begin.Language)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Add("Vary", "Accept-Language, Cookie")
	// React Aria adds one style element, which the nonce admits.
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	if !files.found() {
		w.WriteHeader(http.StatusNotFound) // the program says so
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes())
	}
}

// reader is the person whose page it is, in the language that they chose in this browser, else in that of the request.
func (p *portal) reader(r *http.Request) *web.Reader {
	if c := chosen(r, "svc_language"); slices.Contains(lang.Languages, c) {
		return p.ReaderOf(c)
	}
	return p.Reader(r)
}

// theme is the person's choice in this browser, light or dark; empty for the system's.
func theme(r *http.Request) string {
	if c := chosen(r, "svc_theme"); c == "light" || c == "dark" {
		return c
	}
	return ""
}

// chosen is the value of a cookie that the program keeps (choose in app/theme.ts); empty without it.
func chosen(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// initial is the first letter of a name; empty without one.
func initial(name string) string {
	for _, r := range name {
		return string(r)
	}
	return ""
}

// leadOn redirects. The answer depends on who asks, so no cache may keep it.
func (p *portal) leadOn(w http.ResponseWriter, r *http.Request, address string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the path stands behind an address of our own
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}
