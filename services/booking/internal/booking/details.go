package booking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// DetailsForm is the form of the details step, as a visitor sees it.
type DetailsForm struct {
	ID       int64     `json:"id"`
	Elements []Element `json:"elements"`
}

// Element is one part of a form; forms owns what it means.
type Element struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Target      string   `json:"target,omitempty"`
	Label       string   `json:"label,omitempty"`
	Help        string   `json:"help,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Options     []string `json:"options,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Width       string   `json:"width,omitempty"`
	Text        string   `json:"text,omitempty"`
	Level       int      `json:"level,omitempty"`
	Marketing   bool     `json:"marketing,omitempty"`
	Purpose     string   `json:"purpose,omitempty"`
}

// asked tells whether the element takes an answer.
func (e Element) asked() bool { return e.Type == "field" || e.Type == "consent" }

// plain is what the details step asks without a form of the site's own.
var plain = DetailsForm{Elements: []Element{
	{ID: "first_name", Type: "field", Target: "contact.first_name"},
	{ID: "last_name", Type: "field", Target: "contact.last_name"},
	{ID: "email", Type: "field", Target: "contact.email", Required: true},
	{ID: "phone", Type: "field", Target: "contact.phone"},
	{ID: "message", Type: "field", Target: "message"},
}}

// forms are the published forms that ask for an address, by id.
type forms map[int64]DetailsForm

const selectForms = `select id, elements from form where status = 'publish' and not trashed
	and id in (select form_id from service where not archived union select form_id from settings)`

func collectForms(rows pgx.Rows) (forms, error) {
	all := forms{}
	var id int64
	var raw []byte
	_, err := pgx.ForEachRow(rows, []any{&id, &raw}, func() error {
		form := DetailsForm{ID: id}
		if err := json.Unmarshal(raw, &form.Elements); err != nil {
			return fmt.Errorf("elements of form %d: %w", id, err)
		}
		if needsEmail(form.Elements) {
			all[id] = form
		}
		return nil
	})
	return all, err
}

// of is the service's own form or the site's; else plain and false.
func (f forms) of(s BookableService, settings Settings) (DetailsForm, bool) {
	for _, id := range []*int64{s.FormID, settings.FormID} {
		if id != nil {
			if form, ok := f[*id]; ok {
				return form, true
			}
		}
	}
	return plain, false
}

func needsEmail(elements []Element) bool {
	return slices.ContainsFunc(elements, func(e Element) bool { return e.Type == "field" && e.Target == "contact.email" && e.Required })
}

