package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

const passkeysPath = "/account/passkeys"

// challenge is what the page's script hands to the browser, and what goes back with the answer.
type challenge struct {
	State     string          `json:"state"`
	PublicKey json.RawMessage `json:"public_key"`
}

// Options are the browser's options as an attribute of the page.
func (c *challenge) Options() string { return string(c.PublicKey) }

// passkeyAnswer is the answer of the browser in a form that was sent; nil without one.
func passkeyAnswer(r *http.Request) map[string]any {
	credential := r.PostFormValue("passkey")
	if credential == "" {
		return nil
	}
	return map[string]any{"state": r.PostFormValue("state"), "credential": json.RawMessage(credential)}
}

// signInChallenge is a challenge for signing in. Without one, for whatever reason, the page offers no passkey.
func (p *pages) signInChallenge(r *http.Request) *challenge {
	c := &challenge{}
	if err := p.Call(r, http.MethodPost, "/auth/login/options", nil, nil, "", c); err != nil {
		return nil
	}
	return c
}

// passkeys is the data of the page about a person's passkeys.
type passkeys struct {
	Passkeys  []passkey
	Challenge *challenge
	Name      string
	Problem   string
}

type passkey struct {
	ID, Name   string
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
}

func (p *pages) showPasskeys(w http.ResponseWriter, r *http.Request) {
	p.passkeys(w, r, http.StatusOK, "")
}

func (p *pages) passkeys(w http.ResponseWriter, r *http.Request, status int, problem string) {
	here := keeping(r, passkeysPath, "name")
	if _, ok := p.withAccount(w, r, here); !ok {
		return
	}
	var list struct{ Items []passkey }
	c := &challenge{}
	err := p.CallAs(w, r, http.MethodGet, "/auth/passkeys", nil, &list)
	if err == nil {
		err = p.CallAs(w, r, http.MethodPost, "/auth/passkeys/options", nil, c)
	}
	t := p.Reader(r)
	if passwordRequired(err) {
		p.askPassword(w, r, http.StatusOK, typed{Next: here})
		return
	}
	if err != nil && problem == "" {
		problem, status, _ = p.refusal(w, r, err)
	}
	p.Render(w, r, status, "passkeys", web.Page{Title: t.T("account_passkeys"), Narrow: true, Scripts: []string{"account.js"}, Alternate: languages(r),
		Data: passkeys{list.Items, c, r.FormValue("name"), problem}})
}

// changePasskeys adds the passkey that the browser has made, or removes one. One that is gone already is no error.
func (p *pages) changePasskeys(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	t := p.Reader(r)
	var err error
	if answer := passkeyAnswer(r); answer != nil {
		answer["name"] = r.PostFormValue("name")
		err = p.CallAs(w, r, http.MethodPost, "/auth/passkeys", answer, nil)
	} else if id := r.PostFormValue("remove"); id != "" {
		err = p.CallAs(w, r, http.MethodDelete, "/auth/passkeys/"+url.PathEscape(id), nil, nil)
		if err != nil && fault.From(err).Status == http.StatusNotFound {
			err = nil
		}
	}
	switch {
	case err == nil:
		p.leadOn(w, r, in(t, passkeysPath))
	case passwordRequired(err), fault.From(err).Status == http.StatusUnauthorized:
		p.leadOn(w, r, keeping(r, passkeysPath, "name"))
	default:
		problem, status, wrong := p.refusal(w, r, err)
		if wrong {
			problem = t.T("account_passkey_wrong")
		}
		p.passkeys(w, r, status, problem)
	}
}
