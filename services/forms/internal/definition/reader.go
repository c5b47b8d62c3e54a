package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// The most problems that one answer names.
const maxProblems = 20

// problems collects what is wrong, by the path of the value.
type problems struct{ fault.Problems }

func (p problems) add(path string, wrong fault.Problem) {
	if len(p.Problems) < maxProblems {
		p.Add(path, wrong)
	}
}

// object is a JSON object at a path, whose values are read by key with their type and limits checked. Absent
// and null are the same: the zero value, without a problem.
type object struct {
	path   string
	values map[string]json.RawMessage
	found  problems
}

// readObject reads raw and reports keys that are not known.
func readObject(found problems, path string, raw json.RawMessage, known ...string) object {
	o := object{path: path, found: found}
	if isNull(raw) {
		return o
	}
	if err := json.Unmarshal(raw, &o.values); err != nil {
		found.add(path, fault.Type("an object"))
		return o
	}
	for key := range o.values {
		if !slices.Contains(known, key) {
			found.add(path+"."+form.Clip(key), fault.NewProblem("unknown", "is not a known key"))
		}
	}
	return o
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func (o object) at(key string) string { return o.path + "." + key }

func (o object) has(key string) bool { return !isNull(o.values[key]) }

// check says what is wrong with a text of at most max characters: form.OneLine or form.Text.
type check func(s string, max int) fault.Problem

// line is a trimmed string of one line with at most max characters, lines one that may have several.
func (o object) line(key string, max int) string  { return o.text(key, max, form.OneLine) }
func (o object) lines(key string, max int) string { return o.text(key, max, form.Text) }

func (o object) text(key string, max int, wrong check) string {
	raw := o.values[key]
	if isNull(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		o.found.add(o.at(key), fault.Type("a string"))
		return ""
	}
	return o.found.text(o.at(key), s, max, wrong)
}

func (p problems) text(path, s string, max int, wrong check) string {
	s = strings.TrimSpace(s)
	if problem := wrong(s, max); !problem.IsZero() {
		p.add(path, problem)
		return ""
	}
	return s
}

// flag is false when it is absent.
func (o object) flag(key string) bool {
	raw := o.values[key]
	if isNull(raw) {
		return false
	}
	var b bool
	if json.Unmarshal(raw, &b) != nil {
		o.found.add(o.at(key), fault.Type("true or false"))
	}
	return b
}

func (o object) oneOf(key, otherwise string, allowed ...string) string {
	s := o.line(key, 100)
	if s == "" {
		return otherwise
	}
	if !slices.Contains(allowed, s) {
		o.found.add(o.at(key), fault.NotOneOf(allowed...))
		return otherwise
	}
	return s
}

func (o object) integer(key string, low, high int64) (n int64, given bool) {
	raw := o.values[key]
	if isNull(raw) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < low || n > high {
		o.found.add(o.at(key), wholeNumber(low, high))
		return 0, false
	}
	return n, true
}

// list is an array of at most max values.
func (o object) list(key string, max int) []json.RawMessage {
	raw := o.values[key]
	if isNull(raw) {
		return nil
	}
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		o.found.add(o.at(key), fault.Type("an array"))
		return nil
	}
	if len(out) > max {
		o.found.add(o.at(key), fault.TooMany(max))
		return nil
	}
	return out
}

// texts is an array of strings, none of them empty and no two the same.
func (o object) texts(key string, count, max int) []string {
	out := []string{}
	for i, raw := range o.list(key, count) {
		path := o.at(key) + "[" + strconv.Itoa(i) + "]"
		var s string
		if isNull(raw) || json.Unmarshal(raw, &s) != nil {
			o.found.add(path, fault.Type("a string"))
			continue
		}
		s = o.found.text(path, s, max, form.OneLine)
		switch {
		case s == "":
			o.found.add(path, fault.Empty())
		case slices.Contains(out, s):
			o.found.add(path, fault.Twice())
		default:
			out = append(out, s)
		}
	}
	return out
}

func wholeNumber(low, high int64) fault.Problem {
	return fault.NewProblem("number", fmt.Sprintf("must be a whole number from %d to %d", low, high), "min", low, "max", high)
}
