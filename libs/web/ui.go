package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"frontdesk/libs/lang"
)

// New makes the UI of a service from its folder web: page/*.html (each defines "main"), text/*.json and page/text/*.json
// (both optional), dist (the build of its src). It panics on a folder that does not fit, because folders are compiled in.
func New(service string, site Site, folder fs.FS) *UI {
	u := &UI{Site: site, service: service, assets: readAssets(own, folder), texts: readTexts(own, folder), pages: map[string]*template.Template{}}
	layout := template.Must(template.New("layout.html").Funcs(functions()).ParseFS(own, "page/*.html"))
	if parts, _ := fs.Glob(folder, "page/_*.html"); len(parts) > 0 {
		template.Must(layout.ParseFS(folder, "page/_*.html"))
	}
	files, err := fs.Glob(folder, "page/[a-z]*.html")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		t := template.Must(template.Must(layout.Clone()).ParseFS(folder, f))
		u.pages[strings.TrimSuffix(path.Base(f), ".html")] = t
	}
	u.pages["message"] = template.Must(template.Must(layout.Clone()).Parse(`{{define "main"}}{{template "message" .}}{{end}}`))
	return u
}

// Page is one page for a visitor.
type Page struct {
	// Title stands in the browser's tab, before the name of the business.
	Title string
	// Narrow pages are for one form or message.
	Narrow bool
	// Scripts are entries of the service's dist.
	Scripts []string
	// Style overrides the site's form style, as a form does.
	Style map[string]any
	// Canonical is the page's own address for search engines; without one it is not indexed.
	Canonical string
	// Description is one or two sentences for search engines and for who is sent the address; what is left out is not said.
	Description string
	// About is what the page is about in the words of schema.org, for machines.
	About any
	// Framed pages may stand in a frame of the same site.
	Framed bool
	// Alternate gives the page's address in another language; "" leaves the choice of languages out.
	Alternate func(language string) string
	Data      any
}

// view is what a template sees: {{.Data}}, {{.T "key"}}, {{.Title}} and the rest of Page.
type view struct {
	Page
	*Reader
	Look   Look
	ui     *UI
	Policy string
}

// Home is the name over the page.
func (v view) Home() string { return v.ui.Business().Name }

// Logo is the address of the logo on this host; "" without one.
func (v view) Logo() string { return v.ui.Logo() }

// Asset is the address of a file of the service's dist or of libs/web's, with its content's hash.
func (v view) Asset(name string) string { return v.ui.Asset(name) }

// Share is what others show of the page's address: names of Open Graph and their values.
func (v view) Share() []property {
	all := []property{{"og:type", "website"}, {"og:site_name", v.Home()}, {"og:title", v.Title}, {"og:url", v.Canonical}, {"og:locale", strings.ReplaceAll(v.Locale(), "-", "_")}}
	if v.Description != "" {
		all = append(all, property{"og:description", v.Description})
	}
	if logo := v.Logo(); logo != "" {
		all = append(all, property{"og:image", v.ui.PublicURL + logo})
	}
	return all
}

type property struct{ Name, Value string }

// Whole is an address of this site with its scheme and host.
func (v view) Whole(address string) string { return v.ui.PublicURL + address }

// StyleSheet is the address of the site's form style.
func (v view) StyleSheet() string { return v.ui.prefix() + "style.css?" + v.Look.Query() }

// Languages are the choices at the foot of the page.
func (v view) Languages() []languageChoice {
	if v.Alternate == nil {
		return nil
	}
	var all []languageChoice
	for _, l := range lang.Languages {
		all = append(all, languageChoice{Code: l, Name: languageNames[l], Address: v.Alternate(l), Current: l == v.Language})
	}
	return all
}

// languageChoice is one language of a page.
type languageChoice struct {
	Code, Name, Address string
	Current             bool
}

// Parts are the parts of pages, for markup that is no page of its own.
func Parts() *template.Template {
	return template.Must(template.New("parts").Funcs(functions()).ParseFS(own, "page/parts.html"))
}

func functions() template.FuncMap {
	return template.FuncMap{
		"icon":  icon,
		"stamp": func(m time.Time) string { return m.UTC().Format(time.RFC3339) },
		"dict": func(pairs ...any) (map[string]any, error) {
			m := map[string]any{}
			if len(pairs)%2 != 0 {
				return nil, fmt.Errorf("dict: a name without a value")
			}
			for i := 0; i < len(pairs); i += 2 {
				m[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return m, nil
		},
	}
}

// Render answers with the page called name. No cache keeps it, because its content changes.
func (u *UI) Render(w http.ResponseWriter, r *http.Request, status int, name string, p Page) {
	b, v, err := u.execute(r, "layout.html", name, p)
	if err != nil {
		slog.ErrorContext(r.Context(), "page cannot be rendered", "page", name, "error", err)
		http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Language)
	h.Set("Content-Security-Policy", policy(p.Framed))
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Language")
	if p.Canonical == "" {
		h.Set("X-Robots-Tag", "noindex")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes())
	}
}

// Main is the content of the page called name alone, without head, header and foot.
func (u *UI) Main(r *http.Request, name string, p Page) (io.Reader, error) {
	b, _, err := u.execute(r, "main", name, p)
	return b, err
}

// execute fills a template, the layout or a part of it, with the page called name.
func (u *UI) execute(r *http.Request, part, name string, p Page) (*bytes.Buffer, view, error) {
	v := view{Page: p, Reader: u.Reader(r), Look: u.Look(p.Style), ui: u}
	t := u.pages[name]
	if t == nil {
		panic("web: no page called " + name)
	}
	var b bytes.Buffer
	err := t.ExecuteTemplate(&b, part, v)
	return &b, v, err
}

func policy(framed bool) string {
	ancestors := "'none'"
	if framed {
		ancestors = "'self'"
	}
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors " + ancestors
}

// Message is a page that only says something: a heading, a sentence and perhaps a link.
type Message struct {
	Icon, Tone    string // tone: good, bad or soft
	Title, Text   string
	Link, LinkURL string
}

// Message answers with a message page.
func (u *UI) Message(w http.ResponseWriter, r *http.Request, status int, m Message) {
	u.Render(w, r, status, "message", Page{Title: m.Title, Narrow: true, Data: m})
}

// NotFound answers 404 with a page that leads to the start of the site.
func (u *UI) NotFound(w http.ResponseWriter, r *http.Request) {
	t := u.Reader(r)
	start := "/"
	if t.Chosen != "" {
		start += "?lang=" + t.Chosen
	}
	u.Message(w, r, http.StatusNotFound, Message{Icon: "search-x", Tone: "soft", Title: t.T("not_found"), Text: t.T("not_found_text"), Link: t.T("not_found_on"), LinkURL: start})
}
