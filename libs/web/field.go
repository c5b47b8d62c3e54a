package web

import (
	"encoding/json"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Element is one part of a form as its visitors get it. Kind is the type of the custom field that a target names, when
// whoever serves the form knows it; else it is read off the target.
type Element struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Kind        string   `json:"kind,omitempty"`
	Target      string   `json:"target,omitempty"`
	Label       string   `json:"label,omitempty"`
	Help        string   `json:"help,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Options     []string `json:"options,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Width       string   `json:"width,omitempty"`
	Text        string   `json:"text,omitempty"`
	Level       int      `json:"level,omitempty"`
	Marketing   bool     `json:"marketing,omitempty"`
	Purpose     string   `json:"purpose,omitempty"`
}

// Field is an element in a page: a question with what was answered and what is wrong with it.
type Field struct {
	ID, Name, Kind, Label, Help, Placeholder, Text string
	Level, Max                                     int
	Required, Half                                 bool
	Options, Values                                []string
	Autocomplete, Error                            string
}

// kinds and autocomplete of the targets that are no custom fields.
var (
	kinds = map[string]string{"contact.email": "email", "organization.email": "email", "contact.phone": "phone", "organization.phone": "phone",
		"organization.website": "url", "message": "long_text"}
	autocompletes = map[string]string{"contact.first_name": "given-name", "contact.last_name": "family-name", "contact.email": "email",
		"contact.phone": "tel", "organization.name": "organization", "organization.website": "url",
		"organization.address_line": "street-address", "organization.postal_code": "postal-code", "organization.city": "address-level2",
		"organization.country": "country"}
	maxima = map[string]int{"contact.first_name": 100, "contact.last_name": 100, "contact.email": 190, "contact.phone": 50, "message": 1800,
		"organization.name": 190, "organization.vat_number": 30, "organization.email": 190, "organization.phone": 50, "organization.website": 2048,
		"organization.address_line": 255, "organization.postal_code": 20, "organization.city": 100}
)

// KindOf is how an element is asked: one of the types of custom fields, consent, heading or paragraph.
func (e Element) KindOf() string {
	switch {
	case e.Type != "field":
		return e.Type
	case e.Kind != "":
		return e.Kind
	case kinds[e.Target] != "":
		return kinds[e.Target]
	case len(e.Options) > 0:
		return "dropdown"
	}
	return "text"
}

// asked tells whether the element takes an answer.
func (e Element) asked() bool { return e.Type == "field" || e.Type == "consent" }

// Fields are the elements as questions of t's language. posted holds the answers of a form that was sent, by "v." and element
// id; params what the API said is wrong, by "values." and element id or target.
func (t *Reader) Fields(elements []Element, posted url.Values, params map[string]string) []Field {
	var out []Field
	for _, e := range elements {
		f := Field{ID: "f-" + e.ID, Name: "v." + e.ID, Kind: e.KindOf(), Label: t.LabelOf(e), Help: e.Help, Placeholder: e.Placeholder, Text: e.Text,
			Level: e.Level, Required: e.Required, Half: e.Width == "half", Options: e.Options, Values: posted["v."+e.ID],
			Autocomplete: autocompletes[e.Target], Max: maxima[e.Target]}
		if f.Max == 0 {
			f.Max = 10000
		}
		for _, key := range []string{"values." + e.ID, "values." + e.Target} {
			if why := params[key]; why != "" && f.Error == "" && e.asked() {
				f.Error = t.Why(why, f.Kind)
			}
		}
		out = append(out, f)
	}
	return out
}

// LabelOf is the element's label, or the usual one of its target.
func (t *Reader) LabelOf(e Element) string {
	switch {
	case e.Label != "":
		return e.Label
	case e.Type == "consent":
		return e.Text
	}
	if key := "label_" + strings.ReplaceAll(e.Target, ".", "_"); t.texts[key] != "" {
		return t.texts[key]
	}
	return e.ID
}

// Why says in t's language what the API says of an answer.
func (t *Reader) Why(why, kind string) string {
	switch {
	case why == "is required" && (kind == "consent" || kind == "checkbox"):
		return t.T("error_tick")
	case why == "is required" && (kind == "dropdown" || kind == "choices"):
		return t.T("error_choose")
	case why == "is required":
		return t.T("error_required")
	case kind == "email":
		return t.T("error_email")
	case strings.Contains(why, "too long"), strings.Contains(why, "at most"):
		return t.T("error_long")
	case kind == "phone", kind == "url", kind == "number", kind == "date":
		return t.T("error_" + kind)
	}
	return t.T("error_other")
}

// FieldError is one entry of the summary of errors.
type FieldError struct{ ID, Label, Text string }

// Errors are those of the fields, in their order.
func Errors(fields []Field) []FieldError {
	out := []FieldError{}
	for _, f := range fields {
		if f.Error != "" {
			out = append(out, FieldError{f.ID, f.Label, f.Error})
		}
	}
	return out
}

// Answers are what a page's form posted, as the API takes them: by element id, with the type of each kind.
func Answers(elements []Element, posted url.Values) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, e := range elements {
		given := posted["v."+e.ID]
		if !e.asked() || len(given) == 0 || len(given) == 1 && given[0] == "" {
			continue
		}
		var answer any = given[0]
		switch e.KindOf() {
		case "consent", "checkbox":
			answer = given[0] == "true"
		case "choices":
			answer = given
		case "number":
			if n, err := strconv.ParseFloat(strings.ReplaceAll(given[0], ",", "."), 64); err == nil {
				answer = n
			}
		}
		if raw, err := json.Marshal(answer); err == nil {
			out[e.ID] = raw
		}
	}
	return out
}

// InputType is the type of the input element.
func (f Field) InputType() string {
	switch f.Kind {
	case "email", "url", "date":
		return f.Kind
	case "phone":
		return "tel"
	case "number":
		return "text"
	}
	return "text"
}

// Value is the answer, "" when none was given.
func (f Field) Value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Checked tells whether a box is ticked.
func (f Field) Checked() bool { return f.Value() == "true" }

// Has tells whether an option is chosen.
func (f Field) Has(option string) bool { return slices.Contains(f.Values, option) }

// DescribedBy names what stands below the input.
func (f Field) DescribedBy() string {
	var ids []string
	if f.Help != "" {
		ids = append(ids, f.ID+"-help")
	}
	if f.Error != "" {
		ids = append(ids, f.ID+"-error")
	}
	return strings.Join(ids, " ")
}

// ButtonIcon is the icon of the form style's button.
func (v view) ButtonIcon() template.HTML { return template.HTML(v.Look.Icon) } //nolint:gosec // our own file
