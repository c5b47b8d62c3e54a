package op

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/tidwall/gjson"

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
	name string
	// index is where it stands in the input.
	index    []int
	schema   *huma.Schema
	required bool
	inPath   bool
	// personal fields are not there for an ability.
	personal bool
	// rows are the fields of each row; only of a field of rows.
	rows []*field
}

// request is a call before and after its body was read.
type request struct {
	http *http.Request
	w    http.ResponseWriter
	// args of an ability, instead of the request's own.
	args map[string]json.RawMessage
	// asAbility tells that the operation is called as an ability, with args for its input.
	asAbility bool
	key       string
	prints    [][]byte
	actor     db.Actor
}

func (r *request) claim(e *entry) db.Request {
	caller := r.actor.Credential
	if caller == "" {
		caller = "visitor"
	}
	return db.Request{Caller: caller, Op: e.ID, Key: r.key, Prints: r.prints}
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
		declareShared(f, s)
		declareNull(f, s)
		s.PrecomputeMessages()
		p := &field{name: name, index: f.Index, schema: s, inPath: strings.Contains(e.path(), "{"+name+"}"), personal: f.Tag.Get("ability") == "-"}
		p.required = p.inPath || f.Tag.Get("required") == "true"
		if t := rowOf(f.Type); t != nil {
			p.rows = e.plan(t)
		}
		fields = append(fields, p)
	}
	// huma takes every field of a nested object for required.
	for name, s := range e.set.requests.Map() {
		s.Required = nil
		for _, f := range fieldsOf(e.set.requests, name) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Tag.Get("required") == "true" {
				s.Required = append(s.Required, name)
			}
			if p := s.Properties[name]; p != nil {
				declareShared(f, p)
				declareNull(f, p)
			}
		}
		s.PrecomputeMessages()
	}
	return fields
}

// fieldsOf are the fields of the type behind a schema. The list is empty for a schema that a type has registered itself.
func fieldsOf(reg huma.Registry, schema string) []reflect.StructField {
	t := reg.TypeFromRef("#/components/schemas/" + schema)
	if t == nil {
		return nil
	}
	return reflect.VisibleFields(t)
}

// declareShared says of a field that holds one id or several that they are UUIDs, which huma takes for any text, and of a field with the tag
// component that its schema is a component of the installation.
func declareShared(f reflect.StructField, s *huma.Schema) {
	if name := f.Tag.Get("component"); name != "" {
		s.Extensions = map[string]any{component: name}
	}
	switch {
	case slices.Contains(uuidTypes, f.Type):
		s.Format = "uuid"
	case f.Type == reflect.TypeFor[[]uuid.UUID]():
		s.Items.Format = "uuid"
	}
}

// declareNull makes s the schema of a request's field: a pointer or an opt.Value takes null only where its tag says
// nullable:"true", because leaving a field out and clearing it differ.
func declareNull(f reflect.StructField, s *huma.Schema) {
	optional := f.Type.Kind() == reflect.Pointer || f.Type.Implements(reflect.TypeFor[interface{ Given() bool }]())
	if !optional {
		return
	}
	nullable := f.Tag.Get("nullable") == "true"
	if object := orNull(s); object != nil && !nullable {
		s.AnyOf, s.Ref = nil, object.Ref
	}
	if s.Ref == "" && s.AnyOf == nil {
		s.Nullable = nullable
	}
	if nullable && s.Enum != nil && !slices.Contains(s.Enum, nil) {
		s.Enum = append(s.Enum, nil)
	}
}

// orNull is the object of a schema that allows an object or null, else nil.
func orNull(s *huma.Schema) *huma.Schema {
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
		return s.AnyOf[0]
	}
	return nil
}

// bind reads the request into in, checks it, and takes its fingerprints if it has an Idempotency-Key.
func (e *entry) bind(r *request, in any) error {
	if f, ok := in.(*File); ok {
		if err := f.read(e, r); err != nil {
			return err
		}
		if r.key != "" {
			r.prints = e.set.Fingerprints(slices.Concat([]byte(f.Name), []byte{0}, f.Bytes))
		}
		return nil
	}
	if sent, ok := in.(*Sent); ok {
		return sent.read(e, r)
	}
	args := r.args
	if args == nil {
		var err error
		if args, err = e.read(r); err != nil {
			return err
		}
	}
	fields := e.in
	if r.asAbility {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f *field) bool { return f.personal })
	}
	if err := e.readArgs(fields, args, in); err != nil || r.key == "" {
		return err
	}
	flat, err := json.Marshal(args)
	if err == nil {
		r.prints = e.set.Fingerprints(flat)
	}
	return err
}

