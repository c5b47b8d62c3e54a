package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

// SitePage is a published page of the site.
type SitePage struct{ Title, Content string }

// PageSource finds the published page at an address; 404 for an address without a published page.
type PageSource func(ctx context.Context, slug string) (SitePage, error)

// block is a paragraph, or the widget of a shortcode.
type block struct {
	Text string
	// Form is the id of a form; Service and Staff narrow a booking down, "" for all.
	Form, Service, Staff string
	// On is true while the widget's app is on. Address is the booking page, for visitors without script.
	On      bool
	Address string
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	page, err := p.options.Page(r.Context(), r.PathValue("slug"))
	if err != nil {
		if f := fault.From(err); f.Status != http.StatusNotFound {
			slog.ErrorContext(r.Context(), "page cannot be shown", "slug", r.PathValue("slug"), "error", err)
			t := p.Reader(r)
			p.Message(w, r, f.Status, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text")})
			return
		}
		p.NotFound(w, r)
		return
	}
	blocks := blocksOf(page.Content)
	booking := p.bookingPage()
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Text != "":
		case b.Form != "":
			b.On = p.On("forms")
		default:
			b.On = p.On("booking")
			if booking != "" {
				b.Address = booking + narrowed(b)
			}
		}
	}
	business := p.Business()
	how := strings.Join(filled(business.Phone, business.Email), ", ")
	p.Render(w, r, http.StatusOK, "site", web.Page{Title: page.Title, Scripts: []string{"svc.js"}, Canonical: p.PublicURL + r.URL.EscapedPath(),
		Framed: true, Alternate: languages(r), Data: map[string]any{"Title": page.Title, "Blocks": blocks, "How": how}})
}

// bookingPage is the address of the stand-alone booking page, "" while it is off.
func (p *pages) bookingPage() string {
	var portal struct {
		BookingURL *string `json:"booking_url"`
	}
	p.Read("portal", &portal)
	if portal.BookingURL == nil {
		return ""
	}
	return *portal.BookingURL
}

// narrowed is the query of a booking for a service or a person.
func narrowed(b *block) string {
	q := url.Values{}
	if b.Service != "" {
		q.Set("service", b.Service)
	}
	if b.Staff != "" {
		q.Set("staff", b.Staff)
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func filled(texts ...string) (out []string) {
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

var (
	shortcode  = regexp.MustCompile(`\[svc-(form|booking)((?:\s+[a-z]+=["']?[A-Za-z0-9-]{1,40}["']?)*)\s*\]`)
	attribute  = regexp.MustCompile(`([a-z]+)=["']?([A-Za-z0-9-]+)["']?`)
	paragraphs = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// blocksOf cuts a page's content at its shortcodes and empty lines. A shortcode for a form without an id stays text.
func blocksOf(content string) (out []block) {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	text := func(s string) {
		for _, one := range paragraphs.Split(strings.TrimSpace(s), -1) {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, block{Text: one})
			}
		}
	}
	rest := 0
	for _, m := range shortcode.FindAllStringSubmatchIndex(content, -1) {
		values := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(content[m[4]:m[5]], -1) {
			values[a[1]] = a[2]
		}
		b := block{Service: values["service"], Staff: values["staff"]}
		if content[m[2]:m[3]] == "form" {
			if b = (block{Form: values["id"]}); b.Form == "" {
				continue
			}
		}
		text(content[rest:m[0]])
		out = append(out, b)
		rest = m[1]
	}
	text(content[rest:])
	return out
}
