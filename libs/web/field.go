package web

import (
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// Field is a question as pages and widgets ask it, with its answer and what is wrong with that.
type Field struct {
	form.Question

	// Key is the id of the control, Name that of its value.
	Key, Name string
	Caption   string
	// Optional says that the answer may be left out, "" when it may not.
	Optional string
	// Note is ours, behind the help of the business.
	Note string
	// Choose is the text of a choice that is not made yet.
	Choose string
	Values []string
	Error  string
	// Focus marks the one answer that is wrong.
	Focus bool
}

// Fields are the questions of a form, which the part "fields" draws, and "summary" what is wrong with them.
type Fields struct {
	All []Field
	// Wrong are those whose answers have to change, in their order.
	Wrong []Field
	t     *Reader
}

// Trap is the label of the field that has to stay empty.
func (f Fields) Trap() string { return f.t.T("trap") }

// Heading stands over the list of what is wrong.
func (f Fields) Heading() string { return f.t.N("fix", len(f.Wrong)) }

var autocompletes = map[string]string{form.TargetFirstName: "given-name", form.TargetLastName: "family-name", form.TargetEmail: "email",
	form.TargetPhone: "tel", form.TargetOrganization: "organization", "organization.website": "url", "organization.address_line": "address-line1",
	"organization.postal_code": "postal-code", "organization.city": "address-level2"}

// AnswerPrefix and the element's id are the name of an answer in a page's form.
const AnswerPrefix = "values."

// Fields gives the questions in t's language. posted holds the answers of a form that was sent; wrong has the API's problems.
func (t *Reader) Fields(questions []form.Question, posted url.Values, wrong map[string]fault.Problem) Fields {
	out := Fields{t: t}
	for _, q := range questions {
		f := Field{Question: q, Key: "svc-" + q.ID, Name: AnswerPrefix + q.ID, Caption: t.labelOf(q), Choose: t.T("choose"), Values: posted[AnswerPrefix+q.ID]}
		if q.Marketing {
			f.Note = t.T("confirm_note")
		}
		if !q.Required {
			f.Optional = t.T("optional")
		}
		if q.Kind == "" {
			f.Level = max(2, min(q.Level, 4))
		}
		if p := ProblemOf(q, wrong); !p.IsZero() {
			f.Error = t.Why(p, q.Kind)
			out.Wrong = append(out.Wrong, f)
		}
		out.All = append(out.All, f)
	}
	if len(out.Wrong) == 1 {
		for i := range out.All {
			out.All[i].Focus = out.All[i].ID == out.Wrong[0].ID
		}
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

// labelOf is the question's label, or the name of its target in t's language.
func (t *Reader) labelOf(q form.Question) string {
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

func wordsOf(token string) string { return token[:max(0, strings.IndexByte(token, '.'))] }

// Entry is the field in the list of what is wrong.
func (f Field) Entry() string {
	caption := f.Caption
	if !strings.ContainsAny(caption[max(0, len(caption)-1):], "?!.:") {
		caption += ":"
	}
	return caption + " " + f.Error
}

// Answers gives what a page's form posted as the API takes it: by element id, with the type of
// each kind. A field that was left empty is no answer.
func Answers(questions []form.Question, posted url.Values) map[string]any {
	out := map[string]any{}
	for _, q := range questions {
		given := posted[AnswerPrefix+q.ID]
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

// Half reports whether the field shares its line with another.
func (f Field) Half() bool { return f.Width == "half" }

// Autocomplete is what browsers know the answer as, empty for what they do not know.
func (f Field) Autocomplete() string { return autocompletes[f.Target] }

// Has reports whether an option is chosen, or with "true" a box ticked.
func (f Field) Has(option string) bool { return slices.Contains(f.Values, option) }

// DescribedBy names what is said about the control, for screen readers.
func (f Field) DescribedBy() string {
	if f.Help == "" && f.Note == "" {
		return f.Key + "-error"
	}
	return f.Key + "-help " + f.Key + "-error"
}

// ButtonIcon is the icon of the form style's button.
func (v view) ButtonIcon() template.HTML { return template.HTML(v.Look.Icon) } //nolint:gosec // our own file
