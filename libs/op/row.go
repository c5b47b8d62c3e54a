package op

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/fault"
)

// Row is one of many inputs in a request, for operations in which each succeeds or fails by itself. It is checked as the body of
// an operation with the input T: Err is the fault that such a body gets, and In is then empty. A field of rows is a []Row[T].
type Row[T any] struct {
	In  T
	Err error

	raw json.RawMessage
}

// Schema is that of T.
func (Row[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// UnmarshalJSON keeps the text for read.
func (r *Row[T]) UnmarshalJSON(text []byte) error {
	r.raw = slices.Clone(text)
	return nil
}

func (r *Row[T]) input() reflect.Type { return reflect.TypeFor[T]() }

func (r *Row[T]) read(into func(text json.RawMessage, in any) error) {
	if r.Err = into(r.raw, &r.In); r.Err != nil {
		r.In = *new(T)
	}
}

// Refusal is an error as a part of an answer, in the shape of every error.
type Refusal json.RawMessage

// Refuse returns f as a part of an answer.
func Refuse(f *fault.Fault) *Refusal {
	return new(Refusal(f.Body("")))
}

// MarshalJSON is the error itself.
func (r Refusal) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// UnmarshalJSON keeps the text.
func (r *Refusal) UnmarshalJSON(text []byte) error { return (*json.RawMessage)(r).UnmarshalJSON(text) }

// Schema is that of openapi.ErrorSchema, written out: the schemas of abilities have no references.
func (Refusal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"code", "message", "data"}, Properties: map[string]*huma.Schema{
		"code":    {Type: huma.TypeString, Description: "It never changes its meaning."},
		"message": {Type: huma.TypeString, Description: "A sentence for people, which may change."},
		"data":    {Type: huma.TypeObject, AdditionalProperties: true, Description: "Facts beside the code, by code."}}}
}

type row interface {
	input() reflect.Type
	read(into func(text json.RawMessage, in any) error)
}

// rowOf returns the input of each row if t is a field of rows, else nil.
func rowOf(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Slice {
		return nil
	}
	if r, ok := reflect.New(t.Elem()).Interface().(row); ok {
		return r.input()
	}
	return nil
}
