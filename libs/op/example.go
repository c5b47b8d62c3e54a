package op

import (
	"encoding/json"
	"strings"
)

// Example is a call of an operation as a test has made it, and its answer. Secrets in it are masked.
type Example struct {
	// Path is as it was called, with the values of its parameters.
	Path    string              `json:"path"`
	Query   map[string][]string `json:"query,omitempty"`
	Request json.RawMessage     `json:"request,omitempty"`
	Status  int                 `json:"status"`
	Answer  json.RawMessage     `json:"answer,omitempty"`
	// Refused are bodies of errors, by code, or by code and reason as in Fails.
	Refused map[string]json.RawMessage `json:"refused,omitempty"`
}

// Examples takes what tests have recorded, by operation, see apptest.Service.CheckExamples.
func (s *Set) Examples(recorded []byte) {
	if err := json.Unmarshal(recorded, &s.examples); err != nil {
		panic("op: examples of " + s.Service + ": " + err.Error()) // they are compiled in
	}
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
