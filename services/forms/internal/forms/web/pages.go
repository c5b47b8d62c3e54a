package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

//go:embed all:page all:dist
var folder embed.FS

const (
	app = "forms"
	// maxForm bounds a form as browsers send it, somewhat above what the operation takes as JSON.
	maxForm = 256 << 10
)

// Form is a published form with a fresh time token, or a draft without one.
type Form struct {
	ID         int64
	Name       string
	Definition definition.Definition
	Questions  []form.Question
	Token      string
}

// Source finds a published form; its error is a fault.
type Source func(ctx context.Context, id int64) (Form, error)

// Paths are where Pages serves.
var Paths = []*proto.Page{{Path: "/f/{id}", App: app}, {Path: "/_ui/forms/"}}

// Widget renders forms as their widget shows them.
type Widget struct {
	*web.UI
	template *template.Template
}

// NewWidget makes a Widget for a site, whose API may be nil.
func NewWidget(site web.Site) *Widget {
	return &Widget{web.New(app, site, folder),
		template.Must(web.Parts().ParseFS(folder, "page/_form.html"))}
}

// Fragment is what the widget shows.
type Fragment struct {
	HTML string         `json:"html" doc:"The form, for a shadow root with the widget's style sheet."`
	Site web.WidgetSite `json:"site" doc:"The style to apply to it, and the business."`
}

// Fragment renders a form for a reader.
func (s *Widget) Fragment(t *web.Reader, f Form) (Fragment, error) {
	var b bytes.Buffer
	if err := s.template.ExecuteTemplate(&b, "widget", s.view(t, f, nil, nil)); err != nil {
		return Fragment{}, fmt.Errorf("render form %d: %w", f.ID, err)
	}
	return Fragment{b.String(), s.WidgetSite(f.Definition.Style)}, nil
}

func (s *Widget) view(t *web.Reader, f Form, kept url.Values, wrong map[string]fault.Problem) view {
	v := view{Form: f, Reader: t, Fields: t.Fields(f.Questions, kept, wrong)}
	v.Action = address(f, t, nil)
	v.Look, v.Words = s.Look(f.Definition.Style), words(t)
	return v
}

type pages struct {
	*Widget
	form Source
}

// Pages serves the forms that source finds, and sends what visitors fill in to api.
func (s *Widget) Pages(api http.Handler, source Source) http.Handler {
	ui := *s.UI
	ui.API = api
	p := &pages{&Widget{&ui, s.template}, source}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /f/{id}", p.whileOn(p.show))
	mux.HandleFunc("POST /f/{id}", p.whileOn(p.send))
	mux.HandleFunc("GET /_ui/forms/form/{id}", p.whileOn(p.fragment))
	mux.Handle("/_ui/forms/", p.Assets())
	mux.HandleFunc("/", p.Elsewhere(mux))
	return mux
}

// whileOn serves a page while the app is on. The script of the widget stays, so that it can say that the form is gone.
func (p *pages) whileOn(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.On(app) {
			p.NotFound(w, r)
			return
		}
		serve(w, r)
	}
}

// find reads the form of the request's path. If there is no such form, find answers the request and returns false.
func (p *pages) find(w http.ResponseWriter, r *http.Request) (Form, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		var f Form
		if f, err = p.form(r.Context(), id); err == nil {
			return f, true
		}
		if refused := fault.From(err); refused.Status != http.StatusNotFound {
			slog.ErrorContext(r.Context(), "form cannot be shown", "form", id, "error", err)
			t := p.Reader(r)
			p.Message(w, r, refused.Status, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text")})
			return f, false
		}
	}
	p.NotFound(w, r)
	return Form{}, false
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	f, ok := p.find(w, r)
	if !ok {
		return
	}
	if r.URL.Query().Has("sent") {
		p.sent(w, r, f)
		return
	}
	v := p.view(p.Reader(r), f, nil, nil)
	v.Page = p.PublicURL + r.URL.Path
	p.render(w, r, http.StatusOK, v)
}

