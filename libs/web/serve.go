package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Assets serves /_ui/<service>/: the build, style sheets, fonts, the site's form style as style.css and as
// site.json. Names with a hash, and addresses that Asset gave, are kept for ever; entries for five minutes.
func (u *UI) Assets() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+u.prefix()+"style.css", u.styleSheet)
	mux.HandleFunc("GET "+u.prefix()+"site.json", func(w http.ResponseWriter, _ *http.Request) { u.JSON(w, u.WidgetSite(nil)) })
	mux.HandleFunc("GET "+u.prefix(), func(w http.ResponseWriter, r *http.Request) {
		u.serve(w, r, strings.TrimPrefix(r.URL.Path, u.prefix()))
	})
	return mux
}

// Embed serves the script that other sites embed: /_ui/w/v1/svc.js.
func (u *UI) Embed() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { u.serve(w, r, "svc.js") })
}

func (u *UI) serve(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := u.assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	// For a picture that is opened by itself.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	body, etag := a.body, a.hash
	if a.brotli != nil {
		h.Add("Vary", "Accept-Encoding")
		if acceptsBrotli.MatchString(r.Header.Get("Accept-Encoding")) {
			h.Set("Content-Encoding", "br")
			body, etag = a.brotli, a.hash+"-br"
		}
	}
	// Weak, because the gateway may compress the bytes.
	h.Set("ETag", `W/"`+etag+`"`)
	if hashed.MatchString(name) || r.URL.Query().Get("v") == a.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800")
	}
	http.ServeContent(w, r, name, time.Time{}, body())
}

// Elsewhere answers what none of a mux's own patterns takes: another method of a page is 405 with Allow, a page's address with a slash at
// its end leads to the page (308) if it is there, and the rest is not there (404).
func (u *UI) Elsewhere(mux *http.ServeMux) http.HandlerFunc {
	takes := func(method, path string) bool {
		_, pattern := mux.Handler(&http.Request{Method: method, Host: "", URL: &url.URL{Path: path}})
		return pattern != "" && pattern != "/"
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if page, slash := strings.CutSuffix(r.URL.Path, "/"); slash && takes(r.Method, page) && isThere(mux, r, page) {
			to := url.URL{Path: page, RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
			return
		}
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if takes(method, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			u.NotFound(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	}
}

// isThere reports whether a page answers at a path: what a pattern takes may not be there.
func isThere(pages http.Handler, r *http.Request, path string) bool {
	asked := r.Clone(r.Context())
	asked.Method, asked.Body, asked.URL.Path, asked.URL.RawPath = http.MethodGet, http.NoBody, path, ""
	answer := &recorded{header: http.Header{}, status: http.StatusOK}
	pages.ServeHTTP(answer, asked)
	return answer.status != http.StatusNotFound
}

// acceptsBrotli matches an Accept-Encoding that names br, unless with the weight 0.
var acceptsBrotli = regexp.MustCompile(`(?i)(^|,)\s*br\s*(,|$|;\s*q=(1|0\.0*[1-9]))`)

// JSON answers with v, for widgets on any site. Caches ask again each time.
func (u *UI) JSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	_, _ = w.Write(body)
}
