package web

import (
	"net/http"
	"net/url"
	"time"

	"frontdesk/libs/web"
)

const accessPath = "/account/access"

// access is the data of the page about a person's browsers.
type access struct {
	Sessions []openSession
	Problem  string
}

type openSession struct {
	ID, Browser, Address string
	SeenAt               time.Time `json:"seen_at"`
	Current              bool
}

func (p *pages) showAccess(w http.ResponseWriter, r *http.Request) { p.access(w, r, http.StatusOK, "") }

func (p *pages) access(w http.ResponseWriter, r *http.Request, status int, problem string) {
	if _, ok := p.withAccount(w, r, accessPath); !ok {
		return
	}
	var sessions struct{ Items []openSession }
	if err := p.CallAs(w, r, http.MethodGet, "/auth/sessions", nil, &sessions); err != nil && problem == "" {
		problem, status, _ = p.refusal(w, r, err)
	}
	p.Render(w, r, status, "access", web.Page{Title: p.Reader(r).T("account_access"), Narrow: true, Alternate: languages(r),
		Data: access{sessions.Items, problem}})
}

// endAccess signs a browser out, or all but this one. One that is gone already is no error.
func (p *pages) endAccess(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	others := r.PostFormValue("others") != ""
	ids := r.PostForm["session"]
	if others {
		var sessions struct{ Items []openSession }
		if err := p.CallAs(w, r, http.MethodGet, "/auth/sessions", nil, &sessions); err != nil {
			problem, status, _ := p.refusal(w, r, err)
			p.access(w, r, status, problem)
			return
		}
		for _, s := range sessions.Items {
			if !s.Current {
				ids = append(ids, s.ID)
			}
		}
	}
	for _, id := range ids {
		if err := p.CallAs(w, r, http.MethodDelete, "/auth/sessions/"+url.PathEscape(id), nil, nil); err != nil && !isGone(err) {
			problem, status, _ := p.refusal(w, r, err)
			p.access(w, r, status, problem)
			return
		}
	}
	p.leadOn(w, r, in(p.Reader(r), accessPath))
}