// checkForm refuses a form that does not exist or does not ask for an address.
func (s *service) checkForm(ctx context.Context, tx *db.Tx, id opt.Value[int64]) error {
	if !id.Given() {
		return nil
	}
	var elements []Element
	err := s.await(ctx, "form", func() (bool, error) {
		var raw []byte
		err := tx.QueryRow(ctx, `select elements from form where id = $1 and not trashed`, id.V).Scan(&raw)
		if errors.Is(err, pgx.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, json.Unmarshal(raw, &elements)
	})
	if err != nil {
		return err
	}
	if !needsEmail(elements) {
		return fault.Invalid("form_id", fault.NewProblem("needs_email", "must be a form with a required email field"))
	}
	return nil
}

// details are the checked answers of the details step.
type details struct {
	client           client
	message          string
	fields           []byte
	organizationName string
	organization     []byte
	consents         []*proto.Consent
	raw              []byte // as sent, for forms
}

const (
	maxAnswer  = 10000
	maxAnswers = 200
)

// limits of the answers that booking itself keeps or passes on; others have maxAnswer.
var limits = map[string]int{"contact.first_name": 100, "contact.last_name": 100, "contact.email": 190, "contact.phone": 50, "message": 1800,
	"organization.name": 190, "organization.vat_number": 30, "organization.email": 190, "organization.phone": 50, "organization.website": 2048,
	"organization.address_line": 255, "organization.postal_code": 20, "organization.city": 100}

// read checks the answers, named by element id or target. Everything that is wrong is named by its key in
// one svc_invalid_param.
func (f DetailsForm) read(values map[string]json.RawMessage) (details, error) {
	var out details
	params := map[string]string{}
	known := map[string]bool{}
	custom, organization := map[string]any{}, map[string]any{}
	if len(values) > maxAnswers {
		return out, fault.Param("values", "must have at most %d answers", maxAnswers)
	}
	for _, e := range f.Elements {
		if !e.asked() {
			continue
		}
		known[e.ID] = true
		key := e.ID
		raw, given := values[key]
		if e.Target != "" && e.Target != e.ID {
			known[e.Target] = true
			if other, ok := values[e.Target]; ok {
				if given {
					params["values."+key] = "is given twice"
					continue
				}
				raw, key = other, e.Target
			}
		}
		answer, why := e.read(raw)
		if why != "" {
			params["values."+key] = why
			continue
		}
		if answer == nil {
			continue
		}
		text, _ := answer.(string)
		switch group, name, _ := strings.Cut(e.Target, "."); {
		case e.Type == "consent":
			out.consents = append(out.consents, &proto.Consent{Purpose: e.Purpose, Text: e.Text, Marketing: e.Marketing})
		case e.Target == "contact.first_name":
			out.client.firstName = text
		case e.Target == "contact.last_name":
			out.client.lastName = text
		case e.Target == "contact.email":
			out.client.email = text
		case e.Target == "contact.phone":
			out.client.phone = text
		case e.Target == "message":
			out.message = text
		case group == "contact":
			custom[strings.TrimPrefix(name, "fields.")] = answer
		case e.Target == "organization.name":
			out.organizationName = text
		case group == "organization":
			organization[name] = answer
		}
	}
	for key := range values {
		if !known[key] {
			params["values."+clip(key)] = "is not asked"
		}
	}
	if len(params) > 0 {
		return out, fault.Params(params)
	}
	var err error
	if len(custom) > 0 {
		if out.fields, err = json.Marshal(custom); err != nil {
			return out, err
		}
	}
	if len(organization) > 0 && out.organizationName != "" {
		if out.organization, err = json.Marshal(organization); err != nil {
			return out, err
		}
	}
	if values == nil {
		values = map[string]json.RawMessage{}
	}
	out.raw, err = json.Marshal(values)
	return out, err
}

// read checks one answer. It is nil when nothing was said, which is refused where it is required.
func (e Element) read(raw json.RawMessage) (answer any, why string) {
	if len(raw) > 0 && json.Unmarshal(raw, &answer) != nil {
		return nil, "is not valid JSON"
	}
	switch v := answer.(type) {
	case string:
		if v = strings.TrimSpace(v); v == "" {
			answer = nil
		} else {
			answer, why = v, e.text(v)
			if strings.HasSuffix(e.Target, ".email") && why == "" {
				stored, err := address.Parse(v)
				if err != nil {
					return nil, err.Error()
				}
				answer = stored
			}
		}
	case bool:
		if !v {
			answer = nil
		}
	case float64:
		if e.ofText() {
			why = "must be text"
		}
	case []any:
		why = e.choices(v)
		if len(v) == 0 {
			answer = nil
		}
	case map[string]any:
		why = "must not be an object"
	}
	if why != "" {
		return nil, why
	}
	if answer == nil {
		if e.Required {
			return nil, "is required"
		}
		return nil, ""
	}
	_, isBool := answer.(bool)
	if e.Type == "consent" && !isBool {
		return nil, "must be true or false"
	}
	if isBool && e.ofText() {
		return nil, "must be text"
	}
	return answer, ""
}

// ofText tells whether only text fits: everything but custom fields, whose types contacts checks.
func (e Element) ofText() bool {
	_, fixed := limits[e.Target]
	return fixed
}

func (e Element) text(v string) string {
	most := limits[e.Target]
	if most == 0 {
		most = maxAnswer
	}
	switch {
	case utf8.RuneCountInString(v) > most:
		return "is too long"
	case strings.IndexFunc(v, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) >= 0:
		return "has characters that cannot be shown"
	case len(e.Options) > 0 && !slices.Contains(e.Options, v):
		return "must be one of the options"
	case strings.HasPrefix(e.Target, "contact.") && e.ofText() && strings.ContainsAny(v, "\r\n"):
		return "must be on one line"
	}
	return ""
}

func (e Element) choices(list []any) string {
	if e.ofText() {
		return "must be text"
	}
	if len(list) > maxAnswers {
		return "has too many choices"
	}
	for _, x := range list {
		s, ok := x.(string)
		if !ok || utf8.RuneCountInString(s) > maxAnswer || len(e.Options) > 0 && !slices.Contains(e.Options, s) {
			return "must be some of the options"
		}
	}
	return ""
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
