package web

import (
	"net/http"
	"net/url"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

const confirmPath = "/account/confirm"

// typed is the data of the page that asks for the password once more.
type typed struct {
	Login, Next string
	// HasPassword asks for it, and Organization for a sign-in at the provider; empty for none.
	HasPassword  bool
	Organization string
	confirmation
}

// confirmation is what a page says about the password that it asked for once more: at the field, or about the whole.
type confirmation struct{ PasswordWrong, Problem string }

// confirmPassword confirms the password of the form that was sent. With an error come the status of the page and what it says.
func (p *pages) confirmPassword(w http.ResponseWriter, r *http.Request) (c confirmation, status int, err error) {
	err = p.CallAs(w, r, http.MethodPost, "/auth/confirm", map[string]string{"password": r.PostFormValue("password")}, nil)
	if err == nil {
		return c, http.StatusOK, nil
	}
	problem, status, wrong := p.refusal(w, r, err)
	if c.Problem = problem; wrong {
		c.PasswordWrong = p.Reader(r).T("account_confirm_wrong")
	}
	return c, status, err
}

// passwordRequired reports whether the API wants the password once more before it does what was asked.
func passwordRequired(err error) bool {
	return err != nil && fault.From(err).Code == "svc_password_required"
}

// noPassword reports whether the person at the session has no password to ask for, only the account at the provider.
func (p *pages) noPassword(w http.ResponseWriter, r *http.Request) bool {
	who, err := p.signedIn(w, r)
	return err == nil && !who.HasPassword()
}

// keeping is the address of a page with what was typed there under these names: signing in once more on the way loses none of it.
func keeping(r *http.Request, path string, names ...string) string {
	_ = r.ParseForm() // what cannot be read is not kept
	q := url.Values{}
	for _, name := range append(names, "lang") {
		if v := r.Form[name]; len(v) > 0 && v[0] != "" {
			q[name] = v
		}
	}
	return strings.TrimSuffix(path+"?"+q.Encode(), "?")
}

// askPassword asks for the password, or for a sign-in at the provider, and then leads to next, a path of this site.
func (p *pages) askPassword(w http.ResponseWriter, r *http.Request, status int, c typed) {
	who, ok := p.withAccount(w, r, accountPath)
	if !ok {
		return
	}
	c.Login, c.HasPassword = who.Login, who.HasPassword()
	if who.byOrganization() {
		c.Organization = p.options.Organization.Name
	}
	p.Render(w, r, status, "confirm", web.Page{Title: p.Reader(r).T("account_confirm"), Narrow: true, Scripts: []string{"account.js"}, Data: c})
}

func (p *pages) confirm(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := typed{Next: p.next(r)}
	var status int
	var err error
	switch c.confirmation, status, err = p.confirmPassword(w, r); {
	case err == nil:
		p.leadOn(w, r, c.Next)
	case fault.From(err).Status == http.StatusUnauthorized:
		p.leadOn(w, r, p.signInFor(r, c.Next))
	default:
		p.askPassword(w, r, status, c)
	}
}
