package form

import (
	"cmp"
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

// The longest answers, in characters, and the most options.
const (
	maxText     = 1000
	maxLongText = 10000
	MaxEmail    = 190
	maxPhone    = 50
	MaxURL      = 2048
	MaxOption   = 190
	MaxOptions  = 200
)

// maxOf has every kind of custom field, with the length of an answer that is typed; 0 for what is picked.
var maxOf = map[string]int{
	KindText: maxText, KindLongText: maxLongText, KindEmail: MaxEmail, KindPhone: maxPhone, KindURL: MaxURL, KindNumber: 40,
	KindDate: 0, KindDropdown: 0, KindChoices: 0, KindCheckbox: 0,
}

// target is an answer that needs no custom field.
type target struct {
	kind, label string
	max         int
	// booking: only the details step of a booking asks for it.
	booking bool
}

var targets = map[string]target{
	TargetFirstName:             {kind: KindText, label: "First name", max: 100},
	TargetLastName:              {kind: KindText, label: "Last name", max: 100},
	TargetEmail:                 {kind: KindEmail, label: "Email", max: MaxEmail},
	TargetPhone:                 {kind: KindPhone, label: "Phone", max: maxPhone},
	TargetOrganization:          {kind: KindText, label: "Organization", max: 190},
	"organization.vat_number":   {kind: KindText, label: "VAT number", max: 30},
	"organization.email":        {kind: KindEmail, label: "Email of the organization", max: MaxEmail},
	"organization.phone":        {kind: KindPhone, label: "Phone of the organization", max: maxPhone},
	"organization.website":      {kind: KindURL, label: "Website", max: MaxURL},
	"organization.address_line": {kind: KindText, label: "Address", max: 255},
	"organization.postal_code":  {kind: KindText, label: "Postal code", max: 20},
	"organization.city":         {kind: KindText, label: "City", max: 100},
	targetMessage:               {kind: KindLongText, label: "Message", max: 1800, booking: true},
	TargetLocation:              {kind: KindText, label: "Address", max: 255, booking: true},
}

// OfBooking reports whether only the details step of a booking asks for a target, so that no form can have it.
func OfBooking(target string) bool { return targets[target].booking }

// Field is a custom field that targets can name.
type Field struct {
	Entity   string // contact, organization or submission
	Key      string
	Label    string
	Type     string // a kind other than consent
	Options  []string
	Archived bool
}

// Fields are the custom fields of a site, archived ones too, by the target that names them.
type Fields map[string]Field

// FieldsOf makes Fields of a list.
func FieldsOf(list ...Field) Fields {
	all := make(Fields, len(list))
	for _, f := range list {
		all[f.Entity+".fields."+f.Key] = f
	}
	return all
}

// Question is an element as visitors get it: all that a page or a widget needs to ask it, and Check to check the answer.
// Label is the element's own or that of its custom field; it is empty where the target says it, in any language. Options
// are those that can be chosen now.
type Question struct {
	Element

	// Kind is one of the Kind constants, or empty for headings and paragraphs.
	Kind string `json:"kind,omitempty"`
	// Max is how many characters an answer may have, 0 when it is not typed.
	Max int `json:"max,omitempty"`
	// Gone: the custom field is archived or no longer there. Pages leave the question out. An answer from a page that still
	// shows it is kept with the submission and goes nowhere else.
	Gone bool `json:"-"`
}

// Ask makes the questions of elements from the current custom fields: one for each element, in their order.
func Ask(elements []Element, fields Fields) []Question {
	all := make([]Question, len(elements))
	for i := range elements {
		all[i] = fields.Ask(elements[i])
	}
	return all
}

// Shown leaves out the questions whose custom field is gone.
func Shown(questions []Question) []Question {
	return slices.DeleteFunc(slices.Clone(questions), func(q Question) bool { return q.Gone })
}

var fieldName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Ask makes the question of one element. A field whose target does not exist, or is archived, is Gone. A name under
// submission.fields that no custom field has takes text, or one of the element's options.
func (fields Fields) Ask(e Element) Question {
	q := Question{Element: e}
	if e.Type == TypeConsent {
		q.Kind = KindConsent
	}
	if e.Type != TypeField {
		return q
	}
	if t, ok := targets[e.Target]; ok {
		q.Kind, q.Max, q.Options = t.kind, t.max, nil
		return q
	}
	custom, known := fields[e.Target]
	q.Label = cmp.Or(q.Label, custom.Label)
	if known && !custom.Archived {
		if q.Max, known = maxOf[custom.Type]; !known {
			q.Gone = true // a type that this version does not know
			return q
		}
		q.Kind, q.Options = custom.Type, nil
		if q.Kind == KindDropdown || q.Kind == KindChoices {
			q.Options = custom.Options
			// An element may offer fewer options. Options that the field has lost are not offered.
			if some := slices.DeleteFunc(slices.Clone(e.Options), func(o string) bool { return !slices.Contains(custom.Options, o) }); len(some) > 0 {
				q.Options = some
			}
		}
		return q
	}
	name, free := strings.CutPrefix(e.Target, submissionFields)
	if known || !free || !fieldName.MatchString(name) {
		q.Gone = true
		return q
	}
	q.Label = cmp.Or(q.Label, humanize(name))
	if q.Kind = KindDropdown; len(e.Options) == 0 {
		q.Kind, q.Max = KindLongText, maxLongText
	}
	return q
}

// humanize is a label for a name: preferred_time becomes Preferred time.
func humanize(name string) string {
	name = strings.TrimSpace(strings.NewReplacer("_", " ", "-", " ").Replace(name))
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// Caption is the label for mails, exports and other places without a language of their own: that of the question, the
// words of a consent, or the English name of the target.
func (q *Question) Caption() string {
	switch {
	case q.Label != "":
		return q.Label
	case q.Type == TypeConsent:
		return q.Text
	}
	return targets[q.Target].label
}
