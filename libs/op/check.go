package op

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/fault"
)

// check reports whether a field may have a value, and adds to wrong what is against it.
func (e *Entry) check(f *Field, v any, path *huma.PathBuffer, wrong fault.Problems) bool {
	schema, before := f.Schema, len(wrong)
	if f.rows != nil {
		// Each row is checked by itself, see readRows.
		list := *schema
		list.Items = &huma.Schema{}
		schema = &list
	} else if p := storable(v, 0); !p.IsZero() {
		wrong.Add(f.Name, p)
		return false
	}
	e.overlooked(schema, f.Name, v, wrong)
	if v == nil {
		return len(wrong) == before
	}
	if object := orNull(schema); object != nil {
		// huma accepts null for every schema of this kind, so only the object's schema is checked.
		schema = object
	}
	if _, ok := v.(string); ok && schema.Type == huma.TypeString && schema.Enum != nil && !slices.Contains(schema.Enum, v) {
		wrong.Add(f.Name, notOneOf(schema.Enum))
		return false
	}
	res := &huma.ValidateResult{}
	path.Push(f.Name)
	huma.Validate(e.set.Requests, schema, path, huma.ModeWriteToServer, v, res)
	path.Pop()
	for _, err := range res.Errors {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			wrong.Add(f.Name, fault.NewProblem("invalid", "is not valid"))
			continue
		}
		wrong.Add(detail.Location, hinted(problem(detail.Message), detail.Value))
	}
	if f.Schema.Type == huma.TypeInteger {
		// A float64 cannot tell the last digits of such numbers, and no column holds them.
		if n, ok := v.(float64); ok && math.Abs(n) > 1<<53 {
			wrong.Add(f.Name, fault.TooHigh(1<<53))
		}
	}
	return len(wrong) == before
}

// layouts are those of the formats of days and times.
var layouts = map[string]string{"date": time.DateOnly, "date-time": time.RFC3339}

// overlooked refuses at any depth what huma lets pass: a null that the schema does not allow, in a property that is not required, and a day
// or time outside the years 1 to 9999, which databases and encoders refuse.
func (e *Entry) overlooked(s *huma.Schema, path string, v any, wrong fault.Problems) {
	if object := orNull(s); object != nil {
		if v == nil {
			return
		}
		s = object
	}
	for s.Ref != "" {
		s = e.set.Requests.SchemaFromRef(s.Ref)
	}
	switch v := v.(type) {
	case nil:
		if !s.Nullable && s.Type != "" {
			wrong.Add(path, fault.Null())
		}
	case string:
		if layout := layouts[s.Format]; layout != "" {
			if at, err := time.Parse(layout, v); err == nil && (at.UTC().Year() < 1 || at.UTC().Year() > 9999) {
				wrong.Add(path, problem("expected string to be RFC 3339 "+s.Format))
			}
		}
	case []any:
		for i, x := range v {
			if s.Items != nil {
				e.overlooked(s.Items, path+"["+strconv.Itoa(i)+"]", x, wrong)
			}
		}
	case map[string]any:
		more, _ := s.AdditionalProperties.(*huma.Schema)
		for name, x := range v {
			if p := cmp.Or(s.Properties[name], more); p != nil {
				e.overlooked(p, path+"."+name, x, wrong)
			}
		}
	}
}

// notOneOf is the problem of a text that is not in the list of allowed texts.
func notOneOf(enum []any) fault.Problem {
	var allowed []string
	for _, v := range enum {
		if v, ok := v.(string); ok && v != "" {
			allowed = append(allowed, v)
		}
	}
	return fault.NotOneOf(allowed...)
}

// storable refuses what no text column can hold, at any depth, and nesting without bounds.
func storable(v any, depth int) fault.Problem {
	if depth > 32 {
		return fault.NewProblem("too_deep", "is nested too deeply")
	}
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return fault.NewProblem("control_characters", "must not contain the character NUL")
		}
	case []any:
		for _, x := range v {
			if p := storable(x, depth+1); !p.IsZero() {
				return p
			}
		}
	case map[string]any:
		for k, x := range v {
			if p := storable(k, depth+1); !p.IsZero() {
				return p
			}
			if p := storable(x, depth+1); !p.IsZero() {
				return p
			}
		}
	}
	return fault.Problem{}
}

// problem gives huma's message about a value its code, its facts and a text that follows the parameter's name.
func problem(m string) fault.Problem {
	for _, w := range [...]struct {
		prefix string
		says   func(rest string) fault.Problem
	}{
		{"expected length <= ", counted(fault.TooLong)},
		{"expected length >= ", counted(fault.TooShort)},
		{"expected number <= ", func(n string) fault.Problem { return fault.TooHigh(json.Number(n)) }},
		{"expected number >= ", func(n string) fault.Problem { return fault.TooLow(json.Number(n)) }},
		{"expected array length <= ", counted(fault.TooMany)},
		{"expected array length >= ", counted(fault.TooFew)},
		{"expected value to be one of ", func(list string) fault.Problem {
			return fault.NotOneOf(strings.Split(strings.NewReplacer(`"`, "").Replace(list), ", ")...)
		}},
		{"expected string to be ", func(what string) fault.Problem {
			return fault.NewProblem("format", "must be a valid "+what, "format", what)
		}},
		{"expected required property ", func(name string) fault.Problem {
			name = strings.TrimSuffix(name, " to be present")
			return fault.NewProblem("incomplete", "needs "+name, "name", name)
		}},
		{"expected ", fault.Type},
	} {
		if rest, ok := strings.CutPrefix(m, w.prefix); ok {
			return w.says(rest)
		}
	}
	if m == "unexpected property" {
		return fault.Unknown()
	}
	return fault.NewProblem("invalid", "is not valid: "+m)
}

// counted reads the number of a limit.
func counted(p func(int) fault.Problem) func(string) fault.Problem {
	return func(rest string) fault.Problem {
		n, err := strconv.Atoi(rest)
		if err != nil {
			return fault.NewProblem("invalid", "is not valid: "+rest)
		}
		return p(n)
	}
}
