package definition

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kinds of answers: the types of custom fields, and consent.
const (
	KindText     = "text"
	KindLongText = "long_text"
	KindEmail    = "email"
	KindPhone    = "phone"
	KindURL      = "url"
	KindNumber   = "number"
	KindDate     = "date"
	KindDropdown = "dropdown"
	KindChoices  = "choices"
	KindCheckbox = "checkbox"
	KindConsent  = "consent"
)

// The longest answers, in characters.
const (
	MaxText     = 1000
	MaxLongText = 10000
	MaxEmail    = 190
	MaxPhone    = 50
)

// input is what the target makes of a field element.
type input struct {
	kind    string
	label   string
	options []string
	max     int
	// gone: the custom field is archived or no longer there. Nobody is asked, an answer goes nowhere.
	gone bool
}

// The targets that need no custom field.
var fixed = map[string]input{
	"contact.first_name":        {kind: KindText, label: "First name", max: 100},
	"contact.last_name":         {kind: KindText, label: "Last name", max: 100},
	"contact.email":             {kind: KindEmail, label: "Email", max: MaxEmail},
	"contact.phone":             {kind: KindPhone, label: "Phone", max: MaxPhone},
	"organization.name":         {kind: KindText, label: "Organization", max: 190},
	"organization.vat_number":   {kind: KindText, label: "VAT number", max: 30},
	"organization.email":        {kind: KindEmail, label: "Email of the organization", max: MaxEmail},
	"organization.phone":        {kind: KindPhone, label: "Phone of the organization", max: MaxPhone},
	"organization.website":      {kind: KindURL, label: "Website", max: MaxURL},
	"organization.address_line": {kind: KindText, label: "Address", max: 255},
	"organization.postal_code":  {kind: KindText, label: "Postal code", max: 20},
	"organization.city":         {kind: KindText, label: "City", max: 100},
}

var maxOf = map[string]int{
	KindText: MaxText, KindLongText: MaxLongText, KindEmail: MaxEmail, KindPhone: MaxPhone, KindURL: MaxURL, KindNumber: 40, KindDate: 10,
	KindDropdown: MaxOption, KindChoices: MaxOption, KindCheckbox: 10,
}

const (
	contactFields    = "contact.fields."
	submissionFields = "submission.fields."
)

var fieldName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// catalog finds custom fields by target.
type catalog map[string]Field

func catalogOf(fields []Field) catalog {
	c := make(catalog, len(fields))
	for _, f := range fields {
		c[f.Entity+".fields."+f.Key] = f
	}
	return c
}

// resolve works out what the target of a field element takes. ok is false when there is no such target, or its
// custom field is archived. A name under submission.fields that no custom field has takes text, or
// one of the element's options.
func (c catalog) resolve(e *Element) (in input, ok bool) {
	if in, ok := fixed[e.Target]; ok {
		return in, true
	}
	isContact, isSubmission := strings.HasPrefix(e.Target, contactFields), strings.HasPrefix(e.Target, submissionFields)
	if !isContact && !isSubmission {
		return input{}, false
	}
	f, known := c[e.Target]
	if known && !f.Archived {
		in := input{kind: f.Type, label: f.Label, max: maxOf[f.Type]}
		if in.max == 0 {
			return input{}, false // a type this version does not know
		}
		if f.Type == KindDropdown || f.Type == KindChoices {
			in.options = f.Options
			// An element may offer fewer; what the field has lost meanwhile is not offered any more.
			if some := intersect(e.Options, f.Options); len(some) > 0 {
				in.options = some
			}
		}
		return in, true
	}
	name := strings.TrimPrefix(e.Target, submissionFields)
	if isContact || known || !fieldName.MatchString(name) {
		return input{label: f.Label}, false
	}
	in = input{kind: KindLongText, label: humanize(name), max: MaxLongText}
	if len(e.Options) > 0 {
		in = input{kind: KindDropdown, label: in.label, max: MaxOption, options: e.Options}
	}
	return in, true
}

func intersect(some, all []string) []string {
	var out []string
	for _, s := range some {
		if slices.Contains(all, s) {
			out = append(out, s)
		}
	}
	return out
}

// humanize is a label for a name: preferred_time becomes Preferred time.
func humanize(name string) string {
	name = strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ").Replace(name))
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// Kind is how an element is answered: one of the Kind constants, or empty for headings and paragraphs.
func (e *Element) Kind() string {
	switch e.Type {
	case TypeConsent:
		return KindConsent
	case TypeField:
		return e.input.kind
	}
	return ""
}

// Caption is the label people see: the element's own, else that of its target; for a consent its text.
func (e *Element) Caption() string {
	switch {
	case e.Label != "":
		return e.Label
	case e.Type == TypeConsent:
		return e.Text
	}
	return e.input.label
}

// Max is how many characters an answer may have; 0 for none to be typed.
func (e *Element) Max() int { return e.input.max }

// Choices are the options to choose from, for a dropdown and for choices.
func (e *Element) Choices() []string { return e.input.options }

// Gone tells that the custom field of an element was archived since the form was saved. Such an element is not
// shown; an answer from a page that still shows it is kept with the submission only.
func (e *Element) Gone() bool { return e.input.gone }
