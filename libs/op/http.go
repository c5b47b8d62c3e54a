package op

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	httptransport "github.com/go-kit/kit/transport/http"
	"github.com/google/uuid"

	"frontdesk/libs/csvcell"
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
		id := r.Header.Get("X-Request-Id")
		if !requestID.MatchString(id) {
			id = uuid.NewString()
		}
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("Cache-Control", "no-store")
		ctx := context.WithValue(context.WithValue(r.Context(), requestKey{}, id), headerKey{}, r.Header)
		r = r.WithContext(context.WithValue(ctx, writerKey{}, w))
		routes.ServeHTTP(w, r)
	})
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

type requestKey struct{}
type writerKey struct{}
type headerKey struct{}

// Header is the request's header, for the few operations that show or check what a proxy or browser sent.
func Header(ctx context.Context) http.Header { h, _ := ctx.Value(headerKey{}).(http.Header); return h }

// RequestID is the id that was taken from the request, or made for it.
func RequestID(ctx context.Context) string { id, _ := ctx.Value(requestKey{}).(string); return id }

func (e *entry) server() http.Handler {
	return httptransport.NewServer(e.call, e.decode, e.encode, httptransport.ServerErrorEncoder(writeFault))
}

// decode passes the request on unread, because the permission is checked first.
func (e *entry) decode(ctx context.Context, r *http.Request) (any, error) {
	if accept := r.Header.Get("Accept"); !accepts(accept, e.csv) {
		return nil, fault.New(http.StatusNotAcceptable, "svc_not_acceptable", "This answers with JSON.")
	}
	w, _ := ctx.Value(writerKey{}).(http.ResponseWriter)
	return &request{http: r, w: w}, nil
}

func accepts(accept string, csv bool) bool {
	if accept == "" || csv {
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

type streamer func(http.ResponseWriter) error

func (e *entry) encode(ctx context.Context, w http.ResponseWriter, out any) error {
	switch o := out.(type) {
	case *db.Answer:
		w.Header().Set("Idempotent-Replayed", "true")
		return write(w, o.Status, o.Body)
	case streamer:
		d := &download{ResponseWriter: w}
		err := o(d)
		if err != nil && d.started {
			panic(http.ErrAbortHandler)
		}
		return err
	}
	if h, ok := out.(httptransport.Headerer); ok {
		for k, vs := range h.Headers() {
			for _, v := range vs {
				w.Header().Add(k, v)
			}
		}
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
	// With this header a browser asks for the password itself. Pages ask on their own.
	if f.Status == http.StatusUnauthorized && Header(ctx).Get("Sec-Fetch-Mode") == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Frontdesk", charset="UTF-8"`)
	}
	body := f.Body(RequestID(ctx))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}

// Download is a CSV file on its way to the client.
type Download struct {
	w     http.ResponseWriter
	csv   *csv.Writer
	rows  int
	cells []string
}

// Separator stands between the cells of a CSV file: a comma, also when it is empty, or a semicolon.
type Separator string

// Schema names the two.
func (Separator) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{",", ";"}, Description: "A comma when left out."}
}

// Start names the file and sets the separator; call it before the first row.
func (d *Download) Start(fileName string, separator Separator) {
	h := d.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"`, fileName))
	d.csv = csv.NewWriter(d.w)
	if separator == ";" {
		d.csv.Comma = ';'
	}
}

// Row writes one row and neutralises cells that a spreadsheet would run. It flushes every hundred rows, so memory does not
// grow with the file.
func (d *Download) Row(cells []string) error {
	d.cells = d.cells[:0]
	for _, cell := range cells {
		d.cells = append(d.cells, csvcell.Neutral(cell))
	}
	if err := d.csv.Write(d.cells); err != nil {
		return err
	}
	if d.rows++; d.rows == 1 || d.rows%100 == 0 {
		d.csv.Flush()
		if d.rows == 1 {
			_ = http.NewResponseController(d.w).Flush()
		}
	}
	return d.csv.Error()
}

func (d *Download) close() error {
	if d.csv == nil {
		return nil
	}
	d.csv.Flush()
	return d.csv.Error()
}

type download struct {
	http.ResponseWriter
	started bool
}

func (d *download) Write(b []byte) (int, error) {
	d.started = true
	return d.ResponseWriter.Write(b)
}

func (d *download) WriteHeader(status int) {
	d.started = true
	d.ResponseWriter.WriteHeader(status)
}

func (d *download) Unwrap() http.ResponseWriter { return d.ResponseWriter }

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
