package forms

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// object is a JSON object as it was sent, unchecked. Empty when left out.
type object []byte

// Schema is that of any object.
func (object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// UnmarshalJSON keeps raw.
func (o *object) UnmarshalJSON(raw []byte) error {
	*o = bytes.Clone(raw)
	return nil
}

// MarshalJSON gives the object as it was sent.
func (o object) MarshalJSON() ([]byte, error) { return o.text(), nil }

func (o object) given() bool { return len(o) > 0 }

func (o object) null() bool { return string(o) == "null" }

// text is the object as JSON.
func (o object) text() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return o
}

// entries decodes the values by key, with numbers in their own spelling. Characters that are none become U+FFFD.
func (o object) entries() (map[string]any, error) {
	values := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(o.text()))
	d.UseNumber()
	err := d.Decode(&values)
	return values, err
}
