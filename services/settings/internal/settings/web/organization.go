package web

import (
	"net/http"
	"net/url"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/services/settings/internal/portal"
	"frontdesk/services/settings/internal/sso"
)

// organizationPath sends a browser to the organization's provider.
const organizationPath = "/account/organization"

// Organization is where the team signs in besides here.
type Organization struct {
	// Name is what people call the provider; empty where none is set up.
	Name string
	// Only is true where passwords let in only the first administrator.
	Only bool
	// Room knows the sign-out at the provider.
	Room *sso.Room
}

// toOrganization sends the browser to the provider: to sign in, or again=1 to show that the person at the session is still the same.
func (p *pages) toOrganization(w http.ResponseWriter, r *http.Request) {
	next := p.next(r)
	// The provider leads back to an address that it knows, where the cookie of this one would be missing.
	if home, err := url.Parse(p.options.PublicURL); err == nil && r.Host != home.Host && !portal.OnHost(p.Site, r) {
		p.leadOn(w, r, p.options.PublicURL+r.URL.RequestURI())
		return
	}
	var to struct{ URL string }
	var err error
	if call := map[string]any{"next": next, "portal_host": portal.OnHost(p.Site, r)}; r.FormValue("again") != "" {
		err = p.CallAs(w, r, http.MethodPost, "/auth/confirm/organization", call, &to)
	} else {
		call["portal"] = portal.InPortal(p.Site, r, next)
		err = p.CallFor(w, r, http.MethodPost, "/auth/login/organization", call, &to)
	}
	if err != nil {
		p.notByOrganization(w, r, err)
		return
	}
	p.leadOn(w, r, to.URL)
}

// fromOrganization takes the browser back from the provider.
func (p *pages) fromOrganization(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	call := map[string]string{}
	for _, name := range []string{"state", "code", "iss", "error"} {
		call[name] = q.Get(name)
	}
	var in struct{ Next string }
	err := p.CallFor(w, r, http.MethodPost, "/auth/login/organization/answer", call, &in)
	if f := fault.From(err); err != nil && f.Code == "svc_two_factor_required" {
		sealed, _ := f.Data["ticket"].(string)
		next, _ := f.Data["next"].(string)
		r.Form = url.Values{"next": {next}} // the page leads on to where the person wanted to go
		p.secondStep(w, r, http.StatusOK, step{Ticket: p.seal(ticket{Organization: sealed, At: p.options.Now()})})
		return
	}
	if err != nil {
		p.notByOrganization(w, r, err)
		return
	}
	p.settle(w, r)
	p.leadOn(w, r, in.Next)
}

// notByOrganization says why nobody was signed in at the provider, and how to go on.
func (p *pages) notByOrganization(w http.ResponseWriter, r *http.Request, err error) {
	t, name := p.Reader(r), p.options.Organization.Name
	f := fault.From(err)
	reason, _ := f.Data["reason"].(string)
	m := web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("account_organization_failed"), Text: t.T("account_organization_failed_text", "name", name),
		Link: t.T("account_sign_in"), LinkURL: in(t, sso.SignInPath)}
	switch {
	case name == "":
		m = web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text"), Link: m.Link, LinkURL: m.LinkURL}
	case f.Status == http.StatusTooManyRequests:
		m.Text, _, _ = p.refusal(w, r, err)
	case f.Status >= http.StatusInternalServerError:
		m.Icon, m.Title, m.Text = "rotate-cw", t.T("account_organization_down", "name", name), t.T("account_organization_down_text", "name", name)
		m.Link, m.LinkURL = t.T("account_organization_password"), in(t, sso.SignInPath)+mark(t)+"password=1"
	case reason == "no_role":
		m.Icon, m.Title, m.Text = "lock", t.T("account_organization_nobody"), t.T("account_organization_nobody_text", "name", name, "business", p.Business().Name)
	case reason == "account_taken":
		m.Icon, m.Title, m.Text = "lock", t.T("account_organization_nobody"), t.T("account_organization_taken_text", "name", name, "business", p.Business().Name)
	case reason == "other_account":
		m.Text = t.T("account_organization_other_text", "name", name)
	case reason == "not_fresh":
		m.Text = t.T("account_organization_stale_text", "name", name)
	}
	w.Header().Set("Cache-Control", "no-store")
	p.Message(w, r, f.Status, m)
}

// mark is what stands before one more name of a query behind in.
func mark(t *web.Reader) string {
	if t.Chosen == "" {
		return "?"
	}
	return "&"
}

// endAtOrganization takes a logout token of the provider: 200 when it was taken, 400 for one that is not good.
func (p *pages) endAtOrganization(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := p.Call(r, http.MethodPost, "/auth/organization/logout", nil, map[string]string{"logout_token": r.PostFormValue("logout_token")}, "", nil)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	switch f := fault.From(err); {
	case err == nil:
		_, _ = w.Write([]byte("{}\n"))
	case f.Status == http.StatusBadRequest:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_request","error_description":"The logout token is not good."}` + "\n"))
	default:
		w.WriteHeader(f.Status)
		_, _ = w.Write(f.Body(""))
	}
}

// leaveOrganization leads a browser that has signed out here to the sign-out at the provider, if it signed in there. Without a message it
// redirects. It reports whether it has answered.
func (p *pages) leaveOrganization(w http.ResponseWriter, r *http.Request, message bool) bool {
	room := p.options.Organization.Room
	if room == nil {
		return false
	}
	to, gone := room.Leave(r.Context(), r)
	if gone != nil {
		http.SetCookie(w, gone)
	}
	if to == "" {
		return false
	}
	if !message {
		p.leadOn(w, r, to)
		return true
	}
	t, name := p.Reader(r), p.options.Organization.Name
	// A page, because the policy of pages lets their forms lead nowhere else.
	w.Header().Set("Refresh", "0; url="+to)
	p.Message(w, r, http.StatusOK, web.Message{Icon: "log-out", Tone: "soft", Title: t.T("account_signed_out"),
		Text: t.T("account_organization_out_text", "name", name), Link: t.T("account_organization_out", "name", name), LinkURL: to})
	return true
}

// showSignedOut is where the portal leads who has signed out: on to the provider, else to the page to sign in. Who is still signed in gets to their account.
func (p *pages) showSignedOut(w http.ResponseWriter, r *http.Request) {
	t := p.Reader(r)
	if _, err := p.signedIn(w, r); err == nil {
		p.leadOn(w, r, in(t, accountPath))
		return
	}
	if !p.leaveOrganization(w, r, false) {
		p.leadOn(w, r, in(t, sso.SignInPath))
	}
}

// Ways are how the page says that the person signs in.
func (a account) Ways(password string) string {
	var all []string
	for _, way := range a.SignsInBy {
		if way == "organization" {
			all = append(all, a.Organization)
		} else {
			all = append(all, password)
		}
	}
	return strings.Join(all, ", ")
}
