package settings

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

//go:embed site_page.html
var sitePageHTML string

var sitePage = template.Must(template.New("page").Parse(sitePageHTML))

// block is a paragraph of a page, or a place where a widget stands.
type block struct {
	Text string
	// Link is where visitors without the widget's script go.
	Link     string
	LinkText string
	Form     string
	Booking  bool
	Service  string
	Staff    string
}

var (
	formCode    = regexp.MustCompile(`^\[svc-form\s+id=["']?([0-9]{1,18})["']?\s*\]$`)
	bookingCode = regexp.MustCompile(`^\[svc-booking((?:\s+(?:service|staff)=["']?[A-Za-z0-9-]{1,40}["']?)*)\s*\]$`)
	attribute   = regexp.MustCompile(`(service|staff)=["']?([A-Za-z0-9-]{1,40})["']?`)
	shortcode   = regexp.MustCompile(`\[svc-(?:form|booking)[^\]]*\]`)
)

// blocks takes a page's content apart. A shortcode of an app that is off leaves nothing behind.
func (s *service) blocks(content string) []block {
	var all []block
	paragraph := func(text string) {
		for p := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
			if p = strings.TrimSpace(p); p != "" {
				all = append(all, block{Text: p})
			}
		}
	}
	rest := content
	for _, at := range shortcode.FindAllStringIndex(content, -1) {
		before := content[len(content)-len(rest) : at[0]]
		paragraph(before)
		if b, ok := s.widget(content[at[0]:at[1]]); ok {
			all = append(all, b)
		}
		rest = content[at[1]:]
	}
	paragraph(rest)
	return all
}

func (s *service) widget(code string) (block, bool) {
	if m := formCode.FindStringSubmatch(code); m != nil {
		return block{Form: m[1], Link: s.Config.PublicURL + "/f/" + m[1], LinkText: "Open the form"}, s.Apps.On("forms")
	}
	if m := bookingCode.FindStringSubmatch(code); m != nil {
		b := block{Booking: true, Link: s.Config.PublicURL + "/" + s.portalPath() + "/book", LinkText: "Book an appointment"}
		for _, a := range attribute.FindAllStringSubmatch(m[1], -1) {
			if a[1] == "service" {
				b.Service = a[2]
			} else {
				b.Staff = a[2]
			}
		}
		return b, s.Apps.On("booking")
	}
	return block{}, false
}

// pages serves the site's own published pages at their addresses. A draft's address is not there.
func (s *service) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{slug}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		var p page
		var general generalDoc
		err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			if p, err = onePage(ctx, tx, `select `+pageColumns+` from page where slug = $1 and status = $2`, r.PathValue("slug"), statusPublished); err != nil {
				return err
			}
			_, err = readDocument(ctx, tx, docGeneral, &general)
			return err
		})
		if err != nil {
			f := fault.From(err)
			writePage(w, f.Status, pageShown{Title: http.StatusText(f.Status), Blocks: []block{{Text: f.Message}}})
			return
		}
		writePage(w, http.StatusOK, pageShown{Title: p.Title, Business: general.Business.Name, Blocks: s.blocks(p.Content)})
	})
	return mux
}

type pageShown struct {
	Title    string
	Business string
	Blocks   []block
}

func writePage(w http.ResponseWriter, status int, p pageShown) {
	var b bytes.Buffer
	if err := sitePage.Execute(&b, p); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
