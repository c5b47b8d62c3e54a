package message

import (
	"bytes"

	"github.com/danielgtaylor/huma/v2"
)

// Raw is a body from outside, which may be any bytes. Answers show it as text.
type Raw []byte

// MarshalText replaces what is not UTF-8.
func (b Raw) MarshalText() ([]byte, error) { return bytes.ToValidUTF8(b, []byte("\uFFFD")), nil }

// Schema is a string.
func (Raw) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
