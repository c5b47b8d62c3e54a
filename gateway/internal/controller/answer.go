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

// Answers speaks for paths that no service answers: unknown ones and those of switched-off apps,
// methods that none of the services behind a shared path takes, services that are down, and bodies
// that are far too large. The shape is the one of every error of the API; browsers outside the API get
// a small page.
type Answers struct {
	table   atomic.Pointer[[]accepted]
	ready   atomic.Bool
	counted func(code string)
}

// NewAnswers starts out answering 503, since it does not know yet what exists. counted hears the code of
// each answer.
func NewAnswers(counted func(code string)) *Answers {
	a := &Answers{counted: counted}
	a.table.Store(&[]accepted{})
	return a
}

// Know tells which methods each path of the API takes.
func (a *Answers) Know(table []accepted) {
	a.table.Store(&table)
	a.ready.Store(true)
}

// The body of a refused request is read up to this size, so that its sender gets to read the answer.
const drained = 64 << 20

func (a *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, fromOutside := strings.CutPrefix(r.URL.Path, unknownPath)
	switch {
	case fromOutside && !a.ready.Load():
		a.write(w, r, path, fault.Unavailable())
	case fromOutside:
		methods := methodsAt(*a.table.Load(), path)
		if len(methods) > 0 && !slices.Contains(methods, r.Method) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			a.write(w, r, path, fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed",
				"This path does not answer to "+r.Method+".", "allow", methods))
			return
		}
		a.write(w, r, path, fault.NoRoute())
	case r.URL.Path == tooLargePath:
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second))
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, drained))
		a.write(w, r, "/v1/", fault.TooLarge(32<<20))
	default:
		// The path of the request that failed, when Traefik replaced a service's answer.
		if u, err := r.URL.Parse(r.URL.Query().Get("url")); err == nil {
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
	// The one style sheet that the page's policy allows.
	answerStyleHash = func() string {
		sum := sha256.Sum256([]byte(answerStyle))
		return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	}()
)

// prefersHTML tells whether an Accept header ranks text/html above JSON.
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