// readArgs checks the values of args and reads them into in, which holds a part of them if there is an error.
func (e *entry) readArgs(fields []*field, args map[string]json.RawMessage, in any) error {
	wrong := fault.Problems{}
	for name := range args {
		if !slices.ContainsFunc(fields, func(f *field) bool { return f.name == name }) {
			wrong.Add(name, fault.Unknown())
		}
	}
	into, path := reflect.ValueOf(in).Elem(), huma.NewPathBuffer(make([]byte, 0, 64), 0)
	for _, f := range fields {
		raw, ok := args[f.name]
		if !ok {
			if f.required {
				wrong.Add(f.name, fault.Required())
			}
			continue
		}
		v, err := value(raw)
		if err != nil {
			wrong.Add(f.name, fault.NewProblem("json", "is not valid JSON"))
			continue
		}
		if e.check(f, v, path, wrong) {
			set(into.FieldByIndex(f.index), f.name, raw, v, wrong)
		}
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	for _, f := range fields {
		if f.rows != nil {
			e.readRows(f, into.FieldByIndex(f.index))
		}
	}
	return nil
}

// value is valid JSON, without space around it, as json.Unmarshal reads it. The commonest values need no decoder.
func value(raw json.RawMessage) (any, error) {
	switch {
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1]), nil
	case raw[0] == 't', raw[0] == 'f':
		return raw[0] == 't', nil
	case raw[0] == '-', raw[0] >= '0' && raw[0] <= '9':
		return strconv.ParseFloat(string(raw), 64)
	}
	var v any
	err := json.Unmarshal(raw, &v)
	return v, err
}

// set stores a value that has passed the checks, raw and as value reads it, in a field of an input.
func set(field reflect.Value, name string, raw json.RawMessage, v any, wrong fault.Problems) {
	if reflect.TypeOf(v) == field.Type() {
		field.Set(reflect.ValueOf(v))
		return
	}
	err := json.Unmarshal(raw, field.Addr().Interface())
	if err != nil {
		err = json.Unmarshal(wholeNumbers(raw), field.Addr().Interface())
	}
	if err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
			name += "." + t.Field
		}
		wrong.Add(name, fault.NewProblem("type", "does not have the right type"))
	}
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
	query, err := parseQuery(r.http.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if method == http.MethodGet || method == http.MethodHead || method == http.MethodDelete {
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

// parseQuery reads a query string. A semicolon is a character like others, as browsers see it.
func parseQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
	if err != nil {
		return nil, fault.Invalid("query", fault.NewProblem("malformed", "must be percent-encoded: "+err.Error()))
	}
	for name, values := range query {
		for _, v := range append(values, name) {
			if !utf8.ValidString(v) {
				return nil, fault.Invalid(strings.ToValidUTF8(name, "\ufffd"), fault.NewProblem("encoding", "must be UTF-8"))
			}
		}
	}
	return query, nil
}

// readJSON is the body of a request, which is UTF-8 and declared as JSON; nil for a request without a body. More than limit bytes
// are 413, another media type is 415.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fault.TooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, fault.TooLarge(limit)
		}
		return nil, fault.InvalidJSON("The body could not be read to its end.")
	}
	if len(body) == 0 {
		return nil, nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, errMedia
	}
	if !utf8.Valid(body) {
		return nil, fault.InvalidJSON("The body is not UTF-8.")
	}
	return wholeCharacters(body), nil
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// wholeCharacters is JSON text in which half a surrogate pair, such as "\ud800" alone, is the replacement character: no
// text column takes the half. Text that is no JSON comes back as it is.
func wholeCharacters(text []byte) []byte {
	if !surrogate.Match(text) {
		return text
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return text
	}
	// The decoder has replaced the halves.
	whole, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return whole
}

func (e *entry) body(r *request, args map[string]json.RawMessage) error {
	body, err := readJSON(r.w, r.http, e.MaxBody)
	if err != nil || body == nil {
		return err
	}
	if !members(body, args) {
		return fault.InvalidJSON("The body is not a JSON object.")
	}
	for _, f := range e.in {
		if _, given := args[f.name]; given && f.inPath {
			return fault.Invalid(f.name, fault.NewProblem("in_path", "is given by the path"))
		}
	}
	return nil
}

