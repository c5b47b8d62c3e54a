package field

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/person"
)

// Set is the custom fields of an entity that can be written, by key.
type Set map[string]Field

// Writable reads the fields of an entity that are not archived.
func Writable(ctx context.Context, tx *db.Tx, entity string) (Set, error) {
	fields, err := readFields(ctx, tx, `select `+fieldColumns+` from field where entity = $1 and not archived`, entity)
	set := Set{}
	for _, f := range fields {
		set[f.Key] = f
	}
	return set, err
}

// clean brings values into their stored form: null for one that is empty. It notes what is wrong under fields.<key>.
func (s Set) clean(values map[string]any, country string, problems fault.Problems) map[string]any {
	out := map[string]any{}
	for key, v := range values {
		f, ok := s[key]
		if !ok {
			problems.Add("fields."+key, fault.NewProblem("unknown", "is not a custom field"))
			continue
		}
		stored, problem := f.value(v, country)
		if !problem.IsZero() {
			problems.Add("fields."+key, problem)
			continue
		}
		out[key] = stored
	}
	return out
}

const (
	maxText     = 1000
	maxLongText = 65535
)

// value is v in the stored form of the field's type, or nil when it is empty. Numbers, dates, booleans
// and options are also understood as text: forms and imports have nothing else.
func (f Field) value(v any, country string) (any, fault.Problem) {
	if n, ok := v.(json.Number); ok {
		v = n.String()
	}
	if s, ok := v.(string); ok && strings.TrimSpace(s) == "" || v == nil {
		return nil, fault.Problem{}
	}
	switch f.Type {
	case "number":
		return numberValue(v)
	case "checkbox":
		return checkboxValue(v)
	case "choices":
		return f.choices(v)
	}
	s, ok := v.(string)
	if !ok {
		if n, isNumber := v.(float64); isNumber && (f.Type == "text" || f.Type == "phone" || f.Type == "dropdown") {
			s = strconv.FormatFloat(n, 'f', -1, 64)
		} else {
			return nil, fault.Type("text")
		}
	}
	return f.text(s, country)
}

func (f Field) text(s, country string) (any, fault.Problem) {
	long := maxText
	if f.Type == "long_text" {
		long = maxLongText
	}
	if utf8.RuneCountInString(s) > long {
		return nil, fault.TooLong(long)
	}
	switch f.Type {
	case "long_text":
		return s, fault.Problem{}
	case "email":
		email, problem := EmailValue(s)
		return textOrNil(email), problem
	case "phone":
		return person.Phone(s, country), fault.Problem{}
	case "url":
		site, err := person.Website(s)
		if err != nil {
			return nil, fault.NewProblem("url", err.Error())
		}
		return textOrNil(site), fault.Problem{}
	case "date":
		s = strings.TrimSpace(s)
		d, err := time.Parse(time.DateOnly, s)
		if err != nil || d.Year() < 1 {
			return nil, fault.Day()
		}
		return s, fault.Problem{}
	case "dropdown":
		return f.option(s)
	}
	return strings.TrimSpace(s), fault.Problem{}
}

// textOrNil is s as a stored value: nil when it is empty.
func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// option finds the option that s means; case does not count.
func (f Field) option(s string) (any, fault.Problem) {
	s = strings.Join(strings.Fields(s), " ")
	if slices.Contains(f.Options, s) {
		return s, fault.Problem{}
	}
	for _, o := range f.Options {
		if strings.EqualFold(o, s) {
			return o, fault.Problem{}
		}
	}
	return nil, fault.NewProblem("not_one_of", "must be one of "+brief(f.Options), "allowed", f.Options)
}

// brief lists options for an error, without the length of a catalogue.
func brief(options []string) string {
	list := strings.Join(options, ", ")
	if r := []rune(list); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return list
}

func (f Field) choices(v any) (any, fault.Problem) {
	var given []any
	switch v := v.(type) {
	case []any:
		given = v
	case string:
		if o, problem := f.option(v); problem.IsZero() {
			return []any{o}, problem
		}
		// Options may hold what separates them elsewhere.
		parts := csvfile.CommaList(v)
		if slices.ContainsFunc(parts, func(part string) bool { _, problem := f.option(part); return !problem.IsZero() }) {
			parts = csvfile.List(v)
		}
		for _, part := range parts {
			given = append(given, part)
		}
	default:
		return nil, fault.Type("a list of options")
	}
	chosen := map[any]bool{}
	for _, g := range given {
		s, ok := g.(string)
		if !ok {
			return nil, fault.Type("a list of options")
		}
		if strings.TrimSpace(s) == "" {
			continue
		}
		o, problem := f.option(s)
		if !problem.IsZero() {
			return nil, problem
		}
		chosen[o] = true
	}
	// In the order of the options, so that the same choice is the same value.
	var out []any
	for _, o := range f.Options {
		if chosen[o] {
			out = append(out, o)
		}
	}
	if out == nil {
		return nil, fault.Problem{}
	}
	return out, fault.Problem{}
}

func numberValue(v any) (any, fault.Problem) {
	switch v := v.(type) {
	case float64:
		return v, fault.Problem{}
	case string:
		s := strings.ReplaceAll(strings.TrimSpace(v), " ", "")
		if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
			s = strings.Replace(s, ",", ".", 1)
		}
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && !strings.ContainsAny(s, "xXpP_nN") {
			return n, fault.Problem{}
		}
		return nil, fault.NewProblem("number", "must be a number")
	}
	return nil, fault.Type("a number")
}

var truths = map[string]bool{
	"true": true, "1": true, "yes": true, "on": true, "x": true, "ja": true, "oui": true, "y": true, "j": true, "o": true, "waar": true, "vrai": true, "wahr": true, "juist": true, "aan": true, "ein": true, "✓": true, "✔": true,
	"false": false, "0": false, "no": false, "off": false, "nee": false, "non": false, "nein": false, "n": false, "onwaar": false, "faux": false, "falsch": false, "onjuist": false, "uit": false, "aus": false, "✗": false,
}

func checkboxValue(v any) (any, fault.Problem) {
	switch v := v.(type) {
	case bool:
		return v, fault.Problem{}
	case float64:
		if v == 0 || v == 1 {
			return v == 1, fault.Problem{}
		}
	case string:
		if b, ok := truths[strings.ToLower(strings.TrimSpace(v))]; ok {
			return b, fault.Problem{}
		}
	}
	return nil, fault.Type("true or false")
}

// MaxValues bounds all custom values of a record together, in bytes of JSON: they travel in every event of it.
const MaxValues = 256 << 10

// TooMuch reports whether custom values have more than MaxValues.
func TooMuch(fields map[string]any) bool {
	raw, err := json.Marshal(fields)
	return err != nil || len(raw) > MaxValues
}

// Columns are the fields as the columns of a file may name them.
func (s Set) Columns() []csvfile.Field {
	out := make([]csvfile.Field, 0, len(s))
	for _, f := range s {
		out = append(out, csvfile.Field{Key: f.Key, Label: f.Label})
	}
	slices.SortFunc(out, func(a, b csvfile.Field) int { return strings.Compare(a.Key, b.Key) })
	return out
}
