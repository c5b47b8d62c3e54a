package op

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	httptransport "github.com/go-kit/kit/transport/http"

	"frontdesk/libs/db"
)

// Handler serves all operations under /v1 and the abilities beside them. Everything else is an error in the one shape.
func (s *Set) Handler() http.Handler {
	routes := router{}
	for _, e := range s.ops {
		routes.add(e.Method(), e.Path(), e.on, e.server())
	}
	s.abilities(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = Identify(w, r)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), writerKey{}, w)))
	})
}

type writerKey struct{}

func (e *Entry) server() http.Handler {
	return httptransport.NewServer(e.call, e.decode, e.encode, httptransport.ServerErrorEncoder(WriteFault))
}

// decode passes the request on unread, because the permission is checked first.
func (e *Entry) decode(ctx context.Context, r *http.Request) (any, error) {
	if e.Accepted() && !admitsJSON(r.Header.Get("Accept")) {
		return nil, ErrAccept
	}
	w, _ := ctx.Value(writerKey{}).(http.ResponseWriter)
	return &request{http: r, w: w}, nil
}

func admitsJSON(accept string) bool {
	return accept == "" || slices.ContainsFunc(strings.Split(accept, ","), func(part string) bool {
		media, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		return slices.Contains([]string{"*/*", "application/*", "application/json", "text/html", "application/problem+json"}, strings.ToLower(media))
	})
}

func (e *Entry) encode(_ context.Context, w http.ResponseWriter, out any) error {
	switch o := out.(type) {
	case *db.Answer:
		w.Header().Set("Idempotent-Replayed", "true")
		return write(w, o.Status, o.Body)
	case *file:
		return o.send(w)
	case *stream:
		return o.send(w)
	case *document:
		return o.send(w)
	}
	if h, ok := out.(httptransport.Headerer); ok {
		for k, vs := range h.Headers() {
			for _, v := range vs {
				w.Header().Add(k, v)
			}
		}
	}
	if v, ok := out.(Versioned); ok {
		w.Header().Set("ETag", strconv.Quote(strconv.FormatInt(v.RecordVersion(), 10)))
	}
	body, err := encodeJSON(out)
	if err != nil {
		return fmt.Errorf("op: answer of %s: %w", e.ID, err)
	}
	return write(w, e.status(out), body)
}
