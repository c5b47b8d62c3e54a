// Package form is what forms and the details step of a booking have in common: the elements of a form, what each of them
// asks, and the check of what a visitor answers. It keeps no state and reads nothing.
//
// Time and memory are bounded: Check takes at most maxValues values, an answer has at most maxLongText characters, and no
// check looks at a text more than a fixed number of times.
package form

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Types of elements.
const (
	TypeField     = "field"
	TypeHeading   = "heading"
	TypeParagraph = "paragraph"
	TypeConsent   = "consent"
)

// Targets that other packages name.
const (
	TargetEmail        = "contact.email"
	TargetFirstName    = "contact.first_name"
	TargetLastName     = "contact.last_name"
	TargetPhone        = "contact.phone"
	TargetOrganization = "organization.name"
	// targetMessage and TargetLocation belong to the details step of a booking; no form can have them.
	targetMessage  = "message"
	TargetLocation = "location"

	contactFields    = "contact.fields."
	submissionFields = "submission.fields."
)

// Element is one part of a form, from top to bottom, as its definition has it. Which keys count depends on the type: a
// field has target, label, help, required, options, placeholder and width; a heading text, level and width; a paragraph
// text and width; a consent text, label, help, required, marketing, purpose and width.
type Element struct {
	ID          string   `json:"id" doc:"The id of the element in its form."`
	Type        string   `json:"type" doc:"field, heading, paragraph or consent."`
	Target      string   `json:"target,omitempty" doc:"Where the answer goes, such as contact.email."`
	Label       string   `json:"label,omitempty" doc:"The question, or what stands beside a consent."`
	Help        string   `json:"help,omitempty" doc:"Words under the field."`
	Required    bool     `json:"required,omitempty" doc:"It has to be answered."`
	Options     []string `json:"options,omitempty" doc:"The answers to choose from."`
	Placeholder string   `json:"placeholder,omitempty" doc:"What stands in an empty field."`
	Width       string   `json:"width,omitempty" doc:"half for half of the row."`
	Text        string   `json:"text,omitempty" doc:"The words of a text or consent."`
	Level       int      `json:"level,omitempty" doc:"The level of a heading: 2, 3 or 4."`
	Marketing   bool     `json:"marketing,omitempty" doc:"Agreeing means wanting marketing mails."`
	Purpose     string   `json:"purpose,omitempty" doc:"What a consent is for."`
}

// Asked reports whether the element takes an answer.
func (e *Element) Asked() bool { return e.Type == TypeField || e.Type == TypeConsent }

// Details gives the elements that the details step of a booking asks when no form says otherwise.
func Details() []Element {
	return []Element{
		{ID: "first_name", Type: TypeField, Target: TargetFirstName, Width: "half"},
		{ID: "last_name", Type: TypeField, Target: TargetLastName, Width: "half"},
		{ID: "email", Type: TypeField, Target: TargetEmail, Required: true},
		{ID: "phone", Type: TypeField, Target: TargetPhone},
		{ID: "message", Type: TypeField, Target: targetMessage},
	}
}

// Location gives the element with which the details step asks where to come to, or which number to call. No element of a form can have its id.
func Location() Element {
	return Element{ID: ".location", Type: TypeField, Target: TargetLocation, Required: true}
}

// Called are the elements of a details step after which somebody is called: the number that they ask for is required. asked is false if
// they ask for none, and Location has to.
func Called(elements []Element) (required []Element, asked bool) {
	required = slices.Clone(elements)
	i := slices.IndexFunc(required, func(e Element) bool { return e.Type == TypeField && e.Target == TargetPhone })
	if i >= 0 {
		required[i].Required = true
	}
	return required, i >= 0
}

// NeedsEmail reports whether every submission carries the visitor's address: whether a field for contact.email is
// required. Forms for booking must have one.
func NeedsEmail(elements []Element) bool {
	return slices.ContainsFunc(elements, func(e Element) bool { return e.Type == TypeField && e.Target == TargetEmail && e.Required })
}

// ConsentVersion changes whenever a visitor would agree to something else: with the words, the purpose or the number of
// the consents in elements, and with nothing else. It is empty for a form without consents. A time token whose subject
// contains it proves which words the visitor saw.
func ConsentVersion(elements []Element) string {
	type consent struct {
		ID, Text, Label, Purpose string
		Marketing                bool
	}
	var all []consent
	for i := range elements {
		if e := &elements[i]; e.Type == TypeConsent {
			all = append(all, consent{e.ID, e.Text, e.Label, e.Purpose, e.Marketing})
		}
	}
	if len(all) == 0 {
		return ""
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts always encode
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}
