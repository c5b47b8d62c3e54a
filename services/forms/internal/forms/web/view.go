package web

import (
	"crypto/rand"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
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

// Attempt is the Idempotency-Key of a form without script: a button that is pressed twice sends one submission.
func (view) Attempt() string { return rand.Text() }

// part is one question.
type part struct {
	form.Question

	// Key is the id of the control, Name that of its value.
	Key, Name    string
	Caption      string
	Control      string // type of the input element
	Autocomplete string
	Inputmode    string
	Half         bool
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

// Has reports whether an option or box is ticked.
func (p part) Has(value string) bool { return slices.Contains(p.Values, value) }

// newView is the form with these answers typed and errors found, both by element id.
func newView(f Form, t *web.Reader, typed map[string][]string, wrong map[string]string) view {
	v := view{Form: f, Reader: t}
	for _, q := range f.Questions {
		control := web.Field{Kind: q.Kind}
		p := part{Question: q, Key: "svc-" + q.ID, Name: answerPrefix + q.ID, Caption: t.LabelOf(q), Control: control.InputType(),
			Inputmode: control.InputMode(), Autocomplete: web.Autocomplete(q.Target), Half: q.Width == "half", Values: typed[q.ID], Error: wrong[q.ID]}
		if q.Marketing {
			p.Note = t.T("form_confirm_note")
		}
		if !q.Required {
			p.Optional = t.T("optional")
		}
		if q.Kind == "" {
			p.Level = max(2, min(q.Level, 4))
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
	if len(v.Parts) > 0 && v.Parts[0].Type == form.TypeHeading {
		v.Title, v.Parts = v.Parts[0].Text, v.Parts[1:]
	}
	return v
}

// SubmitLabel is the text of the button.
func (v view) SubmitLabel() string {
	if v.Definition.SubmitLabel != "" {
		return v.Definition.SubmitLabel
	}
	return v.T("form_send")
}

// typed gives the controls of a form that was sent as they were filled in, by element id. Ticks under consents are left out
// when the words have changed: they are given anew.
func typed(f Form, sent url.Values, c consents) map[string][]string {
	kept := map[string][]string{}
	for _, q := range f.Questions {
		if got := sent[answerPrefix+q.ID]; len(got) > 0 && (q.Kind != form.KindConsent || c == sameWords) {
			kept[q.ID] = got
		}
	}
	return kept
}

// consents says whether the consents still stand in the words that the visitor saw.
type consents bool

const (
	sameWords    consents = true
	changedWords consents = false
)

// say puts a refusal into words: one problem of the whole form, or one each for answers, by element id.
func say(f Form, t *web.Reader, refused *fault.Fault, c consents) (problem string, wrong map[string]string) {
	switch refused.Code {
	case "svc_invalid_param":
		problems := web.Problems(refused)
		wrong = map[string]string{}
		for _, q := range f.Questions {
			if p := web.ProblemOf(q, problems); !p.IsZero() {
				wrong[q.ID] = t.Why(p, q.Kind)
			}
		}
		switch p := problems["values"]; {
		case len(wrong) > 0:
			return "", wrong
		case p.Code == "empty":
			return t.Why(p, ""), nil
		}
		return t.T("form_again"), nil
	case "svc_invalid_token":
		if c == changedWords {
			return t.T("form_changed"), nil
		}
		return t.T("form_again"), nil
	case "svc_rate_limited":
		return wait(t, web.Wait(refused)), nil
	case "svc_too_large":
		return t.T("form_large"), nil
	}
	return t.T("form_failed"), nil
}

// wait says how long to wait, in minutes when that is long.
func wait(t *web.Reader, d time.Duration) string {
	seconds := int(d.Seconds())
	if seconds > 90 {
		return t.T("form_minutes", "n", (seconds+59)/60)
	}
	return t.T("form_seconds", "n", max(2, seconds))
}

// words are the texts of the script.
func words(t *web.Reader) string {
	b, err := json.Marshal(t.Texts("error_", "fix_", "form_"))
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

// statusOf is what a page answers with when an operation refused: a page never asks for credentials.
func statusOf(refused *fault.Fault) int {
	if refused.Status == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return refused.Status
}
