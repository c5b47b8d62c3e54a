package web

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
	"frontdesk/services/forms/internal/definition"
)

// answerPrefix and the element's id are the name of an answer in the HTML form.
const answerPrefix = "values."

// view is a form as the template shows it.
type view struct {
	Form
	*web.Reader
	Action string
	// Words are the texts of the script.
	Words string
	Page  string
	// Title is the heading over the form, in a page.
	Title string
	Parts []part
	// Problem is what keeps the whole form from being taken.
	Problem string
	// Wrong are the parts whose answers have to change, in their order.
	Wrong []part
	Look  web.Look
}

// part is one element.
type part struct {
	definition.Element
	// Key is the id of the control, Name that of its value.
	Key, Name     string
	Kind, Caption string
	Type          string
	Autocomplete  string
	Inputmode     string
	Options       []string
	Max           int
	Half          bool
	// Note is ours, behind the help of the business.
	Note string
	// Optional says that the answer may be left out, "" when it may not.
	Optional string
	Values   []string
	Error    string
	// Focus marks the one answer that is wrong.
	Focus bool
}

// DescribedBy names what is said about the control, for screen readers.
func (p part) DescribedBy() string {
	var ids []string
	if p.Help != "" || p.Note != "" {
		ids = append(ids, p.Key+"-help")
	}
	return strings.Join(append(ids, p.Key+"-error"), " ")
}

// Entry is the part in the list of what is wrong.
func (p part) Entry() string {
	caption := p.Caption
	if !strings.ContainsAny(caption[max(0, len(caption)-1):], "?!.:") {
		caption += ":"
	}
	return caption + " " + p.Error
}

// Value is the only value of a part that has but one.
func (p part) Value() string {
	if len(p.Values) == 0 {
		return ""
	}
	return p.Values[0]
}

// Has tells whether an option or box is ticked.
func (p part) Has(value string) bool {
	for _, v := range p.Values {
		if v == value {
			return true
		}
	}
	return false
}

// fills is what browsers know to fill in, by target.
var fills = map[string]string{
	"contact.first_name": "given-name", "contact.last_name": "family-name", "contact.email": "email", "contact.phone": "tel",
	"organization.name": "organization", "organization.website": "url", "organization.address_line": "street-address",
	"organization.postal_code": "postal-code", "organization.city": "address-level2",
}

// newView is the form with these answers typed and errors found, both by element id.
func newView(f Form, t *web.Reader, typed map[string][]string, wrong map[string]string) view {
	v := view{Form: f, Reader: t}
	for i := range f.Definition.Elements {
		e := &f.Definition.Elements[i]
		if e.Type == definition.TypeField && e.Gone() {
			continue
		}
		p := part{Element: *e, Key: "svc-" + e.ID, Name: answerPrefix + e.ID, Kind: e.Kind(), Caption: e.Caption(), Options: e.Choices(),
			Autocomplete: fills[e.Target], Max: e.Max(), Half: e.Width == "half", Values: typed[e.ID], Error: wrong[e.ID]}
		if e.Marketing {
			p.Note = t.T("form_confirm_note")
		}
		if !e.Required {
			p.Optional = t.T("form_optional")
		}
		switch p.Kind {
		case definition.KindEmail:
			p.Type = "email"
		case definition.KindPhone:
			p.Type = "tel"
		case definition.KindURL:
			p.Type, p.Inputmode = "text", "url"
		case definition.KindNumber:
			p.Type, p.Inputmode = "text", "decimal"
		case definition.KindDate:
			p.Type = "date"
		case definition.KindText:
			p.Type = "text"
		case "":
			p.Level = max(2, min(e.Level, 4))
		}
		v.Parts = append(v.Parts, p)
		if p.Error != "" {
			v.Wrong = append(v.Wrong, p)
		}
	}
	if len(v.Wrong) == 1 {
		for i := range v.Parts {
			v.Parts[i].Focus = v.Parts[i].ID == v.Wrong[0].ID
		}
	}
	return v
}

// ButtonIcon is the icon on the button.
func (v view) ButtonIcon() template.HTML { return template.HTML(v.Look.Icon) } //nolint:gosec // our own file

// titled takes a heading that the form begins with out of it, to be that of the page; a form without one gives its name.
func (v view) titled() view {
	v.Title = v.Name
	if len(v.Parts) > 0 && v.Parts[0].Element.Type == definition.TypeHeading {
		v.Title, v.Parts = v.Parts[0].Text, v.Parts[1:]
	}
	return v
}

// SubmitLabel is the words on the button.
func (v view) SubmitLabel() string {
	if v.Definition.SubmitLabel != "" {
		return v.Definition.SubmitLabel
	}
	return v.T("form_send")
}

// typed reads the answers of a form that was sent, as kept for showing it again and as the operation takes them.
func typed(f Form, sent url.Values) (kept map[string][]string, values map[string]any) {
	kept, values = map[string][]string{}, map[string]any{}
	for i := range f.Definition.Elements {
		e := &f.Definition.Elements[i]
		got := sent[answerPrefix+e.ID]
		if len(got) == 0 {
			continue
		}
		kept[e.ID] = got
		if len(got) == 1 && strings.TrimSpace(got[0]) == "" {
			continue // a field that was left empty is no answer
		}
		switch e.Kind() {
		case definition.KindChoices:
			values[e.ID] = got
		case definition.KindCheckbox, definition.KindConsent:
			values[e.ID] = got[0] != ""
		case definition.KindNumber:
			values[e.ID] = decimal(got[0])
		default:
			values[e.ID] = got[0]
		}
	}
	return kept, values
}

var decimalComma = regexp.MustCompile(`^\s*(-?[0-9]+),([0-9]+)\s*$`)

// decimal is a number with a point, as most of our languages write it with a comma.
func decimal(s string) string { return decimalComma.ReplaceAllString(s, "$1.$2") }

// say puts a refusal into words: one problem of the whole form, or one each for answers, by element id.
func say(f Form, t *web.Reader, refused *fault.Fault) (problem string, wrong map[string]string) {
	switch refused.Code {
	case "svc_invalid_param":
		wrong = map[string]string{}
		for name, why := range web.Params(refused) {
			if e := elementOf(f, strings.TrimPrefix(name, "values.")); e != nil {
				wrong[e.ID] = reason(t, e.Kind(), why)
			}
		}
		if len(wrong) == 0 {
			return t.T("form_again"), nil
		}
		return "", wrong
	case "svc_invalid_token":
		return t.T("form_again"), nil
	case "svc_rate_limited":
		return wait(t, web.Wait(refused)), nil
	case "svc_too_large":
		return t.T("form_large"), nil
	}
	return t.T("form_failed"), nil
}

// elementOf finds an element by id or target.
func elementOf(f Form, key string) *definition.Element {
	for i := range f.Definition.Elements {
		if e := &f.Definition.Elements[i]; e.ID == key || e.Target != "" && e.Target == key {
			return e
		}
	}
	return nil
}

// statusOf is what a page answers with when an operation refused: a page never asks for credentials.
func statusOf(refused *fault.Fault) int {
	if refused.Status == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return refused.Status
}
