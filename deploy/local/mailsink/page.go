package mailsink

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/adminport"
)

//go:embed page.html
var source string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"join":  strings.Join,
	"local": func(t time.Time) string { return t.Local().Format("2 Jan 15:04:05") },
	"stamp": func(t time.Time) string { return t.Format(time.RFC3339) },
	"links": links,
	"size":  size,
}).Parse(source))

func pages(mails *store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		show(w, "list", map[string]any{"Title": "Mail", "To": to, "Mails": mails.list(to)})
	})
	one := func(handle func(http.ResponseWriter, *http.Request, Mail)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			m, ok := mails.get(r.PathValue("id"))
			if !ok {
				http.NotFound(w, r)
				return
			}
			handle(w, r, m)
		}
	}
	mux.HandleFunc("GET /mails/{id}", one(func(w http.ResponseWriter, _ *http.Request, m Mail) {
		show(w, "mail", map[string]any{"Title": m.Subject, "Mail": m})
	}))
	mux.HandleFunc("GET /mails/{id}/html", one(func(w http.ResponseWriter, _ *http.Request, m Mail) {
		// A mail is somebody else's HTML: it may have styles, but runs no script and fetches nothing.
		w.Header().Set("Content-Security-Policy", "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<base target="_blank">` + m.HTML))
	}))
	mux.HandleFunc("GET /mails/{id}/attachments/{n}", one(func(w http.ResponseWriter, r *http.Request, m Mail) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil || n < 0 || n >= len(m.Attachments) {
			http.NotFound(w, r)
			return
		}
		a := m.Attachments[n]
		w.Header().Set("Content-Type", a.ContentType)
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": a.Name}))
		_, _ = w.Write(a.content)
	}))
	mux.HandleFunc("GET /api/mails", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"items": mails.list(r.URL.Query().Get("to"))})
	})
	mux.HandleFunc("GET /api/mails/{id}", one(func(w http.ResponseWriter, _ *http.Request, m Mail) { answer(w, m) }))
	mux.HandleFunc("DELETE /api/mails", func(w http.ResponseWriter, _ *http.Request) {
		mails.clear()
		w.WriteHeader(http.StatusNoContent)
	})
	return adminport.Guard(unkept(mux))
}

// unkept sets the headers of every answer: a browser keeps no mail.
func unkept(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func show(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'; img-src data:")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.ExecuteTemplate(w, name, data)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// links turns the http and https addresses of a plain text into links, and escapes everything else.
func links(text string) template.HTML {
	var b strings.Builder
	for i, word := range splitKeep(text) {
		escaped := template.HTMLEscapeString(word)
		if i%2 == 0 && (strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")) {
			b.WriteString(`<a href="` + escaped + `" target="_blank" rel="noreferrer">` + escaped + `</a>`)
		} else {
			b.WriteString(escaped)
		}
	}
	return template.HTML(b.String()) //nolint:gosec // every word was escaped above
}

// splitKeep cuts a text into words and the white space between them, in turn.
func splitKeep(text string) []string {
	var parts []string
	for len(text) > 0 {
		end := strings.IndexAny(text, " \t\r\n<>\"")
		if end < 0 {
			end = len(text)
		}
		gap := end
		for gap < len(text) && strings.ContainsRune(" \t\r\n<>\"", rune(text[gap])) {
			gap++
		}
		parts = append(parts, text[:end], text[end:gap])
		text = text[gap:]
	}
	return parts
}

func size(n int) string {
	if n < 1000 {
		return strconv.Itoa(n) + " B"
	}
	return strconv.Itoa((n+500)/1000) + " kB"
}
