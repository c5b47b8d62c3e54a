package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/fault"
)

// bind reads the request into in, checks it, and takes its fingerprints if it has an Idempotency-Key.
func (e *Entry) bind(r *request, in any) error {
	if f, ok := in.(*File); ok {
		if err := f.read(e, r); err != nil {
			return err
		}
		if r.key != "" {
			r.prints = e.set.Fingerprints(slices.Concat([]byte(f.Name), []byte{0}, f.Bytes))
		}
		if r.waits {
			r.input = f.described()
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
	r.input = args
	fields := e.In
	if !r.actor.Session && slices.ContainsFunc(fields, func(f *Field) bool { _, given := args[f.Name]; return given && f.PersonOnly }) {
		return ErrPersonOnly
	}
	if r.asAbility {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f *Field) bool { return f.Personal })
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
func (e *Entry) readArgs(fields []*Field, args map[string]json.RawMessage, in any) error {
	wrong := fault.Problems{}
	for name := range args {
		if !slices.ContainsFunc(fields, func(f *Field) bool { return f.Name == name }) {
			wrong.Add(name, fault.Unknown())
		}
	}
	into, path := reflect.ValueOf(in).Elem(), huma.NewPathBuffer(make([]byte, 0, 64), 0)
	for _, f := range fields {
		raw, ok := args[f.Name]
		if !ok {
			if f.Required {
				wrong.Add(f.Name, fault.Required())
			}
			continue
		}
		v, err := value(raw)
		if err != nil {
			wrong.Add(f.Name, fault.NewProblem("json", "is not valid JSON"))
			continue
		}
		if e.check(f, v, path, wrong) {
			set(into.FieldByIndex(f.index), f.Name, raw, v, wrong)
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
func (e *Entry) read(r *request) (map[string]json.RawMessage, error) {
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
		for _, f := range e.In {
			values, ok := query[f.Name]
			if f.Schema.Type == huma.TypeArray {
				values = append(values, query[f.Name+"[]"]...)
				ok = len(values) > 0
			}
			if ok && !f.InPath && (len(values) > 1 || values[0] != "") {
				args[f.Name] = f.JSON(values)
			}
		}
	}
	for _, f := range e.In {
		if f.InPath {
			args[f.Name] = f.JSON([]string{r.http.PathValue(f.Name)})
		}
	}
	return args, nil
}

func (e *Entry) body(r *request, args map[string]json.RawMessage) error {
	body, err := readJSON(r.w, r.http, e.MaxBody)
	if err != nil || body == nil {
		return err
	}
	if !members(body, args) {
		return fault.InvalidJSON("The body is not a JSON object.")
	}
	for _, f := range e.In {
		if _, given := args[f.Name]; given && f.InPath {
			return fault.Invalid(f.Name, fault.NewProblem("in_path", "is given by the path"))
		}
	}
	return nil
}

// readRows reads and checks the rows of f, which hold their texts.
func (e *Entry) readRows(f *Field, rows reflect.Value) {
	for i := range rows.Len() {
		rows.Index(i).Addr().Interface().(row).read(func(text json.RawMessage, in any) error {
			args := map[string]json.RawMessage{}
			if !members(text, args) {
				return fault.InvalidJSON("The row is not a JSON object.")
			}
			return e.readArgs(f.rows, args, in)
		})
	}
}
