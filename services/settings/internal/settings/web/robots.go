package web

import (
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
)

// robots tells search engines where lists of the public pages are. The form app has one of its own.
func (p *pages) robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=3600")
	fmt.Fprintf(w, "User-agent: *\nDisallow: /v1/\n\nSitemap: %s/sitemap.xml\n", p.PublicURL)
}

// sitemap is what https://www.sitemaps.org asks for.
type sitemap struct {
	XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []place  `xml:"url"`
}

type place struct {
	Address string `xml:"loc"`
}

// sitemap lists the booking page and the site's own pages.
func (p *pages) sitemap(w http.ResponseWriter, r *http.Request) {
	slugs, err := p.options.Slugs(r.Context())
	if err != nil {
		slog.ErrorContext(r.Context(), "sitemap cannot be made", "error", err)
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	var all sitemap
	if booking := p.bookingPage(); booking != "" && p.On("booking") {
		all.URLs = append(all.URLs, place{booking})
	}
	for _, slug := range slugs {
		all.URLs = append(all.URLs, place{p.PublicURL + "/" + slug})
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=300")
	fmt.Fprint(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(all)
}
