// Package answer holds the answers of the API against what a test expects, and makes the key of a passkey that a test registers.
package answer

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answer is that of a call.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	// T is the test whose expectations the methods hold.
	T testing.TB
}

// Read reads the whole answer of a call. Its body is the caller's to close.
func Read(t testing.TB, res *http.Response) (*Answer, error) {
	raw, err := io.ReadAll(res.Body)
	return &Answer{res.StatusCode, res.Header, string(raw), t}, err
}

// Is requires the status.
func (a *Answer) Is(status int) *Answer {
	a.T.Helper()
	require.Equal(a.T, status, a.Status, a.Body)
	return a
}

// Fails requires an error of this status and code.
func (a *Answer) Fails(status int, code string) *Answer {
	a.T.Helper()
	require.Equal(a.T, status, a.Status, a.Body)
	require.Equal(a.T, code, a.Field("code"), a.Body)
	return a
}

// Into decodes the body.
func (a *Answer) Into(v any) {
	a.T.Helper()
	require.NoError(a.T, json.Unmarshal([]byte(a.Body), v), a.Body)
}

// Map is the body as an object.
func (a *Answer) Map() map[string]any {
	a.T.Helper()
	var m map[string]any
	a.Into(&m)
	return m
}

// Items are the items of a list.
func (a *Answer) Items() []map[string]any {
	a.T.Helper()
	var l struct {
		Items []map[string]any `json:"items"`
	}
	a.Into(&l)
	return l.Items
}

// Value is the value at a path inside the body, like "data.params.email" or "items.0.id"; nil if the body has no such path, or is
// not JSON.
func (a *Answer) Value(path string) any {
	var v any
	if json.Unmarshal([]byte(a.Body), &v) != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// Field is Value of a body that has to be JSON.
func (a *Answer) Field(path string) any {
	a.T.Helper()
	require.True(a.T, json.Valid([]byte(a.Body)), a.Body)
	return a.Value(path)
}

// Text is Field if that is a text, else empty.
func (a *Answer) Text(path string) string {
	a.T.Helper()
	s, _ := a.Field(path).(string)
	return s
}
