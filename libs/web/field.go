package web

import (
	"cmp"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// Field is a question in a page, with its answer and what is wrong with that.
type Field struct {
	ID, Name, Kind, Label, Help, Placeholder, Text string
	Level, Max                                     int
	Required, Half                                 bool
	Options, Values                                []string
	Autocomplete, Error                            string
}

var autocompletes = map[string]string{form.TargetFirstName: "given-name", form.TargetLastName: "family-name", form.TargetEmail: "email",
	form.TargetPhone: "tel", form.TargetOrganization: "organization", "organization.website": "url", "organization.address_line": "address-line1",
	"organization.postal_code": "postal-code", "organization.city": "address-level2"}

// Autocomplete is the value of a control's autocomplete attribute, empty for a target that browsers do not know.
func Autocomplete(target string) string { return autocompletes[target] }

// answerPrefix and the element's id are the name of a control.
const answerPrefix = "v."

// Fields gives the questions in t's language. posted holds the answers of a form that was sent, by "v." and element id; wrong
// has the API's problems.
func (t *Reader) Fields(questions []form.Question, posted url.Values, wrong map[string]fault.Problem) []Field {
	out := make([]Field, 0, len(questions))
	for _, q := range questions {
		f := Field{ID: "f-" + q.ID, Name: answerPrefix + q.ID, Kind: cmp.Or(q.Kind, q.Type), Label: t.LabelOf(q), Help: q.Help, Placeholder: q.Placeholder,
			Text: q.Text, Level: q.Level, Required: q.Required, Half: q.Width == "half", Options: q.Options, Values: posted[answerPrefix+q.ID],
			Autocomplete: autocompletes[q.Target], Max: q.Max}
		if p := ProblemOf(q, wrong); !p.IsZero() {
			f.Error = t.Why(p, q.Kind)
		}
		out = append(out, f)
	}
	return out
}

// ProblemOf finds the problem of an answer among those that the API named: values.<element id or target>, or a parameter
// of its own, which a location is.
func ProblemOf(q form.Question, wrong map[string]fault.Problem) (p fault.Problem) {
	names := []string{"values." + q.ID, "values." + q.Target}
	if q.Target == form.TargetLocation {
		names = []string{q.Target}
	}
	for _, name := range names {
		if p, ok := wrong[name]; ok && q.Asked() {
			return p
		}
	}
	return p
}

// LabelOf is the question's label, or the name of its target in t's language.
func (t *Reader) LabelOf(q form.Question) string {
	if q.Label == "" && q.Target != "" {
		if label, ok := t.texts["label_"+strings.ReplaceAll(q.Target, ".", "_")]; ok {
			return label
		}
	}
	return q.Caption()
}

// Why says in t's language how to put an answer right. The text is that under error_ and the problem's code, with its facts.
// The same rule as in src/problem.ts.
func (t *Reader) Why(p fault.Problem, kind string) string {
	key := "error_" + p.Code
	if p.Code == "required" {
		switch kind {
		case form.KindConsent, form.KindCheckbox:
			key = "error_tick"
		case form.KindDropdown, form.KindChoices:
			key = "error_not_one_of"
		}
	}
	if _, ok := t.texts[key]; !ok {
		key = "error_other"
	}
	facts := make([]any, 0, 2*len(p.Facts))
	for name, value := range p.Facts {
		facts = append(facts, name, value)
	}
	return t.T(key, facts...)
}

// WordsChanged reports whether a page with the time token shown had consents in other words than those of the token now.
// The part of a token before its dot is the version of the words.
func WordsChanged(shown, now string) bool { return wordsOf(shown) != wordsOf(now) }

func wordsOf(token string) string {
	words, _, dotted := strings.Cut(token, ".")
	if !dotted {
		return ""
	}
	return words
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

// Answers gives what a page's form posted, under prefix and element id, as the API takes it: by element id, with the type of
// each kind. A field that was left empty is no answer.
func Answers(questions []form.Question, posted url.Values, prefix string) map[string]any {
	out := map[string]any{}
	for _, q := range questions {
		given := posted[prefix+q.ID]
		if !q.Asked() || len(given) == 0 || len(given) == 1 && strings.TrimSpace(given[0]) == "" {
			continue
		}
		switch q.Kind {
		case form.KindConsent, form.KindCheckbox:
			out[q.ID] = given[0] == "true"
		case form.KindChoices:
			out[q.ID] = given
		case form.KindNumber:
			out[q.ID] = decimalComma.ReplaceAllString(given[0], "$1.$2")
		default:
			out[q.ID] = given[0]
		}
	}
	return out
}

// Most of our languages write a number with a comma.
var decimalComma = regexp.MustCompile(`^\s*(-?[0-9]+),([0-9]+)\s*$`)

// InputType is the type of the input element. A web address may come without its scheme,
// which browsers refuse in an input of that type.
func (f Field) InputType() string {
	switch f.Kind {
	case form.KindEmail, form.KindDate:
		return f.Kind
	case form.KindPhone:
		return "tel"
	}
	return "text"
}

// InputMode is the keyboard that fits the answer, empty for any.
func (f Field) InputMode() string {
	switch f.Kind {
	case form.KindURL:
		return "url"
	case form.KindNumber:
		return "decimal"
	}
	return ""
}

// Value is the answer, "" when none was given.
func (f Field) Value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Checked reports whether a box is ticked.
func (f Field) Checked() bool { return f.Value() == "true" }

// Has reports whether an option is chosen.
func (f Field) Has(option string) bool { return slices.Contains(f.Values, option) }

// DescribedBy names the texts below the input.
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
