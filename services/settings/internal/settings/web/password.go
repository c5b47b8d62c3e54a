package web

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

// chosen is the data of the pages on which a password is chosen or asked for.
type chosen struct {
	Email, EmailWrong      string
	Token, TokenWrong      string
	PasswordWrong, Problem string
	Resetting              bool
	// EndKeys ends application passwords and passkeys with the old password.
	EndKeys bool
	// Known is true for a person who is signed in.
	Known bool
}

func (p *pages) showInvitation(w http.ResponseWriter, r *http.Request) {
	p.invitation(w, r, http.StatusOK, chosen{})
}

func (p *pages) invitation(w http.ResponseWriter, r *http.Request, status int, c chosen) {
	t := p.Reader(r)
	p.Render(w, r, status, "invitation", web.Page{Title: t.T("account_welcome", "business", p.Business().Name), Narrow: true,
		Scripts: []string{"account.js"}, Alternate: languages(r), Data: c})
}

func (p *pages) accept(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	var accepted struct{ Login string }
	c := chosen{}
	err := p.choose(r, "/auth/invitation", nil, &c, &accepted)
	t := p.Reader(r)
	if err == nil {
		p.Message(w, r, http.StatusOK, web.Message{Icon: "check", Tone: "good", Title: t.T("account_accepted"),
			Text: t.T("account_accepted_text", "login", accepted.Login), Link: t.T("account_sign_in"), LinkURL: in(t, "/account/sign-in")})
		return
	}
	if fault.From(err).Status == http.StatusGone {
		p.Message(w, r, http.StatusGone, web.Message{Icon: "link-2-off", Tone: "soft", Title: t.T("account_gone"),
			Text: t.T("account_gone_invitation"), Link: t.T("account_sign_in"), LinkURL: in(t, "/account/sign-in")})
		return
	}
	status := p.explain(w, r, err, &c)
	p.invitation(w, r, status, c)
}

// choose sends the form's token and password to an operation, with what else it takes, and decodes its answer into out. c gets
// what the form has to show again.
func (p *pages) choose(r *http.Request, path string, more map[string]any, c *chosen, out any) error {
	c.Token = tokenIn(r.PostFormValue("token"))
	switch {
	case len([]rune(r.PostFormValue("password"))) < 8:
		return fault.Invalid("password", fault.TooShort(8))
	case c.Token == "" || len(c.Token) > 200:
		return fault.InvalidToken("")
	}
	body := map[string]any{"token": c.Token, "password": r.PostFormValue("password")}
	maps.Copy(body, more)
	return p.Call(r, http.MethodPost, path, nil, body, "", out)
}

// explain puts a refusal beside the field it is about, and is the status to answer with.
func (p *pages) explain(w http.ResponseWriter, r *http.Request, err error, c *chosen) int {
	t := p.Reader(r)
	problem, status, wrong := p.refusal(w, r, err)
	switch f := fault.From(err); {
	case !wrong:
		c.Problem = problem
	case f.Code == "svc_invalid_token":
		c.TokenWrong = t.T("account_code_wrong")
	case web.Problems(f)["password"].Code == "common":
		c.PasswordWrong = t.T("account_common")
	default:
		c.PasswordWrong = t.T("account_short")
	}
	return status
}

func (p *pages) showPassword(w http.ResponseWriter, r *http.Request) {
	who, err := p.signedIn(w, r)
	p.forgotten(w, r, http.StatusOK, chosen{Email: who.Email, Known: err == nil})
}

func (p *pages) forgotten(w http.ResponseWriter, r *http.Request, status int, c chosen) {
	t := p.Reader(r)
	title := t.T("account_forgot")
	switch {
	case c.Resetting:
		title = t.T("account_reset")
	case c.Known:
		title = t.T("account_change_password")
	}
	p.Render(w, r, status, "password", web.Page{Title: title, Narrow: true, Scripts: []string{"account.js"}, Alternate: languages(r), Data: c})
}

func (p *pages) password(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.PostFormValue("step") == "reset" {
		p.reset(w, r)
		return
	}
	p.forgot(w, r)
}

func (p *pages) forgot(w http.ResponseWriter, r *http.Request) {
	t := p.Reader(r)
	c := chosen{Email: strings.TrimSpace(r.PostFormValue("email"))}
	if at := strings.IndexByte(c.Email, '@'); at < 1 || at == len(c.Email)-1 || len(c.Email) > 190 {
		c.EmailWrong = t.T("account_email_wrong")
		p.forgotten(w, r, http.StatusUnprocessableEntity, c)
		return
	}
	err := p.Call(r, http.MethodPost, "/auth/password/forgot", nil, map[string]string{"email": c.Email}, "", nil)
	if err == nil {
		p.Message(w, r, http.StatusOK, web.Message{Icon: "mail-check", Tone: "good", Title: t.T("account_sent"),
			Text: t.T("account_sent_text", "email", c.Email)})
		return
	}
	problem, status, wrong := p.refusal(w, r, err)
	if c.Problem = problem; wrong {
		c.EmailWrong = t.T("account_email_wrong")
	}
	p.forgotten(w, r, status, c)
}

func (p *pages) reset(w http.ResponseWriter, r *http.Request) {
	c := chosen{Resetting: true, EndKeys: r.PostFormValue("end_keys") != ""}
	err := p.choose(r, "/auth/password/reset", map[string]any{"end_keys": c.EndKeys}, &c, nil)
	t := p.Reader(r)
	if err == nil {
		p.Message(w, r, http.StatusOK, web.Message{Icon: "check", Tone: "good", Title: t.T("account_saved"),
			Text: t.T("account_saved_text"), Link: t.T("account_sign_in"), LinkURL: in(t, "/account/sign-in")})
		return
	}
	if fault.From(err).Status == http.StatusGone {
		p.Message(w, r, http.StatusGone, web.Message{Icon: "link-2-off", Tone: "soft", Title: t.T("account_gone"),
			Text: t.T("account_gone_password"), Link: t.T("account_new_link"), LinkURL: in(t, "/account/password")})
		return
	}
	status := p.explain(w, r, err, &c)
	p.forgotten(w, r, status, c)
}

// tokenIn finds the token in pasted text: the token itself, or a link with it.
func tokenIn(text string) string {
	text = strings.TrimSpace(text)
	if _, after, ok := strings.Cut(text, "token="); ok {
		text, _, _ = strings.Cut(after, "&")
		if plain, err := url.QueryUnescape(text); err == nil {
			text = plain
		}
	}
	return strings.TrimSpace(text)
}
