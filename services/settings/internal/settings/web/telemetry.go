package web

import (
	"net/http"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

// linked is the data of a page that takes the token of a mail and nothing else.
type linked struct{ Token, TokenWrong, Problem string }

func (p *pages) showTelemetry(w http.ResponseWriter, r *http.Request) {
	p.telemetry(w, r, http.StatusOK, linked{})
}

func (p *pages) telemetry(w http.ResponseWriter, r *http.Request, status int, l linked) {
	p.Render(w, r, status, "telemetry", web.Page{Title: p.Reader(r).T("account_telemetry"), Narrow: true, Scripts: []string{"account.js"},
		Alternate: languages(r), Data: l})
}

func (p *pages) confirmTelemetry(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	l := linked{Token: tokenIn(r.PostFormValue("token"))}
	err := error(fault.InvalidToken(""))
	if l.Token != "" && len(l.Token) <= 200 {
		err = p.Call(r, http.MethodPost, "/settings/telemetry/confirm", nil, map[string]string{"token": l.Token}, "", nil)
	}
	t := p.Reader(r)
	if err == nil {
		p.Message(w, r, http.StatusOK, web.Message{Icon: "mail-check", Tone: "good", Title: t.T("account_telemetry_done"), Text: t.T("account_telemetry_done_text")})
		return
	}
	if fault.From(err).Status == http.StatusGone {
		p.Message(w, r, http.StatusGone, web.Message{Icon: "link-2-off", Tone: "soft", Title: t.T("account_gone"), Text: t.T("account_gone_telemetry")})
		return
	}
	problem, status, wrong := p.refusal(w, r, err)
	if l.Problem = problem; wrong {
		l.TokenWrong = t.T("account_code_wrong")
	}
	p.telemetry(w, r, status, l)
}
