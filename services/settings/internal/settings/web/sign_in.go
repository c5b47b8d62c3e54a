package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/services/settings/internal/organization"
	"frontdesk/services/settings/internal/portal"
	"frontdesk/services/settings/internal/sso"
)

// step is the data of the two pages of signing in.
type step struct {
	Login, Next string
	Problem     string
	// Ticket is the input of the first step, encrypted.
	Ticket, CodeWrong, Back string
	// Challenge is what a passkey answers; nil for none.
	Challenge *challenge
	// Organization is where people sign in besides, and ByPassword whether the page asks for a password too.
	Organization organization.Options
	ByPassword   bool
}

// ticket is the input of the first step. It travels through the browser to the second, encrypted.
type ticket struct {
	Login, Password string
	// Organization is the ticket of a sign-in at the provider, in place of login and password.
	Organization string
	At           time.Time
}

const ticketLife = 5 * time.Minute

func (p *pages) showSignIn(w http.ResponseWriter, r *http.Request) {
	if who, err := p.signedIn(w, r); err == nil {
		next := p.next(r)
		if who.TwoFactorMissing {
			// Every other page would refuse this session; the account page says what is missing.
			next = in(p.Reader(r), accountPath)
		}
		p.leadOn(w, r, next)
		return
	}
	p.firstStep(w, r, http.StatusOK, step{})
}

func (p *pages) firstStep(w http.ResponseWriter, r *http.Request, status int, s step) {
	s.Next, s.Organization = p.next(r), p.options.Organization
	s.ByPassword = !s.Organization.Only || r.Method == http.MethodPost || r.FormValue("password") != ""
	if s.ByPassword {
		s.Challenge = p.signInChallenge(r)
	}
	p.Render(w, r, status, "signin", web.Page{Title: p.Reader(r).T("account_sign_in"), Narrow: true, Scripts: []string{"account.js"},
		Alternate: languages(r), Data: s})
}

func (p *pages) secondStep(w http.ResponseWriter, r *http.Request, status int, s step) {
	t := p.Reader(r)
	s.Next, s.Challenge = p.next(r), p.signInChallenge(r)
	back := url.Values{"next": {s.Next}}
	if t.Chosen != "" {
		back.Set("lang", t.Chosen)
	}
	s.Back = back.Encode()
	p.Render(w, r, status, "code", web.Page{Title: t.T("account_second"), Narrow: true, Scripts: []string{"account.js"}, Data: s})
}

// next is the address to go to after signing in: the one that was asked for if it is of this site, else the account page.
func (p *pages) next(r *http.Request) string {
	if next := sso.Path(r.FormValue("next")); next != accountPath {
		return next
	}
	return in(p.Reader(r), accountPath)
}

func (p *pages) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	typed := ticket{Login: strings.TrimSpace(r.FormValue("login")), Password: r.PostFormValue("password"), At: p.options.Now()}
	sealed := r.PostFormValue("ticket")
	code := strings.TrimSpace(r.PostFormValue("code"))
	if sealed != "" {
		if typed = (ticket{}); !p.unseal(sealed, &typed) || p.options.Now().Sub(typed.At) > ticketLife {
			p.firstStep(w, r, http.StatusUnprocessableEntity, step{Problem: p.Reader(r).T("account_late")})
			return
		}
	}
	next := p.next(r)
	call := map[string]any{"portal": portal.InPortal(p.Site, r, next)}
	passkey, path := passkeyAnswer(r), "/auth/login"
	switch {
	case typed.Organization != "":
		call, path = map[string]any{"ticket": typed.Organization, "code": code}, "/auth/login/organization/code"
		if passkey != nil {
			call["passkey"] = passkey
		}
	case passkey != nil && sealed == "":
		call["state"], call["credential"], path = passkey["state"], passkey["credential"], "/auth/login/passkey"
	case passkey != nil:
		call["login"], call["password"], call["passkey"] = typed.Login, typed.Password, passkey
	default:
		call["login"], call["password"], call["code"] = typed.Login, typed.Password, code
	}
	err := p.CallFor(w, r, http.MethodPost, path, call, nil)
	if err == nil {
		p.settle(w, r)
		p.leadOn(w, r, next)
		return
	}
	t := p.Reader(r)
	if f := fault.From(err); f.Code == "svc_two_factor_required" {
		p.secondStep(w, r, http.StatusOK, step{Ticket: p.seal(typed)})
		return
	}
	problem, status, wrong := p.refusal(w, r, err)
	switch {
	case wrong && passkey != nil && sealed != "":
		p.secondStep(w, r, status, step{Ticket: sealed, Problem: t.T("account_passkey_wrong")})
	case wrong && passkey != nil:
		p.firstStep(w, r, status, step{Problem: t.T("account_passkey_wrong")})
	case sealed != "" && wrong && code != "":
		p.secondStep(w, r, status, step{Ticket: sealed, CodeWrong: t.T("account_second_wrong")})
	case sealed != "":
		p.secondStep(w, r, status, step{Ticket: sealed, Problem: problem})
	case wrong:
		p.firstStep(w, r, status, step{Login: typed.Login, Problem: t.T("account_wrong")})
	default:
		p.firstStep(w, r, status, step{Login: typed.Login, Problem: problem})
	}
}

// settle waits until the session that an answer sets has reached this process, so that the next page does not ask to sign in
// once more.
func (p *pages) settle(w http.ResponseWriter, r *http.Request) {
	again := r.Clone(r.Context())
	again.Header.Del("Cookie")
	for _, c := range (&http.Response{Header: w.Header()}).Cookies() {
		again.AddCookie(c)
	}
	for range 5 {
		if _, err := p.signedIn(w, again); err == nil || fault.From(err).Status != http.StatusUnauthorized {
			return
		}
	}
}

// seal encrypts a value that travels through the browser to the next step; unseal reads it again.
func (p *pages) seal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and a time always encode
	}
	return base64.RawURLEncoding.EncodeToString(p.options.Seal(raw))
}

func (p *pages) unseal(sealed string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil {
		raw, err = p.options.Open(raw)
	}
	return err == nil && json.Unmarshal(raw, into) == nil
}
