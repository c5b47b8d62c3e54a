package form

import (
	"encoding/json"
	"fmt"
	"strings"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
)

// Answers are the checked values of one submission, sorted by where they go. The maps are not nil.
type Answers struct {
	Contact Contact
	// contactFields and submissionFields hold answered custom fields by key: a string, a json.Number, a bool, or a []string
	// for choices.
	contactFields    map[string]any
	submissionFields map[string]any
	// Organization holds answered details by name: name, vat_number, email, phone, website, address_line, postal_code,
	// city. Without a name it is empty.
	Organization map[string]string
	// Message is the answer to targetMessage, which only the details step of a booking asks for.
	Message string
	// Consents are those that the visitor gave.
	Consents []consent
	// Lines are all questions in the order of the form with their answers, for people to read. A question that is gone
	// has a line when something was sent for it.
	Lines []Line
}

// Contact is what a submission says about the visitor. Empty where it says nothing.
type Contact struct {
	FirstName, LastName, Email, Phone string
}

// consent is a statement exactly as the visitor saw it.
type consent struct {
	Purpose   string
	Text      string
	Marketing bool
}

// Line is one answer for people to read. Its JSON is stored with submissions.
type Line struct {
	Element string `json:"element"`
	Target  string `json:"target"` // empty for a consent
	Label   string `json:"label"`
	Kind    string `json:"kind"`
	// Text is empty when nothing was answered, Yes or No for a checkbox and a consent, and has choices separated by a comma.
	Text string `json:"text"`
}

// ReplyTo is the address that a visitor gave; empty for none.
func ReplyTo(lines []Line) (email string) {
	for _, l := range lines {
		if l.Target == TargetEmail {
			email = address.Key(l.Text)
		}
	}
	return email
}

// maxValues is how many values one submission may have.
const maxValues = 200

// Check checks what a visitor sent against the questions of a form. values is keyed by element id or target; strings,
// booleans, numbers (float64 or json.Number) and arrays of strings are understood, null and blank text are no answer.
// Everything that is wrong is named in one 400 svc_invalid_param, by values.<key as sent>, or by the target (consents by
// id) when it is missing. The codes are those of libs/fault; address_needed says that a consent to mails has no address
// to confirm by. A submission that answers no field at all is refused as values: empty.
func Check(questions []Question, values map[string]any) (Answers, error) {
	if len(values) > maxValues {
		return Answers{}, fault.Invalid("values", fault.TooMany(maxValues))
	}
	found := fault.Problems{}
	a := Answers{contactFields: map[string]any{}, submissionFields: map[string]any{}, Organization: map[string]string{}}
	used, answered := 0, false
	for i := range questions {
		q := &questions[i]
		if !q.Asked() {
			continue
		}
		sent, key, given := lookup(found, q, values)
		if given {
			used++
		}
		if q.Gone {
			found.Add("values."+Clip(key), storable(sent))
			if given {
				a.Lines = append(a.Lines, q.line(KindText, asSent(sent)))
				answered = answered || asSent(sent) != ""
			}
			continue
		}
		answer, wrong := q.check(sent)
		if wrong.IsZero() && q.Required && (answer == nil || answer == false) {
			wrong = fault.Required()
		}
		if !wrong.IsZero() {
			found.Add("values."+key, wrong)
			continue
		}
		a.Lines = append(a.Lines, q.line(q.Kind, readable(answer)))
		if answer != nil && answer != false && q.Type == TypeField {
			answered = true
		}
		a.put(q, answer)
	}
	if used < len(values) {
		addUnknown(found, questions, values)
	}
	for _, c := range a.Consents {
		if c.Marketing && a.Contact.Email == "" {
			found.Add("values."+TargetEmail, fault.NewProblem("address_needed", "is needed to confirm by mail"))
		}
	}
	if !answered && len(found) == 0 {
		found.Add("values", fault.Empty())
	}
	if err := found.Err(); err != nil {
		return Answers{}, err
	}
	if a.Organization["name"] == "" {
		clear(a.Organization)
	}
	return a, nil
}

// Unchecked gives the lines of a submission that Check refused, with the values as they were sent.
func Unchecked(questions []Question, values map[string]any) (lines []Line) {
	for i := range questions {
		q := &questions[i]
		if !q.Asked() {
			continue
		}
		if sent, _, given := lookup(fault.Problems{}, q, values); given {
			kind := q.Kind
			if q.Gone {
				kind = KindText
			}
			lines = append(lines, q.line(kind, asSent(sent)))
		}
	}
	return lines
}

func (q *Question) line(kind, text string) Line {
	return Line{Element: q.ID, Target: q.Target, Label: q.Caption(), Kind: kind, Text: text}
}

// lookup finds the value for a question and the key to name it by.
func lookup(found fault.Problems, q *Question, values map[string]any) (sent any, key string, given bool) {
	byID, hasID := values[q.ID]
	if q.Target == "" || q.Target == q.ID {
		return byID, q.ID, hasID
	}
	byTarget, hasTarget := values[q.Target]
	switch {
	case hasID && hasTarget:
		found.Add("values."+q.ID, fault.NewProblem("twice", "is there twice: also as "+Clip(q.Target)))
		return byID, q.ID, true
	case hasID:
		return byID, q.ID, true
	}
	return byTarget, q.Target, hasTarget
}

func addUnknown(found fault.Problems, questions []Question, values map[string]any) {
	known := map[string]bool{}
	for i := range questions {
		if q := &questions[i]; q.Asked() {
			known[q.ID], known[q.Target] = true, true
		}
	}
	delete(known, "")
	for key := range values {
		if !known[key] {
			found.Add("values."+Clip(key), fault.NewProblem("unknown", "is not a field of this form"))
		}
	}
}

// put files a checked answer where its target says.
func (a *Answers) put(q *Question, answer any) {
	if q.Type == TypeConsent {
		if answer == true {
			a.Consents = append(a.Consents, consent{Purpose: q.Purpose, Text: q.Text, Marketing: q.Marketing})
		}
		return
	}
	if answer == nil {
		return
	}
	text, _ := answer.(string)
	switch q.Target {
	case TargetFirstName:
		a.Contact.FirstName = strings.Join(strings.Fields(text), " ")
	case TargetLastName:
		a.Contact.LastName = strings.Join(strings.Fields(text), " ")
	case TargetEmail:
		a.Contact.Email = text
	case TargetPhone:
		a.Contact.Phone = text
	case targetMessage:
		a.Message = text
	default:
		if key, ok := strings.CutPrefix(q.Target, contactFields); ok {
			a.contactFields[key] = answer
		} else if key, ok := strings.CutPrefix(q.Target, submissionFields); ok {
			a.submissionFields[key] = answer
		} else if key, ok := strings.CutPrefix(q.Target, "organization."); ok {
			a.Organization[key] = text
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

// asSent is a value that no question explains, as text.
func asSent(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// Clip shortens a key that somebody sent, to name it in an answer.
func Clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
