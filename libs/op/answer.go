package op

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

type requestKey struct{}

type headerKey struct{}

type hostKey struct{}

// Identify gives a request its id, as the caller sent it if that is one, and names it in the answer. WriteFault, RequestID and Header take
// the context of the result.
func Identify(w http.ResponseWriter, r *http.Request) *http.Request {
	id := r.Header.Get("X-Request-Id")
	if !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	w.Header().Set("X-Request-Id", id)
	ctx := context.WithValue(r.Context(), requestKey{}, id)
	ctx = context.WithValue(ctx, headerKey{}, r.Header)
	return r.WithContext(context.WithValue(ctx, hostKey{}, r.Host))
}

// Header is the request's header, for the few operations that show or check what a proxy or browser sent.
func Header(ctx context.Context) http.Header { h, _ := ctx.Value(headerKey{}).(http.Header); return h }

// Onward gives a call that this process makes for its caller their session and address, and what their request is known by in logs and traces.
func Onward(ctx context.Context, a *auth.Auth, req *http.Request) error {
	for _, name := range []string{"Cookie", "X-Request-Id", "Traceparent"} {
		req.Header[name] = Header(ctx)[name]
	}
	return a.Vouch(req.Header, db.ActorFrom(ctx).Address)
}

// Host is the host that the request was sent to, with its port.
func Host(ctx context.Context) string { host, _ := ctx.Value(hostKey{}).(string); return host }

// RequestID is the id that was taken from the request, or made for it.
func RequestID(ctx context.Context) string { id, _ := ctx.Value(requestKey{}).(string); return id }

// Encoded is implemented by answers that are JSON already and too large to be encoded again.
type Encoded interface{ EncodedJSON() []byte }

func encodeJSON(v any) ([]byte, error) {
	if e, ok := v.(Encoded); ok {
		return e.EncodedJSON(), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
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

// WriteFault answers with err in the one shape of errors.
func WriteFault(ctx context.Context, err error, w http.ResponseWriter) {
	f := fault.From(err)
	if wait := f.RetryAfter(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	}
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	if c := challenge(Header(ctx), f); c != "" && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", c)
	}
	_ = write(w, f.Status, f.Body(RequestID(ctx)))
}

// challenge is what WWW-Authenticate says beside a fault: how to call instead. It is empty where no other credential would help.
func challenge(h http.Header, f *fault.Fault) string {
	kind, _, _ := strings.Cut(h.Get("Authorization"), " ")
	token := strings.EqualFold(kind, "Bearer")
	permission, _ := f.Data["permission"].(string)
	switch {
	case token && f.Status == http.StatusUnauthorized:
		return `Bearer realm="Frontdesk", error="invalid_token"`
	case token && f.Status == http.StatusForbidden && permission != "":
		return `Bearer realm="Frontdesk", error="insufficient_scope", scope="` + permission + `"`
	// With this challenge a browser asks for the password itself. Pages ask on their own.
	case f.Status == http.StatusUnauthorized && h.Get("Sec-Fetch-Mode") == "":
		return `Basic realm="Frontdesk", charset="UTF-8"`
	}
	return ""
}

const (
	// stalledAfter is how long a client may take nothing of a file or a stream.
	stalledAfter = 10 * time.Second
	// heartbeat is how long a stream may be silent.
	heartbeat = 20 * time.Second
)

// unhurried lifts the server's deadline for reading a request. When it passes, net/http takes the client for gone and cancels the
// request, also while the answer is being written.
func unhurried(w http.ResponseWriter) { _ = http.NewResponseController(w).SetReadDeadline(time.Time{}) }
