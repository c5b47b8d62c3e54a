package web

import (
	"crypto/rand"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
)

// view is a form as the template shows it.
type view struct {
	Form
	*web.Reader
	Action string
	// Words are the texts of the script.
	Words string
	Page  string
	// Title is the heading over the form, in a page.
	Title  string
	Fields web.Fields
	// Problem is what keeps the whole form from being taken.
	Problem string
	Look    web.Look
}

// Attempt is the Idempotency-Key of a form without script: a button that is pressed twice sends one submission.
func (view) Attempt() string { return rand.Text() }

// ButtonIcon is the icon on the button.
func (v view) ButtonIcon() template.HTML { return template.HTML(v.Look.Icon) } //nolint:gosec // our own file

// titled takes a heading that the form begins with out of it, to be that of the page; a form without one gives its name.
func (v view) titled() view {
	v.Title = v.Name
	if all := v.Fields.All; len(all) > 0 && all[0].Type == form.TypeHeading {
		v.Title, v.Fields.All = all[0].Text, all[1:]
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

// typed gives the answers of a form that was sent as they were filled in. Ticks under consents are left out when the words have changed:
// they are given anew.
func typed(f Form, sent url.Values, c consents) url.Values {
	kept := url.Values{}
	for _, q := range f.Questions {
		if got := sent[web.AnswerPrefix+q.ID]; len(got) > 0 && (q.Kind != form.KindConsent || c == sameWords) {
			kept[web.AnswerPrefix+q.ID] = got
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

// say puts a refusal into words: one problem of the whole form, or what is wrong with answers.
func say(f Form, t *web.Reader, refused *fault.Fault, c consents) (problem string, wrong map[string]fault.Problem) {
	switch refused.Code {
	case "svc_invalid_param":
		problems := web.Problems(refused)
		answered := func(q form.Question) bool { return !web.ProblemOf(q, problems).IsZero() }
		switch p := problems["values"]; {
		case slices.ContainsFunc(f.Questions, answered):
			return "", problems
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
