package definition

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Answers are the checked values of one submission, sorted by where they go.
type Answers struct {
	Contact Contact
	// ContactFields and SubmissionFields hold filled custom fields by key: a string, a json.Number, a
	// bool, or a []string for choices.
	ContactFields    map[string]any
	SubmissionFields map[string]any
	// Organization holds filled details by name: name, vat_number, email, phone, website, address_line,
	// postal_code, city. Without a name it is empty.
	Organization map[string]string
	// Consents are those that the visitor gave.
	Consents []Consent
	// Lines are all answers in the order of the form, for people to read.
	Lines []Line
	// Values are the values as sent.
	Values map[string]any
}

// Contact is what a submission says about the visitor. Empty where it says nothing.
type Contact struct {
	FirstName, LastName, Email, Phone string
}

// Consent is a statement exactly as the visitor saw it.
type Consent struct {
	Purpose   string
	Text      string
	Marketing bool
}

// Line is one answer for people to read.
type Line struct {
	// Element is the id, Target is empty for a consent.
	Element, Target string
	Label           string
	Kind            string
	// Text is empty when nothing was answered, Yes or No for a checkbox and a consent, and has the
	// choices separated by a comma.
	Text string
}

// MaxValues is how many values one submission may have.
const MaxValues = 2 * MaxElements

// Values checks what a visitor sent against a form that Parse or Load gave. values is keyed by element id or target; strings, booleans,
// numbers (float64 or json.Number) and arrays of strings are understood, null and blank text are no
// answer. Everything that is wrong is named in one 400 svc_invalid_param, by values.<key as sent>,
// or by target (consents by id) when it is missing.
func Values(d Definition, values map[string]any) (Answers, error) {
	found := problems{}
	if len(values) > MaxValues {
		found.add("values", "must have at most %d entries", MaxValues)
		return Answers{}, found.err()
	}
	a := Answers{ContactFields: map[string]any{}, SubmissionFields: map[string]any{}, Organization: map[string]string{}, Values: values}
	used := 0
	for i := range d.Elements {
		e := &d.Elements[i]
		if e.Type != TypeField && e.Type != TypeConsent {
			continue
		}
		sent, key, given := lookup(found, e, values)
		if given {
			used++
		}
		if e.Gone() {
			if problem := storable(sent); problem != "" {
				found.add("values."+clip(key), "%s", problem)
			}
			continue
		}
		answer, problem := check(e, sent)
		if problem == "" && e.Required && empty(answer) {
			problem = "must be given"
			if e.Kind() == KindCheckbox || e.Kind() == KindConsent {
				problem = "must be ticked"
			}
		}
		if problem != "" {
			found.add("values."+key, "%s", problem)
			continue
		}
		a.put(e, answer)
	}
	if used < len(values) {
		reportUnknown(found, d, values)
	}
	a.checkConsents(found)
	if err := found.err(); err != nil {
		return Answers{}, err
	}
	if a.Organization["name"] == "" {
		clear(a.Organization)
	}
	return a, nil
}

// lookup finds the value for an element and the key to name it by.
func lookup(found problems, e *Element, values map[string]any) (sent any, key string, given bool) {
	byID, hasID := values[e.ID]
	if e.Target == "" {
		return byID, e.ID, hasID
	}
	byTarget, hasTarget := values[e.Target]
	switch {
	case hasID && hasTarget:
		found.add("values."+e.ID, "is there twice: also as %s", clip(e.Target))
		return byID, e.ID, true
	case hasID:
		return byID, e.ID, true
	}
	return byTarget, e.Target, hasTarget
}

func reportUnknown(found problems, d Definition, values map[string]any) {
	known := map[string]bool{}
	for i := range d.Elements {
		if e := &d.Elements[i]; e.Type == TypeField || e.Type == TypeConsent {
			known[e.ID], known[e.Target] = true, true
		}
	}
	delete(known, "")
	for key := range values {
		if !known[key] {
			found.add("values."+clip(key), "is not a field of this form")
		}
	}
}

// empty tells whether an answer says nothing; an unticked box says nothing that could be required.
func empty(answer any) bool {
	switch v := answer.(type) {
	case nil:
		return true
	case bool:
		return !v
	}
	return false
}

// put files a checked answer where its target says.
func (a *Answers) put(e *Element, answer any) {
	line := Line{Element: e.ID, Target: e.Target, Label: e.Caption(), Kind: e.Kind(), Text: readable(answer)}
	a.Lines = append(a.Lines, line)
	if e.Type == TypeConsent {
		if answer == true {
			a.Consents = append(a.Consents, Consent{Purpose: e.Purpose, Text: e.Text, Marketing: e.Marketing})
		}
		return
	}
	if answer == nil {
		return
	}
	text, _ := answer.(string)
	switch e.Target {
	case "contact.first_name":
		a.Contact.FirstName = strings.Join(strings.Fields(text), " ")
	case "contact.last_name":
		a.Contact.LastName = strings.Join(strings.Fields(text), " ")
	case "contact.email":
		a.Contact.Email = text
	case "contact.phone":
		a.Contact.Phone = text
	default:
		if key, ok := strings.CutPrefix(e.Target, contactFields); ok {
			a.ContactFields[key] = answer
		} else if key, ok := strings.CutPrefix(e.Target, submissionFields); ok {
			a.SubmissionFields[key] = answer
		} else if key, ok := strings.CutPrefix(e.Target, "organization."); ok {
			a.Organization[key] = text
		}
	}
}

// checkConsents: whoever asks for marketing mails must say to which address.
func (a *Answers) checkConsents(found problems) {
	for _, c := range a.Consents {
		if c.Marketing && a.Contact.Email == "" {
			found.add("values.contact.email", "is needed to confirm by mail")
		}
	}
}

func readable(answer any) string {
	switch v := answer.(type) {
	case bool:
		if v {
			return "Yes"
		}
		return "No"
	case string:
		return v
	case json.Number:
		return v.String()
	case []string:
		return strings.Join(v, ", ")
	case nil:
		return ""
	}
	return fmt.Sprint(answer)
}
