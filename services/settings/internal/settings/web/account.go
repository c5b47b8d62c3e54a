package web

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

// accountPath is where a person goes who signs in without having asked for a page.
const accountPath = "/account"

// person is the user who is signed in, as GET /auth/session shows them.
type person struct {
	Login, Name, Email, Role string
	Capabilities             []string
	TwoFactor                bool     `json:"two_factor"`
	TwoFactorMissing         bool     `json:"two_factor_missing"`
	SignsInBy                []string `json:"signs_in_by"`
}

// HasPassword reports whether a password lets the person in, byOrganization whether the provider does.
func (p person) HasPassword() bool    { return slices.Contains(p.SignsInBy, "password") }
func (p person) byOrganization() bool { return slices.Contains(p.SignsInBy, "organization") }

// account is the data of the page about one's own account.
type account struct {
	person
	// RoleName is the role in words.
	RoleName, Problem string
	// Organization is the name of the provider.
	Organization string
}

// knownRoles have a name in every language.
var knownRoles = []string{"site_admin", "svc_admin", "staff", "editor", "author", "subscriber"}

// signedIn reads the signed-in user. Its error is a fault; 401 if there is no session.
func (p *pages) signedIn(w http.ResponseWriter, r *http.Request) (who person, err error) {
	if len(r.Cookies()) == 0 {
		return who, fault.Unauthorized("")
	}
	err = p.CallAs(w, r, http.MethodGet, "/auth/session", nil, &who)
	return who, err
}

// withAccount reads the signed-in user. If there is no session, it redirects to the sign-in page and returns ok false.
func (p *pages) withAccount(w http.ResponseWriter, r *http.Request, path string) (who person, ok bool) {
	who, err := p.signedIn(w, r)
	if err == nil {
		return who, true
	}
	f, t := fault.From(err), p.Reader(r)
	if f.Status == http.StatusUnauthorized {
		p.leadOn(w, r, p.signInFor(r, path))
		return who, false
	}
	p.Message(w, r, f.Status, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("account_failed")})
	return who, false
}

func (p *pages) showAccount(w http.ResponseWriter, r *http.Request) {
	p.account(w, r, http.StatusOK, "")
}

func (p *pages) account(w http.ResponseWriter, r *http.Request, status int, problem string) {
	who, ok := p.withAccount(w, r, accountPath)
	if !ok {
		return
	}
	t := p.Reader(r)
	a := account{person: who, RoleName: who.Role, Problem: problem, Organization: p.options.Organization.Name}
	switch {
	case who.Role == "":
		a.RoleName = t.T("account_role_none")
	case slices.Contains(knownRoles, who.Role):
		a.RoleName = t.T("account_role_" + who.Role)
	}
	p.Render(w, r, status, "account", web.Page{Title: t.T("account_own"), Narrow: true, Alternate: languages(r), Data: a})
}

// signOut ends the session. Without one it answers the same.
func (p *pages) signOut(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := p.CallAs(w, r, http.MethodPost, "/auth/logout", nil, nil)
	if err != nil && fault.From(err).Status != http.StatusUnauthorized {
		problem, status, _ := p.refusal(w, r, err)
		p.account(w, r, status, problem)
		return
	}
	if p.organization.Leave(w, r, true) {
		return
	}
	t := p.Reader(r)
	p.Message(w, r, http.StatusOK, web.Message{Icon: "log-out", Tone: "soft", Title: t.T("account_signed_out"),
		Text: t.T("account_signed_out_text"), Link: t.T("account_sign_in"), LinkURL: in(t, "/account/sign-in")})
}

// signInFor is the address of the page to sign in on, which then leads to next.
func (p *pages) signInFor(r *http.Request, next string) string {
	q := url.Values{"next": {next}}
	if t := p.Reader(r); t.Chosen != "" {
		q.Set("lang", t.Chosen)
	}
	return "/account/sign-in?" + q.Encode()
}

// leadOn redirects to an address of this site, or of the organization's provider. The answer depends on who asks, so no cache may keep it.
func (p *pages) leadOn(w http.ResponseWriter, r *http.Request, address string) {
	w.Header().Set("Cache-Control", "no-store")
	//nolint:gosec // next has let no other host through
	http.Redirect(w, r, address, http.StatusSeeOther)
}
