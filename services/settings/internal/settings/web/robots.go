package web

import (
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"net/http"
)

// robots tells search engines where the list of the public pages is.
func (p *pages) robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "User-agent: *\nDisallow: /v1/\n\nSitemap: %s/sitemap.xml\n", p.PublicURL)
}

// sitemap lists the booking page and the site's own pages, as https://www.sitemaps.org asks.
func (p *pages) sitemap(w http.ResponseWriter, r *http.Request) {
	slugs, err := p.options.Slugs(r.Context())
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
