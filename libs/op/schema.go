package op

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"frontdesk/libs/opt"
)

func init() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
}

// Field is one property of a request, wherever it comes from.
type Field struct {
	Name     string
	Schema   *huma.Schema
	Required bool
	InPath   bool
	// Personal fields are not there for an ability.
	Personal bool
	// PersonOnly fields are changed by a person who is signed in, and refused to application passwords and assistants. They are not there for an
	// ability either.
	PersonOnly bool

	// Secret fields are shown to nobody, such as in the input of a call that waits for a person.
	Secret bool

	// index is where it stands in the input.
	index []int
	// rows are the fields of each row; only of a field of rows.
	rows []*Field
}

// Component is the extension by which a schema names the component that describes it.
const Component = "x-component"

var uuidTypes = []reflect.Type{reflect.TypeFor[uuid.UUID](), reflect.TypeFor[*uuid.UUID](), reflect.TypeFor[opt.Value[uuid.UUID]]()}

// fieldsOf reads the fields of t, the input of o. A field is required only when its tag says so.
func (s *Set) fieldsOf(o Op, t reflect.Type) []*Field {
	var fields []*Field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || f.Anonymous {
			continue
		}
		of := huma.SchemaFromField(s.Requests, f, o.ID+f.Name)
		declareShared(f, of)
		declareNull(f, of)
		of.PrecomputeMessages()
		p := &Field{Name: name, index: f.Index, Schema: of, InPath: strings.Contains(o.Path(), "{"+name+"}"), Personal: f.Tag.Get("ability") == "-",
			PersonOnly: f.Tag.Get("by") == "person", Secret: f.Tag.Get("secret") == "true"}
		if p.PersonOnly {
			of.Description += " Only a person who is signed in can change it."
		}
		p.Required = p.InPath || f.Tag.Get("required") == "true"
		if t := rowOf(f.Type); t != nil {
			p.rows = s.fieldsOf(o, t)
		}
		fields = append(fields, p)
	}
	// huma takes every field of a nested object for required.
	for name, of := range s.added(s.Requests) {
		of.Required = nil
		for _, f := range propertiesOf(s.Requests, name) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Tag.Get("required") == "true" {
				of.Required = append(of.Required, name)
			}
			if p := of.Properties[name]; p != nil {
				declareShared(f, p)
				declareNull(f, p)
			}
		}
		of.PrecomputeMessages()
	}
	return fields
}

// answerSchema is the schema of out, the answer of o.
func (s *Set) answerSchema(o Op, out reflect.Type) *huma.Schema {
	whole := s.Answers.Schema(out, true, o.ID+"Answer")
	for name, of := range s.added(s.Answers) {
		for _, f := range propertiesOf(s.Answers, name) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := of.Properties[name]; p != nil {
				declareShared(f, p)
				if f.Type.Kind() == reflect.Pointer && p.Enum != nil && !slices.Contains(p.Enum, nil) {
					p.Enum = append(p.Enum, nil) // null is one of the values then
				}
			}
		}
	}
	return whole
}

// added are the schemas in a registry that the call before did not find there, by name.
func (s *Set) added(to huma.Registry) map[string]*huma.Schema {
	added := map[string]*huma.Schema{}
	for name, of := range to.Map() {
		if !s.described[of] {
			s.described[of], added[name] = true, of
		}
	}
	return added
}

// refuseEmbedded panics if a struct in t embeds one of a type that is not exported: JSON shows its fields, and huma would leave them out of the schema.
func refuseEmbedded(o Op, t reflect.Type) {
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for f := range t.Fields() {
				switch {
				case f.IsExported():
					look(f.Type)
				case f.Anonymous:
					panic("op: " + o.ID + ": " + t.String() + " embeds " + f.Name + ", which is not exported and so would not be described")
				}
			}
		}
	}
	look(t)
}

// propertiesOf are the fields of the type behind a schema. The list is empty for a schema that a type has registered itself.
func propertiesOf(reg huma.Registry, schema string) []reflect.StructField {
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
		s.Extensions = map[string]any{Component: name}
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
	if f.Type.Kind() != reflect.Pointer && !f.Type.Implements(reflect.TypeFor[interface{ Given() bool }]()) {
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

// JSON renders text of a path or query as the JSON that the field's type expects. What does not fit is
// left a string, for the check to refuse.
func (f *Field) JSON(values []string) json.RawMessage {
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
	if f.Schema.Type != huma.TypeArray {
		return one(f.Schema, values[len(values)-1])
	}
	items := make([]json.RawMessage, len(values))
	for i, v := range values {
		items[i] = one(f.Schema.Items, v)
	}
	b, _ := json.Marshal(items)
	return b
}
