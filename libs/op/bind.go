package op

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
)

func init() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
}

// field is one property of a request, wherever it comes from.
type field struct {
	name     string
	schema   *huma.Schema
	required bool
	inPath   bool
	// personal fields are not there for an ability.
	personal bool
}

// request is a call before and after its body was read.
type request struct {
	http *http.Request
	w    http.ResponseWriter
	// args of an ability, instead of the request's own.
	args  map[string]json.RawMessage
	agent bool // an ability
	key   string
	hash  []byte
	actor db.Actor
}

func (r *request) claim(e *entry) db.Request {
	caller := r.actor.Credential
	if caller == "" {
		caller = "visitor"
	}
	return db.Request{Caller: caller, Op: e.ID, Key: r.key, Hash: r.hash}
}

var uuidTypes = []reflect.Type{reflect.TypeFor[uuid.UUID](), reflect.TypeFor[*uuid.UUID](), reflect.TypeFor[opt.Value[uuid.UUID]]()}

// plan reads the fields of a request type once. A field is required only when its tag says so.
func (e *entry) plan(t reflect.Type) []*field {
	var fields []*field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || f.Anonymous {
			continue
		}
		s := huma.SchemaFromField(e.set.requests, f, e.ID+f.Name)
		if slices.Contains(uuidTypes, f.Type) {
			s.Format = "uuid"
		}
		if f.Type == reflect.TypeFor[[]uuid.UUID]() {
			s.Items.Format = "uuid"
		}
		s.PrecomputeMessages()
		p := &field{name: name, schema: s, inPath: strings.Contains(e.path(), "{"+name+"}"), personal: f.Tag.Get("ability") == "-"}
		p.required = p.inPath || f.Tag.Get("required") == "true"
		fields = append(fields, p)
	}
	// huma takes every field of a nested object for required.
	for name, s := range e.set.requests.Map() {
		t := e.set.requests.TypeFromRef("#/components/schemas/" + name)
		s.Required = nil
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Tag.Get("required") == "true" {
				s.Required = append(s.Required, name)
			}
		}
		s.PrecomputeMessages()
	}
	return fields
}

// bind reads the request into in, checks it, and takes its fingerprint.
func (e *entry) bind(r *request, in any) error {
	args := r.args
	if args == nil {
		var err error
		if args, err = e.read(r); err != nil {
			return err
		}
	}
	params := map[string]string{}
	for name := range args {
		if !slices.ContainsFunc(e.in, func(f *field) bool { return f.name == name && !(r.agent && f.personal) }) {
			params[name] = "is not known here"
		}
	}
	for _, f := range e.in {
		raw, ok := args[f.name]
		if !ok {
			if f.required {
				params[f.name] = "is required"
			}
			continue
		}
		e.check(f, raw, params)
	}
	if len(params) > 0 {
		return fault.Params(params)
	}
	flat, err := json.Marshal(args)
	if err != nil {
		return fault.InvalidJSON("The body is not valid JSON.")
	}
	hash := sha256.Sum256(flat)
	r.hash = hash[:]
	if err := json.Unmarshal(flat, in); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
			return fault.Param(t.Field, "does not have the right type")
		}
		return fault.InvalidJSON("The request could not be read.")
	}
	return nil
}

// read collects path, query and body as one flat object.
func (e *entry) read(r *request) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	method := r.http.Method
	if method != http.MethodGet && method != http.MethodHead {
		if err := e.body(r, args); err != nil {
			return nil, err
		}
	}
	if method == http.MethodGet || method == http.MethodHead || method == http.MethodDelete {
		query := r.http.URL.Query()
		for _, f := range e.in {
			values, ok := query[f.name]
			if f.schema.Type == huma.TypeArray {
				values = append(values, query[f.name+"[]"]...)
				ok = len(values) > 0
			}
			if ok && !f.inPath && (len(values) > 1 || values[0] != "") {
				args[f.name] = e.raw(f, values)
			}
		}
	}
	for _, f := range e.in {
		if f.inPath {
			args[f.name] = e.raw(f, []string{r.http.PathValue(f.name)})
		}
	}
	return args, nil
}

