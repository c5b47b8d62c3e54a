// Package web holds the pages behind the links in marketing mails: /marketing/confirm and /marketing/unsubscribe. Opening
// one changes nothing, for mail scanners open links; its button acts, as often as it is pressed.
package web

import (
	"embed"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/proto"
)

//go:embed all:page all:dist
var folder embed.FS

const maxForm = 64 << 10

// Paths are where Pages serves.
var Paths = []*proto.Page{{Path: "/marketing/confirm"}, {Path: "/marketing/unsubscribe"}, {Path: "/_ui/contacts/"}}

type pages struct{ *web.UI }

// What the two pages do.
const (
	confirm     = "confirm"
	unsubscribe = "unsubscribe"
)

// form is what the page shows around its button.
type form struct {
	Kind, Icon, Action string
	Token              string
	// Wrong is said of the token, Problem of anything else.
	Wrong, Problem string
}

// Pages serves them.
func Pages(site web.Site) http.Handler {
	p := &pages{web.New("contacts", site, folder)}
	mux := http.NewServeMux()
	for _, kind := range []string{confirm, unsubscribe} {
		mux.HandleFunc("GET /marketing/"+kind, func(w http.ResponseWriter, r *http.Request) {
			p.show(w, r, http.StatusOK, form{Kind: kind, Token: tokenIn(r.URL.Query().Get("token"))})
		})
		mux.HandleFunc("POST /marketing/"+kind, func(w http.ResponseWriter, r *http.Request) { p.act(w, r, kind) })
	}
	mux.Handle("/_ui/contacts/", p.Assets())
	mux.HandleFunc("/", p.Elsewhere(mux))
	return mux
}

func (p *pages) show(w http.ResponseWriter, r *http.Request, status int, f form) {
	t := p.Reader(r)
	f.Icon, f.Action = "mail-check", r.URL.Path
	if f.Kind == unsubscribe {
		f.Icon = "mail-x"
	}
	page := web.Page{Title: t.T("marketing_" + f.Kind + "_title"), Narrow: true, Data: f}
	if f.Token == "" || f.Wrong != "" {
		page.Scripts = []string{"mail-link.js"}
	}
	if r.Method == http.MethodGet {
		q := r.URL.Query()
		page.Alternate = func(language string) string {
			q.Set("lang", language)
			return r.URL.Path + "?" + q.Encode()
		}
	}
	p.Render(w, r, status, "marketing", page)
}

// act does what the page is for. The token comes with the form, or in the address when a mail program unsubscribes its
// user with one click (RFC 8058).
func (p *pages) act(w http.ResponseWriter, r *http.Request, kind string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	token := tokenIn(r.FormValue("token"))
	err := error(fault.InvalidToken(""))
	if token != "" && len(token) <= 200 {
		err = p.Call(r, http.MethodPost, "/marketing/"+kind, nil, map[string]string{"token": token}, "", nil)
	}
	t, business := p.Reader(r), p.Business().Name
	if err == nil {
		icon := map[string]string{confirm: "mail-check", unsubscribe: "check"}[kind]
		p.Message(w, r, http.StatusOK, web.Message{Icon: icon, Tone: "good",
			Title: t.T("marketing_" + kind + "_done"), Text: t.T("marketing_"+kind+"_done_text", "business", business)})
		return
	}
	f := form{Kind: kind, Token: token}
	switch refused := fault.From(err); {
	case refused.Status == http.StatusGone:
		p.Message(w, r, refused.Status, web.Message{Icon: "link-2-off", Tone: "soft",
			Title: t.T("marketing_gone_title"), Text: t.T("marketing_gone_text", "business", business)})
	case refused.Status == http.StatusTooManyRequests:
		wait := web.Wait(refused)
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		f.Problem = t.T("marketing_limited", "wait", t.Wait(wait))
		p.show(w, r, refused.Status, f)
	case refused.Status < 500:
		f.Wrong = t.T("marketing_code_wrong")
		p.show(w, r, http.StatusBadRequest, f)
	default:
		f.Problem = t.T("marketing_failed")
		p.show(w, r, refused.Status, f)
	}
}

// tokenIn finds the token in what a person pasted: itself, or a link with it.
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
