package publicpages

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/page"
)

// Options is everything that the pages use of the service.
type Options struct {
	*web.UI
	// Now is the service's clock.
	Now func() time.Time
	// Page finds a published page of the site; its error is a fault.
	Page Source
	// Slugs are the addresses of all published pages.
	Slugs func(ctx context.Context) ([]string, error)
	// SecurityContact is where a weakness is reported, Robots the text of /robots.txt in place of ours.
	SecurityContact []string
	Robots          string
	// Languages gives the address of a page in each language.
	Languages func(r *http.Request) func(string) string
}

type pages struct{ Options }

// Paths are the paths of Handle, for the gateway.
var Paths = []*proto.Page{{Path: "/robots.txt"}, {Path: "/sitemap.xml"}, {Path: securityPath}, {Path: "/{slug}"}}

// Handle serves the site's pages, and what programs are told about the site.
func Handle(mux *http.ServeMux, o Options) {
	p := &pages{o}
	mux.HandleFunc("GET /robots.txt", p.robots)
	mux.HandleFunc("GET /sitemap.xml", p.sitemap)
	mux.HandleFunc("GET "+securityPath, p.security)
	mux.HandleFunc("GET /{slug}", p.show)
}

// SitePage is a published page of the site.
type SitePage struct {
	Title  string
	Blocks []page.Block
}

// Source finds the published page at an address; 404 for an address without a published page.
type Source func(ctx context.Context, slug string) (SitePage, error)

// block is a block of a page as it is shown now.
type block struct {
	page.Block
	// On is true while the widget's app is on. Address is the booking page, for visitors without script.
	On      bool
	Address string
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	shown, err := p.Page(r.Context(), r.PathValue("slug"))
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
	blocks := make([]block, len(shown.Blocks))
	booking := p.bookingPage()
	for i := range blocks {
		b := &blocks[i]
		b.Block = shown.Blocks[i]
		switch {
		case b.Text != "":
		case b.Form != "":
			b.On = p.On("forms")
		default:
			b.On = p.On("booking")
			if booking != "" {
				b.Address = booking + narrowed(b.Block, p.Reader(r).Chosen)
			}
		}
	}
	business := p.Business()
	how := strings.Join(filled(business.Phone, business.Email), ", ")
	p.Render(w, r, http.StatusOK, "site", web.Page{Title: shown.Title, Scripts: []string{"svc.js"}, Canonical: p.PublicURL + r.URL.EscapedPath(),
		Description: firstText(blocks), About: p.Place(), Framed: true, Alternate: p.Languages(r), Data: map[string]any{"Title": shown.Title, "Blocks": blocks, "How": how}})
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

// firstText is the beginning of a page's first paragraph, as search engines show it.
func firstText(blocks []block) string {
	for _, b := range blocks {
		if b.Text != "" {
			text := []rune(strings.Join(strings.Fields(b.Text), " "))
			return string(text[:min(len(text), 160)])
		}
	}
	return ""
}

// narrowed is the query of a booking for a service or a person, in the language that the visitor has chosen.
func narrowed(b page.Block, language string) string {
	q := url.Values{}
	if language != "" {
		q.Set("lang", language)
	}
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
