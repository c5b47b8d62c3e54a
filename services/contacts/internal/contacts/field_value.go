package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/person"
)

// fieldSet is the custom fields of an entity that can be written, by key.
type fieldSet map[string]Field

// writableFields reads the fields of an entity that are not archived.
func writableFields(ctx context.Context, tx *db.Tx, entity string) (fieldSet, error) {
	rows, err := tx.Query(ctx, `select `+fieldColumns+` from field where entity = $1 and not archived`, entity)
	if err != nil {
		return nil, err
	}
	fields, err := pgx.CollectRows(rows, scanField)
	set := fieldSet{}
	for _, f := range fields {
		set[f.Key] = f
	}
	return set, err
}

// clean brings values into their stored form: null for one that is empty. What is wrong goes into params
// under fields.<key>.
func (s fieldSet) clean(values map[string]any, country string, params map[string]string) map[string]any {
	out := map[string]any{}
	for key, v := range values {
		f, ok := s[key]
		if !ok {
			params["fields."+key] = "is not a custom field"
			continue
		}
		stored, err := f.value(v, country)
		if err != nil {
			params["fields."+key] = err.Error()
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
// and options are also understood as text: forms and imports have nothing else. The error is a phrase
// to put behind the name.
func (f Field) value(v any, country string) (any, error) {
	if n, ok := v.(json.Number); ok {
		v = n.String()
	}
	if s, ok := v.(string); ok && strings.TrimSpace(s) == "" || v == nil {
		return nil, nil
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
			return nil, fmt.Errorf("must be text")
		}
	}
	return f.text(s, country)
}

func (f Field) text(s, country string) (any, error) {
	long := maxText
	if f.Type == "long_text" {
		long = maxLongText
	}
	if utf8.RuneCountInString(s) > long {
		return nil, fmt.Errorf("must have at most %d characters", long)
	}
	switch f.Type {
	case "long_text":
		return s, nil
	case "email":
		return textOrError(address.Parse(s))
	case "phone":
		return person.Phone(s, country), nil
	case "url":
		return textOrError(person.Website(s))
	case "date":
		s = strings.TrimSpace(s)
		d, err := time.Parse(time.DateOnly, s)
		if err != nil || d.Year() < 1 {
			return nil, fmt.Errorf("must be a date such as 2026-12-31")
		}
		return s, nil
	case "dropdown":
		return f.option(s)
	}
	return strings.TrimSpace(s), nil
}

func textOrError(s string, err error) (any, error) {
	if err != nil || s == "" {
		return nil, err
	}
	return s, nil
}

// option finds the option that s means; case does not count.
func (f Field) option(s string) (any, error) {
	s = strings.Join(strings.Fields(s), " ")
	if slices.Contains(f.Options, s) {
		return s, nil
	}
	for _, o := range f.Options {
		if strings.EqualFold(o, s) {
			return o, nil
		}
	}
	return nil, fmt.Errorf("must be one of %s", brief(f.Options))
}

// brief lists options for an error, without the length of a catalogue.
func brief(options []string) string {
	list := strings.Join(options, ", ")
	if r := []rune(list); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return list
}

func (f Field) choices(v any) (any, error) {
	var given []any
	switch v := v.(type) {
	case []any:
		given = v
	case string:
		if o, err := f.option(v); err == nil {
			return []any{o}, nil
		}
		for part := range strings.SplitSeq(v, ",") {
			given = append(given, part)
		}
	default:
		return nil, fmt.Errorf("must be a list of options")
	}
	chosen := map[any]bool{}
	for _, g := range given {
		s, ok := g.(string)
		if !ok {
			return nil, fmt.Errorf("must be a list of options")
		}
		if strings.TrimSpace(s) == "" {
			continue
		}
		o, err := f.option(s)
		if err != nil {
			return nil, err
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
		return nil, nil
	}
	return out, nil
}

func numberValue(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		s := strings.ReplaceAll(strings.TrimSpace(v), " ", "")
		if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
			s = strings.Replace(s, ",", ".", 1)
		}
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && !strings.ContainsAny(s, "xXpP_nN") {
			return n, nil
		}
	}
	return nil, fmt.Errorf("must be a number")
}

var truths = map[string]bool{
	"true": true, "1": true, "yes": true, "on": true, "x": true, "ja": true, "oui": true, "y": true, "j": true, "o": true,
	"false": false, "0": false, "no": false, "off": false, "nee": false, "non": false, "nein": false, "n": false,
}

func checkboxValue(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case float64:
		if v == 0 || v == 1 {
			return v == 1, nil
		}
	case string:
		if b, ok := truths[strings.ToLower(strings.TrimSpace(v))]; ok {
			return b, nil
		}
	}
	return nil, fmt.Errorf("must be true or false")
}

// maxValues bounds all custom values of a record together, in bytes of JSON: they travel in every event of it.
const maxValues = 256 << 10

func tooMuch(fields map[string]any) bool {
	raw, err := json.Marshal(fields)
	return err != nil || len(raw) > maxValues
}

// mergeFields puts new values over old ones by key; nil clears one. With fillEmpty only keys without a value
// are filled.
func mergeFields(old, values map[string]any, fillEmpty bool) map[string]any {
	out := make(map[string]any, len(old)+len(values))
	for k, v := range old {
		out[k] = v
	}
	for k, v := range values {
		if _, has := out[k]; has && fillEmpty {
			continue
		}
		if v == nil {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}
