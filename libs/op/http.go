package op

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	httptransport "github.com/go-kit/kit/transport/http"
	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Handler serves all operations under /v1 and the abilities beside them. Everything else is an error in the one shape.
func (s *Set) Handler() http.Handler {
	routes := router{}
	for _, e := range s.ops {
		routes.add(e.method(), e.path(), e.on, e.server())
	}
	s.abilities(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = Identify(w, r)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), writerKey{}, w)))
	})
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

type requestKey struct{}
type writerKey struct{}
type headerKey struct{}

// Identify gives a request its id, as the caller sent it if that is one, and names it in the answer. WriteFault, RequestID and Header take
// the context of the result.
func Identify(w http.ResponseWriter, r *http.Request) *http.Request {
	id := r.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	w.Header().Set("X-Request-Id", id)
	return r.WithContext(context.WithValue(context.WithValue(r.Context(), requestKey{}, id), headerKey{}, r.Header))
}

// Header is the request's header, for the few operations that show or check what a proxy or browser sent.
func Header(ctx context.Context) http.Header { h, _ := ctx.Value(headerKey{}).(http.Header); return h }

// RequestID is the id that was taken from the request, or made for it.
func RequestID(ctx context.Context) string { id, _ := ctx.Value(requestKey{}).(string); return id }

func (e *entry) server() http.Handler {
	return httptransport.NewServer(e.call, e.decode, e.encode, httptransport.ServerErrorEncoder(writeFault))
}

// decode passes the request on unread, because the permission is checked first.
func (e *entry) decode(ctx context.Context, r *http.Request) (any, error) {
	if accept := r.Header.Get("Accept"); !accepts(accept, e.csv || e.events) {
		return nil, errAccept
	}
	w, _ := ctx.Value(writerKey{}).(http.ResponseWriter)
	return &request{http: r, w: w}, nil
}

func accepts(accept string, any bool) bool {
	if accept == "" || any {
		return true
	}
	for part := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		switch strings.ToLower(media) {
		case "*/*", "application/*", "application/json", "text/html", "application/problem+json":
			return true
		}
	}
	return false
}

func (e *entry) encode(_ context.Context, w http.ResponseWriter, out any) error {
	switch o := out.(type) {
	case *db.Answer:
		w.Header().Set("Idempotent-Replayed", "true")
		return write(w, o.Status, o.Body)
	case *file:
		return o.send(w)
	case *stream:
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
	body, err := encode(out)
	if err != nil {
		return fmt.Errorf("op: answer of %s: %w", e.ID, err)
	}
	return write(w, e.status(out), body)
}

func write(w http.ResponseWriter, status int, body []byte) error {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// The error is the client's: it has closed the connection.
	_, _ = w.Write(body)
	return nil
}

func writeFault(ctx context.Context, err error, w http.ResponseWriter) {
	WriteFault(ctx, w, err)
}

// WriteFault answers with err in the one shape of errors.
func WriteFault(ctx context.Context, w http.ResponseWriter, err error) {
	f := fault.From(err)
	if wait := f.RetryAfter(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	}
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	// With this header a browser asks for the password itself. Pages ask on their own, and a caller of WriteFault may have set another.
	if f.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" && Header(ctx).Get("Sec-Fetch-Mode") == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Frontdesk", charset="UTF-8"`)
	}
	body := f.Body(RequestID(ctx))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

// answerID finds the id of the record in an answer.
func (e *entry) answerID(out any) string {
	if r, ok := out.(interface{ RecordID() string }); ok {
		return r.RecordID()
	}
	if e.outKey == nil || out == nil {
		return ""
	}
	v, err := reflect.ValueOf(out).FieldByIndexErr(e.outKey)
	if err != nil {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

func trimQuotes(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
