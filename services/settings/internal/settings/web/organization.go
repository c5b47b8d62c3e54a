package web

import (
	"net/http"
	"net/url"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/services/settings/internal/portal"
	"frontdesk/services/settings/internal/sso"
)

// organizationPath sends a browser to the organization's provider.
const organizationPath = "/account/organization"

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
		p.organization.Refused(w, r, err)
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
		p.organization.Refused(w, r, err)
		return
	}
	p.settle(w, r)
	p.leadOn(w, r, in.Next)
}

// showSignedOut is where the portal leads who has signed out: on to the provider, else to the page to sign in. Who is still signed in gets to their account.
func (p *pages) showSignedOut(w http.ResponseWriter, r *http.Request) {
	t := p.Reader(r)
	if _, err := p.signedIn(w, r); err == nil {
		p.leadOn(w, r, in(t, accountPath))
		return
	}
	if !p.organization.Leave(w, r, false) {
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