// members adds the values of a JSON object to args by their names, as parts of text, and reports whether text is one. Of two values with one name the
// last counts, as for json.Unmarshal, which would copy each.
func members(text []byte, args map[string]json.RawMessage) bool {
	if !json.Valid(text) {
		return false
	}
	object := gjson.ParseBytes(text)
	object.ForEach(func(name, value gjson.Result) bool {
		args[name.String()] = text[value.Index : value.Index+len(value.Raw)]
		return true
	})
	return object.IsObject()
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

// check reports whether a field may have a value, and adds to wrong what is against it.
func (e *entry) check(f *field, v any, path *huma.PathBuffer, wrong fault.Problems) bool {
	schema, before := f.schema, len(wrong)
	if f.rows != nil {
		// Each row is checked by itself, see readRows.
		list := *schema
		list.Items = &huma.Schema{}
		schema = &list
	} else if p := storable(v, 0); !p.IsZero() {
		wrong.Add(f.name, p)
		return false
	}
	e.nulls(schema, f.name, v, wrong)
	if v == nil {
		return len(wrong) == before
	}
	if object := orNull(schema); object != nil {
		// huma accepts null for every schema of this kind, so only the object's schema is checked.
		schema = object
	}
	if _, ok := v.(string); ok && schema.Type == huma.TypeString && schema.Enum != nil && !slices.Contains(schema.Enum, v) {
		wrong.Add(f.name, notOneOf(schema.Enum))
		return false
	}
	res := &huma.ValidateResult{}
	path.Push(f.name)
	huma.Validate(e.set.requests, schema, path, huma.ModeWriteToServer, v, res)
	path.Pop()
	for _, err := range res.Errors {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			wrong.Add(f.name, fault.NewProblem("invalid", "is not valid"))
			continue
		}
		wrong.Add(detail.Location, hinted(problem(detail.Message), detail.Value))
	}
	if f.schema.Type == huma.TypeInteger {
		// A float64 cannot tell the last digits of such numbers, and no column holds them.
		if n, ok := v.(float64); ok && math.Abs(n) > 1<<53 {
			wrong.Add(f.name, fault.TooHigh(1<<53))
		}
	}
	return len(wrong) == before
}

// nulls refuses each null that the schema does not allow, at any depth. huma lets one pass for a property that is not
// required.
func (e *entry) nulls(s *huma.Schema, path string, v any, wrong fault.Problems) {
	if object := orNull(s); object != nil {
		if v == nil {
			return
		}
		s = object
	}
	for s.Ref != "" {
		s = e.set.requests.SchemaFromRef(s.Ref)
	}
	switch v := v.(type) {
	case nil:
		if !s.Nullable && s.Type != "" {
			wrong.Add(path, fault.Null())
		}
	case []any:
		for i, x := range v {
			if s.Items != nil {
				e.nulls(s.Items, path+"["+strconv.Itoa(i)+"]", x, wrong)
			}
		}
	case map[string]any:
		more, _ := s.AdditionalProperties.(*huma.Schema)
		for name, x := range v {
			if p := cmp.Or(s.Properties[name], more); p != nil {
				e.nulls(p, path+"."+name, x, wrong)
			}
		}
	}
}

// notOneOf is the problem of a text that is not in the list of allowed texts.
func notOneOf(enum []any) fault.Problem {
	var allowed []string
	for _, v := range enum {
		if v, ok := v.(string); ok && v != "" {
			allowed = append(allowed, v)
		}
	}
	return fault.NotOneOf(allowed...)
}

// storable refuses what no text column can hold, at any depth, and nesting without bounds.
func storable(v any, depth int) fault.Problem {
	if depth > 32 {
		return fault.NewProblem("too_deep", "is nested too deeply")
	}
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return fault.NewProblem("control_characters", "must not contain the character NUL")
		}
	case []any:
		for _, x := range v {
			if p := storable(x, depth+1); !p.IsZero() {
				return p
			}
		}
	case map[string]any:
		for k, x := range v {
			if p := storable(k, depth+1); !p.IsZero() {
				return p
			}
			if p := storable(x, depth+1); !p.IsZero() {
				return p
			}
		}
	}
	return fault.Problem{}
}

// problem gives huma's message about a value its code, its facts and a text that follows the parameter's name.
func problem(m string) fault.Problem {
	for _, w := range [...]struct {
		prefix string
		says   func(rest string) fault.Problem
	}{
		{"expected length <= ", counted(fault.TooLong)},
		{"expected length >= ", counted(fault.TooShort)},
		{"expected number <= ", func(n string) fault.Problem { return fault.TooHigh(json.Number(n)) }},
		{"expected number >= ", func(n string) fault.Problem { return fault.TooLow(json.Number(n)) }},
		{"expected array length <= ", counted(fault.TooMany)},
		{"expected array length >= ", counted(fault.TooFew)},
		{"expected value to be one of ", func(list string) fault.Problem {
			return fault.NotOneOf(strings.Split(strings.NewReplacer(`"`, "").Replace(list), ", ")...)
		}},
		{"expected string to be ", func(what string) fault.Problem {
			return fault.NewProblem("format", "must be a valid "+what, "format", what)
		}},
		{"expected required property ", func(name string) fault.Problem {
			name = strings.TrimSuffix(name, " to be present")
			return fault.NewProblem("incomplete", "needs "+name, "name", name)
		}},
		{"expected ", fault.Type},
	} {
		if rest, ok := strings.CutPrefix(m, w.prefix); ok {
			return w.says(rest)
		}
	}
	if m == "unexpected property" {
		return fault.Unknown()
	}
	return fault.NewProblem("invalid", "is not valid: "+m)
}

// counted reads the number of a limit.
func counted(p func(int) fault.Problem) func(string) fault.Problem {
	return func(rest string) fault.Problem {
		n, err := strconv.Atoi(rest)
		if err != nil {
			return fault.NewProblem("invalid", "is not valid: "+rest)
		}
		return p(n)
	}
}
