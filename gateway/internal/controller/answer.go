package controller

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/fault"
)

// Answers answers the requests that no service does: unknown paths and those of apps that are off (404), methods that no
// service behind a shared path takes (405), services that are down (503), bodies that are far too large (413). The body is
// an error of the API; browsers outside the API get a small page.
type Answers struct {
	// paths are nil until the tables are read; every path is 503 until then.
	paths   atomic.Pointer[[]accepted]
	counted func(code string)
}

// NewAnswers answers 503 until SetPaths is called. counted is called with the code of each answer.
func NewAnswers(counted func(code string)) *Answers { return &Answers{counted: counted} }

// SetPaths replaces the paths of the API and their methods, from the most specific shape to the most general.
func (a *Answers) SetPaths(paths []accepted) { a.paths.Store(&paths) }

// drained is how much of a refused body is read, so that its sender reads the answer instead of a broken connection.
const drained = 64 << 20

func (a *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, fromOutside := strings.CutPrefix(r.URL.Path, unknownPath)
	paths := a.paths.Load()
	switch {
	case fromOutside && paths == nil:
		a.write(w, r, path, fault.Unavailable())
	case fromOutside:
		methods := methodsAt(*paths, path)
		if len(methods) > 0 && !slices.Contains(methods, r.Method) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			a.write(w, r, path, fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed",
				"This path does not answer to "+r.Method+".", "allow", methods))
			return
		}
		a.write(w, r, path, fault.NoRoute())
	case r.URL.Path == tooMuchPath:
		a.write(w, r, "/v1/", fault.New(http.StatusRequestEntityTooLarge, "svc_too_large", "The request or its answer is too large. Ask for less at once."))
	case r.URL.Path == tooLargePath:
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second))
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, drained))
		a.write(w, r, "/v1/", fault.TooLarge(32<<20))
	default:
		// The path of the request that failed: behind ours when no replica was ready, in the query when Traefik replaced an answer.
		path = strings.TrimPrefix(r.URL.Path, unavailablePath)
		if u, err := r.URL.Parse(r.URL.Query().Get("url")); err == nil && path == "" {
			path = u.Path
		}
		a.write(w, r, path, fault.Unavailable())
	}
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

func (a *Answers) write(w http.ResponseWriter, r *http.Request, path string, f *fault.Fault) {
	a.counted(f.Code)
	id := r.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, Accept-Language")
	if f.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "2")
	}
	if !isAPI(path) && prefersHTML(r.Header.Get("Accept")) {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src '"+answerStyleHash+"'; frame-ancestors 'self'")
		w.WriteHeader(f.Status)
		said := wordsFor(r)
		title, text := said.NotFound, said.NotFoundText
		if f.Status == http.StatusServiceUnavailable {
			title, text = said.Unavailable, said.UnavailableText
		}
		_ = answerPage.Execute(w, map[string]any{"Language": said.Language, "Title": title, "Text": text, "Status": f.Status,
			"RequestID": id})
		return
	}
	body := f.Body(id)
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

func isAPI(path string) bool {
	return path == "/v1" || path == "/mcp" || strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/mcp/")
}

var (
	//go:embed answer.html
	answerHTML string
	//go:embed answer.css
	answerStyle string

	answerPage = template.Must(template.New("answer").Parse(strings.Replace(answerHTML, "STYLE", answerStyle, 1)))
	// answerStyleHash is the source of the only style sheet that the page's policy allows.
	answerStyleHash = func() string {
		sum := sha256.Sum256([]byte(answerStyle))
		return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	}()
)

// prefersHTML reports whether an Accept header ranks text/html above JSON.
func prefersHTML(accept string) bool {
	html, json := 0.0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if v, err := strconv.ParseFloat(params["q"], 64); err == nil {
			q = v
		}
		switch kind {
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		case "application/json", "application/*":
			json = max(json, q)
		}
	}
	return html > json
}
