package openapi

import (
	"encoding/json"
	"strings"

	"frontdesk/libs/op"
)

// Example is a call of an operation as a test has made it, and its answer. Secrets in it are masked.
type Example struct {
	// Path is as it was called, with the values of its parameters.
	Path    string              `json:"path"`
	Query   map[string][]string `json:"query,omitempty"`
	Request json.RawMessage     `json:"request,omitempty"`
	Status  int                 `json:"status"`
	Answer  json.RawMessage     `json:"answer,omitempty"`
	// Refused are bodies of errors, by code, or by code and reason as in op.Fails.
	Refused map[string]json.RawMessage `json:"refused,omitempty"`
}

// Examples are the examples that s has of its operations.
func Examples(s *op.Set) map[string]Example {
	all := map[string]Example{}
	for id, recorded := range s.Recorded() {
		var x Example
		if err := json.Unmarshal(recorded, &x); err != nil {
			panic("openapi: example of " + id + ": " + err.Error()) // they are compiled in
		}
		all[id] = x
	}
	return all
}

// pathValue is the value of a parameter of path in the example.
func (x Example) pathValue(path, name string) (string, bool) {
	values := strings.Split(x.Path, "/")
	for i, segment := range strings.Split(path, "/") {
		if segment == "{"+name+"}" && i < len(values) {
			return values[i], true
		}
	}
	return "", false
}