func (e *entry) body(r *request, args map[string]json.RawMessage) error {
	limit := e.MaxBody
	if r.http.ContentLength > limit {
		return fault.TooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.w, r.http.Body, limit))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return fault.TooLarge(limit)
		}
		return fault.InvalidJSON("The body could not be read to its end.")
	}
	if len(body) == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return fault.New(http.StatusUnsupportedMediaType, "svc_unsupported_media_type", "Send the body as application/json.")
	}
	if !utf8.Valid(body) {
		return fault.InvalidJSON("The body is not UTF-8.")
	}
	if err := json.Unmarshal(body, &args); err != nil || args == nil {
		return fault.InvalidJSON("The body is not a JSON object.")
	}
	for _, f := range e.in {
		if _, given := args[f.name]; given && f.inPath {
			return fault.Param(f.name, "is given by the path")
		}
	}
	return nil
}

// raw renders text of a path or query as the JSON that the field's type expects. What does not fit is
// left a string, for the check to refuse.
func (e *entry) raw(f *field, values []string) json.RawMessage {
	one := func(s *huma.Schema, v string) json.RawMessage {
		switch s.Type {
		case huma.TypeInteger, huma.TypeNumber:
			if _, err := strconv.ParseFloat(v, 64); err == nil && json.Valid([]byte(v)) {
				return json.RawMessage(v)
			}
		case huma.TypeBoolean:
			switch v {
			case "true", "1":
				return json.RawMessage("true")
			case "false", "0":
				return json.RawMessage("false")
			}
		}
		b, _ := json.Marshal(v)
		return b
	}
	if f.schema.Type != huma.TypeArray {
		return one(f.schema, values[len(values)-1])
	}
	items := make([]json.RawMessage, len(values))
	for i, v := range values {
		items[i] = one(f.schema.Items, v)
	}
	b, _ := json.Marshal(items)
	return b
}

func (e *entry) check(f *field, raw json.RawMessage, params map[string]string) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		params[f.name] = "is not valid JSON"
		return
	}
	if v == nil && !f.schema.Nullable && f.schema.Type != "" {
		params[f.name] = "must not be null"
		return
	}
	if why := storable(v, 0); why != "" {
		params[f.name] = why
		return
	}
	res := &huma.ValidateResult{}
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	path.Push(f.name)
	schema := f.schema
	if len(schema.AnyOf) == 2 && schema.AnyOf[1].Type == "null" {
		// An object or null. To huma everything is null, so that only the object is asked.
		if v == nil {
			return
		}
		schema = schema.AnyOf[0]
	}
	huma.Validate(e.set.requests, schema, path, huma.ModeWriteToServer, v, res)
	for _, err := range res.Errors {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			params[f.name] = "is not valid"
			continue
		}
		if _, seen := params[detail.Location]; !seen {
			params[detail.Location] = phrase(detail.Message)
		}
	}
	if f.schema.Type == huma.TypeInteger && params[f.name] == "" {
		// A float64 cannot tell the last digits of such numbers, and no column holds them.
		if n, ok := v.(float64); ok && math.Abs(n) > 1<<53 {
			params[f.name] = "is too large"
		}
	}
}

// storable refuses what no text column can hold, at any depth, and nesting without bounds.
func storable(v any, depth int) string {
	if depth > 32 {
		return "is nested too deeply"
	}
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return "must not contain the character NUL"
		}
	case []any:
		for _, x := range v {
			if why := storable(x, depth+1); why != "" {
				return why
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if why := storable(k, depth+1); why != "" {
				return why
			}
			if why := storable(v[k], depth+1); why != "" {
				return why
			}
		}
	}
	return ""
}

// phrase words huma's messages as what is wrong with the parameter before them.
func phrase(m string) string {
	for _, w := range [...]struct{ prefix, says string }{
		{"expected length <= ", "must have at most %s characters"},
		{"expected length >= ", "must have at least %s characters"},
		{"expected number <= ", "must be at most %s"},
		{"expected number >= ", "must be at least %s"},
		{"expected array length <= ", "must have at most %s items"},
		{"expected array length >= ", "must have at least %s items"},
		{"expected value to be one of ", "must be one of %s"},
		{"expected string to be ", "must be a valid %s"},
		{"expected required property ", "needs %s"},
		{"expected ", "must be %s"},
	} {
		if rest, ok := strings.CutPrefix(m, w.prefix); ok {
			return fmt.Sprintf(w.says, strings.TrimSuffix(strings.Trim(rest, `"`), " to be present"))
		}
	}
	if m == "unexpected property" {
		return "is not known here"
	}
	return "is not valid: " + m
}
