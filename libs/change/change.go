// Package change describes an edit: the fields that it changed, with their old and new values. Timelines and the audit log
// hold it as JSON: {field: {old, new}}.
package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is the old and the new value of a field.
type Change struct {
	Old any `json:"old"`
	New any `json:"new"`
}

// Set are the changes of one edit, by field.
type Set map[string]Change

// Note adds a field whose values differ.
func (s Set) Note(field string, old, new any) {
	if !reflect.DeepEqual(old, new) {
		s[field] = Change{old, new}
	}
}

// Names are the changed fields, sorted; values by key come under the name of their map.
func (s Set) Names() []string {
	names := map[string]bool{}
	for k := range s {
		k, _, _ = strings.Cut(k, ".")
		names[k] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Before adds the old values to in, which is the input of a call that brings them back. It takes fields by their own names only.
func (s Set) Before(in map[string]any) map[string]any {
	for name, c := range s {
		if !strings.Contains(name, ".") {
			in[name] = c.Old
		}
	}
	return in
}

// Created is s as the changes of a new record: nothing was there before.
func (s Set) Created() Set {
	out := make(Set, len(s))
	for k, v := range s {
		out[k] = Change{nil, v.New}
	}
	return out
}

// Between compares two versions of a record by their JSON, so it holds nothing that REST does not show. A field inside another
// one has both names, with a dot between. Times of the change itself are left out.
func Between(old, new any) (Set, error) {
	before, err := fields(old)
	after, wrong := fields(new)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	s := Set{}
	s.compare("", before, after)
	return s, nil
}

func fields(v any) (map[string]any, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("change: %w", err)
		}
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("change: %w", err)
	}
	return out, nil
}

func (s Set) compare(in string, old, new map[string]any) {
	names := map[string]any{}
	maps.Copy(names, new)
	maps.Copy(names, old)
	for name := range names {
		before, wasObject := old[name].(map[string]any)
		after, isObject := new[name].(map[string]any)
		switch {
		case name == "updated_at":
		case (wasObject || old[name] == nil) && (isObject || new[name] == nil) && (wasObject || isObject):
			s.compare(in+name+".", before, after)
		default:
			s.Note(in+name, old[name], new[name])
		}
	}
}

// longest is how many bytes of JSON a value has at most in the audit log.
const longest = 1000

// Brief is s as JSON for the audit log: a value that is long is "…" there. It is nil for an empty set.
func (s Set) Brief() ([]byte, error) {
	if len(s) == 0 {
		return nil, nil
	}
	out := make(Set, len(s))
	for name, c := range s {
		was, err := brief(c.Old)
		became, wrong := brief(c.New)
		if err = cmp.Or(err, wrong); err != nil {
			return nil, err
		}
		out[name] = Change{was, became}
	}
	return json.Marshal(out)
}

func brief(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("change: %w", err)
	}
	if len(raw) > longest {
		return "…", nil
	}
	return json.RawMessage(raw), nil
}
