package definition

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Raw is a JSON object as it was sent, unchecked. Empty when left out.
type Raw []byte

// Schema is that of any object.
func (Raw) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// UnmarshalJSON keeps raw.
func (o *Raw) UnmarshalJSON(raw []byte) error {
	*o = bytes.Clone(raw)
	return nil
}

// MarshalJSON gives the object as it was sent.
func (o Raw) MarshalJSON() ([]byte, error) { return o.text(), nil }

// Given reports whether there is a value, null included.
func (o Raw) Given() bool { return len(o) > 0 }

// Null reports whether the value is null.
func (o Raw) Null() bool { return string(o) == "null" }

// text is the object as JSON.
func (o Raw) text() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return o
}

// Entries decodes the values by key, with numbers in their own spelling. Characters that are none become U+FFFD.
func (o Raw) Entries() (map[string]any, error) {
	values := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(o.text()))
	d.UseNumber()
	err := d.Decode(&values)
	return values, err
}