func (p *pages) render(w http.ResponseWriter, r *http.Request, status int, v view) {
	v = v.titled()
	page := web.Page{Title: v.Title, Narrow: true, Style: v.Definition.Style, Scripts: []string{"page.js"}, Canonical: p.PublicURL + r.URL.Path, Description: v.T("description", "business", p.Business().Name), About: p.Place(), Data: v}
	page.Alternate = func(language string) string { return r.URL.Path + "?lang=" + language }
	p.Render(w, r, status, "form", page)
}

// address is the form's own, in the language that the visitor chose, with more in its query.
func address(f Form, t *web.Reader, more url.Values) string {
	q := url.Values{}
	maps.Copy(q, more)
	if t.Chosen != "" {
		q.Set("lang", t.Chosen)
	}
	a := "/f/" + strconv.FormatInt(f.ID, 10)
	if len(q) > 0 {
		a += "?" + q.Encode()
	}
	return a
}

// send submits a form for a browser without script. A refusal shows the form again, with all that was typed.
func (p *pages) send(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	parsed := r.ParseForm()
	f, ok := p.find(w, r)
	if !ok {
		return
	}
	values := web.Answers(f.Questions, r.PostForm)
	in := map[string]any{"values": values, "token": r.PostFormValue("token"), "hp_url": r.PostFormValue("hp_url"), "page": r.PostFormValue("page"), "language": p.Reader(r).Language}
	err := p.Call(r, http.MethodPost, "/forms/"+strconv.FormatInt(f.ID, 10)+"/submit", nil, in, r.PostFormValue("key"), nil)
	if _, large := errors.AsType[*http.MaxBytesError](parsed); large {
		err = fault.TooLarge(maxForm)
	}
	if err == nil {
		http.Redirect(w, r, address(f, p.Reader(r), url.Values{"sent": {"1"}}), http.StatusSeeOther)
		return
	}
	refused := fault.From(err)
	if refused.Status == http.StatusNotFound {
		p.NotFound(w, r)
		return
	}
	since := consents(!web.WordsChanged(r.PostFormValue("token"), f.Token))
	problem, wrong := say(f, p.Reader(r), refused, since)
	v := p.view(p.Reader(r), f, typed(f, r.PostForm, since), wrong)
	v.Problem, v.Page = problem, r.PostFormValue("page")
	if d := web.Wait(refused); d > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.Seconds())))
	}
	p.render(w, r, statusOf(refused), v)
}

// sent thanks, or leads on: a form may not be redirected to another site, so that a link does it.
func (p *pages) sent(w http.ResponseWriter, r *http.Request, f Form) {
	t := p.Reader(r)
	data := struct{ Message, URL, Onward string }{Message: f.Definition.AfterSubmit.Message}
	if after := f.Definition.AfterSubmit; after.Type == "redirect" {
		if u, err := url.Parse(after.URL); err == nil && u.Scheme == "https" {
			data.Message, data.URL, data.Onward = t.T("form_thanks"), after.URL, t.T("form_continue", "host", u.Hostname())
			w.Header().Set("Refresh", "1; url="+after.URL)
		}
	}
	if data.Message == "" {
		data.Message = t.T("form_thanks")
	}
	p.Render(w, r, http.StatusOK, "sent", web.Page{Title: t.T("form_sent"), Narrow: true, Style: f.Definition.Style, Data: data})
}

func (p *pages) fragment(w http.ResponseWriter, r *http.Request) {
	// What is no number is the form 0, which nobody has.
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	f, err := p.form(r.Context(), id)
	if err != nil {
		status := fault.From(err).Status
		http.Error(w, http.StatusText(status), status)
		return
	}
	shown, err := p.Fragment(p.Reader(r), f)
	if err != nil {
		slog.ErrorContext(r.Context(), "form cannot be rendered", "form", id, "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	p.JSON(w, shown)
}
