package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

type asset struct {
	// body opens the content. It stays in the program's file, which the kernel drops from memory where nothing asks for it.
	body open
	// brotli is body as the build compressed it; nil if it did not.
	brotli open
	kind   string
	hash   string
}

// open returns a file from its begin.
type open func() io.ReadSeeker

func fileOf(folder fs.FS, name string) open {
	return func() io.ReadSeeker {
		f, err := folder.Open(name)
		if err != nil {
			panic(err) // it was there when the process started
		}
		return f.(io.ReadSeeker) // files of embed.FS hold nothing that would have to be closed
	}
}

// hashed names never change their content: all below assets/, and those with a hash of esbuild's.
var hashed = regexp.MustCompile(`^assets/|-[A-Z0-9]{8}\.[a-z0-9]+$`)

// readAssets reads dist and css of each folder. A file of a later folder wins.
func (u *UI) readAssets(folders ...fs.FS) {
	for _, folder := range folders {
		for _, root := range []string{"dist", "css"} {
			_ = fs.WalkDir(folder, root, func(name string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || path.Base(name) == ".gitkeep" {
					return nil //nolint:nilerr // a folder without css or dist has none
				}
				body := fileOf(folder, name)
				// A directory lists a file before its compressed one.
				if name, compressed := strings.CutSuffix(strings.TrimPrefix(name, root+"/"), ".br"); compressed {
					a := u.assets[name]
					a.brotli = body
					u.assets[name] = a
				} else {
					u.assets[name] = asset{body: body, kind: kindOf(name), hash: hashOf(body)}
				}
				return nil
			})
		}
	}
	u.nameFonts("page.css")
}

// nameFonts writes the addresses that pages preload into a style sheet, so that a browser loads each font once.
func (u *UI) nameFonts(sheet string) {
	a := u.assets[sheet]
	text, err := io.ReadAll(a.body())
	if err != nil {
		panic(err)
	}
	text = fontURL.ReplaceAllFunc(text, func(m []byte) []byte {
		name := string(fontURL.FindSubmatch(m)[1])
		if f, ok := u.assets[name]; ok {
			return []byte(`url("` + name + "?v=" + f.hash + `")`)
		}
		return m
	})
	a.body = func() io.ReadSeeker { return bytes.NewReader(text) }
	a.hash = hashOf(a.body)
	u.assets[sheet] = a
}

var fontURL = regexp.MustCompile(`url\("(font/[a-z]+\.woff2)"\)`)

func hashOf(body open) string {
	sum := sha256.New()
	if _, err := io.Copy(sum, body()); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:9])
}

func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".css":
		return "text/css; charset=utf-8"
	}
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// Asset is the address of a file, with the hash of its content so that it can be kept for ever; "" when the build
// has not made it.
func (u *UI) Asset(name string) string {
	a, ok := u.assets[name]
	if !ok {
		return ""
	}
	return u.prefix() + name + "?v=" + a.hash
}

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
	h.Set("ETag", `"`+etag+`"`)
	switch {
	case hashed.MatchString(name) || r.URL.Query().Get("v") == a.hash:
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	default:
		h.Set("Cache-Control", "public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800")
	}
	http.ServeContent(w, r, name, time.Time{}, body())
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

// Icon is one of the icons of libs/web/icon as inline SVG, hidden from screen readers; "" for an unknown name.
func Icon(name string) template.HTML {
	svg, err := fs.ReadFile(own, "icon/"+name+".svg")
	if err != nil || strings.ContainsAny(name, "/.") {
		return ""
	}
	return template.HTML(svg) //nolint:gosec // our own file
}
