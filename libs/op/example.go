package op

import (
	"encoding/json"
	"maps"
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

// Examples takes what tests have recorded, by operation, see apptest.CheckExamples. Each room of a service gives its own.
func (s *Set) Examples(recorded []byte) {
	var more map[string]Example
	if err := json.Unmarshal(recorded, &more); err != nil {
		panic("op: examples of " + s.Service + ": " + err.Error()) // they are compiled in
	}
	for id, x := range more {
		if _, twice := s.examples[id]; twice {
			panic("op: two examples of " + id)
		}
		s.examples[id] = x
	}
}

// Recorded returns the examples by operation.
func (s *Set) Recorded() map[string]Example { return maps.Clone(s.examples) }

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
