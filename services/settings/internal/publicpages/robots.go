package publicpages

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"frontdesk/libs/lang"
	"frontdesk/services/settings/internal/docs"
)

const securityPath = "/.well-known/security.txt"

// robots tells search engines where the list of the public pages is, unless the operator says something else.
func (p *pages) robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := fmt.Sprintf("User-agent: *\nAllow: %s\nDisallow: /v1/\n\nSitemap: %s/sitemap.xml", docs.Path, p.PublicURL)
	fmt.Fprintln(w, cmp.Or(p.Robots, text))
}

// validFor is how long a reader may rely on security.txt: less than a year, as RFC 9116 recommends.
const validFor = 90 * 24 * time.Hour

// security tells where a weakness is reported, if the operator says it (RFC 9116).
func (p *pages) security(w http.ResponseWriter, r *http.Request) {
	if len(p.SecurityContact) == 0 {
		p.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, contact := range p.SecurityContact {
		fmt.Fprintf(w, "Contact: %s\n", contact)
	}
	fmt.Fprintf(w, "Expires: %s\nPreferred-Languages: %s\nCanonical: %s%s\n", p.Now().Add(validFor).UTC().Format(time.RFC3339),
		strings.Join(lang.Languages, ", "), p.PublicURL, securityPath)
}

// sitemap lists the booking page and the site's own pages, as https://www.sitemaps.org asks.
func (p *pages) sitemap(w http.ResponseWriter, r *http.Request) {
	slugs, err := p.Slugs(r.Context())
	if err != nil {
		slog.ErrorContext(r.Context(), "sitemap cannot be made", "error", err)
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	fmt.Fprint(w, xml.Header, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	if booking := p.bookingPage(); booking != "" && p.On("booking") {
		fmt.Fprintf(w, "<url><loc>%s</loc></url>", html.EscapeString(booking))
	}
	for _, slug := range slugs {
		fmt.Fprintf(w, "<url><loc>%s/%s</loc></url>", html.EscapeString(p.PublicURL), slug)
	}
	fmt.Fprint(w, `</urlset>`)
}
