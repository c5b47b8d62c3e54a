// Package organization serves the pages around a sign-in at the organization's provider: why there was none, and the sign-out there.
package organization

import (
	"net/http"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/services/settings/internal/sso"
)

// Options are what the provider is to the pages.
type Options struct {
	// Name is what people call it; empty where none is set up.
	Name string
	// Only is true where passwords let in only the first administrator.
	Only bool
	// Room knows the sign-out there.
	Room *sso.Room
}

// Pages are these pages.
type Pages struct {
	*web.UI
	Options
}

// maxForm in bytes.
const maxForm = 64 << 10

// Refused says why nobody was signed in at the provider, and how to go on.
func (p Pages) Refused(w http.ResponseWriter, r *http.Request, err error) {
	t, name := p.Reader(r), p.Name
	f := fault.From(err)
	reason, _ := f.Data["reason"].(string)
	m := web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("account_organization_failed"), Text: t.T("account_organization_failed_text", "name", name),
		Link: t.T("account_sign_in"), LinkURL: in(t, sso.SignInPath)}
	switch {
	case name == "":
		m = web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text"), Link: m.Link, LinkURL: m.LinkURL}
	case f.Status == http.StatusTooManyRequests:
		m.Text = t.T("account_limited", "wait", t.Wait(web.Wait(f)))
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

// EndSessions takes a logout token of the provider: 200 when it was taken, 400 for one that is not good.
func (p Pages) EndSessions(w http.ResponseWriter, r *http.Request) {
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

// Leave leads a browser that has signed out here to the sign-out at the provider, if it signed in there. Without a message it
// redirects. It reports whether it has answered.
func (p Pages) Leave(w http.ResponseWriter, r *http.Request, message bool) bool {
	if p.Room == nil {
		return false
	}
	to, gone := p.Room.Leave(r.Context(), r)
	if gone != nil {
		http.SetCookie(w, gone)
	}
	if to == "" {
		return false
	}
	if !message {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // the room makes it of the provider that the operator has set
		return true
	}
	t, name := p.Reader(r), p.Name
	// A page, because the policy of pages lets their forms lead nowhere else.
	w.Header().Set("Refresh", "0; url="+to)
	p.Message(w, r, http.StatusOK, web.Message{Icon: "log-out", Tone: "soft", Title: t.T("account_signed_out"),
		Text: t.T("account_organization_out_text", "name", name), Link: t.T("account_organization_out", "name", name), LinkURL: to})
	return true
}

// mark is what stands before one more name of a query behind in.
func mark(t *web.Reader) string {
	if t.Chosen == "" {
		return "?"
	}
	return "&"
}

// in adds the chosen language to an address of ours without a query.
func in(t *web.Reader, address string) string {
	if t.Chosen == "" {
		return address
	}
	return address + "?lang=" + t.Chosen
}
