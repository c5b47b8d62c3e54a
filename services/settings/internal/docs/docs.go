// Package docs shows the pages for integrators: guides, the reference of this installation, and one operation of it. They are in English.
package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"frontdesk/libs/web"
)

// Path is where the pages stand, and below it.
const Path = "/v1/docs"

// Pages are the pages, to be served at Path and below.
type Pages struct {
	*web.UI
	document func() ([]byte, error)
	caller   func(w http.ResponseWriter, r *http.Request) (signIn, person string)
	folder   fs.FS
	guides   *template.Template

	mu   sync.Mutex
	of   []byte // the document of which read was made; the same one comes until it changes
	read *reference
}

// New makes the pages of a folder that has guide/*.html and sample. document is the OpenAPI description of the installation. caller is
// where a visitor signs in, and the name of one who has, else "".
func New(ui *web.UI, folder fs.FS, document func() ([]byte, error), caller func(w http.ResponseWriter, r *http.Request) (signIn, person string)) *Pages {
	return &Pages{UI: ui, document: document, caller: caller, folder: folder, guides: template.Must(template.ParseFS(folder, "guide/*.html"))}
}

// ServeHTTP shows a page.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all, err := p.reference()
	if err == nil {
		p.show(w, r, all)
		return
	}
	slog.ErrorContext(r.Context(), "the reference cannot be shown", "error", err)
	t := p.Reader(r)
	p.Message(w, r, http.StatusServiceUnavailable, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("account_failed")})
}

// reference is the document as it is now, read once. Nobody changes what is read.
func (p *Pages) reference() (*reference, error) {
	document, err := p.document()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read != nil && bytes.Equal(p.of, document) {
		return p.read, nil
	}
	all, err := readReference(document)
	if err == nil {
		p.of, p.read = document, all
	}
	return all, err
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, all *reference) {
	page := strings.TrimPrefix(r.URL.Path, Path)
	if page == "/llms.txt" {
		p.showIndex(w, all)
		return
	}
	page, markdown := strings.CutSuffix(page, ".md")
	render := p.page
	if markdown {
		render = p.markdown
	}
	slug, isGuide := strings.CutPrefix(page, "/guides/")
	id, isOperation := strings.CutPrefix(page, "/reference/")
	at := slices.IndexFunc(guides, func(g guide) bool { return g.Slug == slug })
	o := all.find(id)
	switch {
	case page == "" && !markdown:
		p.Render(w, r, http.StatusOK, "docs", web.Page{Title: "Guides", Data: guides})
	case page == "/reference":
		q := r.URL.Query().Get("q")
		render(w, r, "reference", web.Page{Title: "Reference", Data: map[string]any{"Query": q, "Guides": p.searchGuides(q), "Sections": all.search(q)}})
	case isGuide && at >= 0:
		render(w, r, "guide", p.guidePage(at))
	case isOperation && o != nil:
		signIn, person := p.caller(w, r)
		data := map[string]any{"Operation": o, "Try": o.canTry() && !markdown, "SignIn": signIn, "Person": person}
		render(w, r, "operation", web.Page{Title: o.Summary, Scripts: []string{"docs.js"}, Data: data})
	default:
		p.NotFound(w, r)
	}
}

// page answers with a page, and says where it stands as Markdown.
func (p *Pages) page(w http.ResponseWriter, r *http.Request, name string, page web.Page) {
	w.Header().Set("Link", fmt.Sprintf(`<%s%s.md>; rel="alternate"; type="text/markdown"`, p.PublicURL, r.URL.Path))
	p.Render(w, r, http.StatusOK, name, page)
}
