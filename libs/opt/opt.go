// Package opt tells a field that was left out of a JSON object from one that is null.
package opt

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Value is a field of a PATCH body: absent (the zero value), null, or a value. A request may send null only where the
// field is tagged nullable:"true"; libs/op refuses it elsewhere. Tag it with json:",omitzero" where it is also written.
type Value[T any] struct {
	V    T
	Set  bool // the key was there
	Null bool // and its value was null
}

// Of is a value that was given.
func Of[T any](v T) Value[T] { return Value[T]{V: v, Set: true} }

// Given reports whether there is a value other than null.
func (o Value[T]) Given() bool { return o.Set && !o.Null }

// Or is the value, or otherwise when it is absent or null.
func (o Value[T]) Or(otherwise T) T {
	if o.Given() {
		return o.V
	}
	return otherwise
}

// Apply sets target when the field was given: null stores the zero value.
func (o Value[T]) Apply(target *T) {
	if o.Set {
		*target = o.V
	}
}

// ApplyPtr sets target when the field was given: null stores nil.
func (o Value[T]) ApplyPtr(target **T) {
	if o.Set {
		*target = nil
	}
	if o.Given() {
		*target = new(o.V)
	}
}

// IsZero makes omitzero leave an absent field out.
func (o Value[T]) IsZero() bool { return !o.Set }

// Schema is that of T, or null.
func (o Value[T]) Schema(r huma.Registry) *huma.Schema {
	inner := r.Schema(reflect.TypeFor[T](), true, "")
	if inner.Ref != "" {
		return &huma.Schema{AnyOf: []*huma.Schema{inner, {Type: "null"}}}
	}
	s := *inner
	s.Nullable = true
	return &s
}

func (o *Value[T]) UnmarshalJSON(b []byte) error {
	*o = Value[T]{Set: true}
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.V)
}

func (o Value[T]) MarshalJSON() ([]byte, error) {
	if !o.Given() {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}
