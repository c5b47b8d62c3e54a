package definition

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// Env is what a definition is checked against.
type Env struct {
	// Fields are the custom fields of the site, archived ones too.
	Fields form.Fields
	// NotifyEmails are the addresses the form has now: a definition may keep or remove them.
	NotifyEmails []string
	// MayAddEmails is true for a person in the app, who may also add addresses.
	MayAddEmails bool
	// KnownUser reports whether a user may own contacts. Nil leaves owner_user_id unchecked.
	KnownUser func(int64) bool
}

var elementID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,50}$`)

// Parse reads a definition and checks all of it. Everything that is wrong is named by its place, such as
// definition.elements[2].target, in one 400 svc_invalid_param. An element without an id gets one
// that is free in this definition; what is left out has its default.
func Parse(raw json.RawMessage, env Env) (Definition, error) {
	if len(raw) > maxBytes {
		return Definition{}, fault.Invalid("definition", fault.NewProblem("too_large", fmt.Sprintf("must have at most %d bytes of JSON", maxBytes), "max", maxBytes))
	}
	if isNull(raw) {
		return Definition{}, fault.Invalid("definition", fault.Type("an object"))
	}
	found := problems{fault.Problems{}}
	o := readObject(found, "definition", raw, "elements", "submit_label", "after_submit", "notify", "new_contacts", "style")
	if !o.has("elements") {
		found.add("definition.elements", fault.Type("an array"))
	}
	d := Definition{
		Elements:    readElements(o, env.Fields),
		SubmitLabel: o.line("submit_label", maxSubmitLabel),
		AfterSubmit: readAfterSubmit(o),
		Notify:      readNotify(o, env),
		NewContacts: readNewContacts(o, env),
		Style:       readStyle(found, "definition.style", o.values["style"]),
	}
	if err := found.Err(); err != nil {
		return Definition{}, err
	}
	return d, nil
}

func readElements(o object, fields form.Fields) []form.Element {
	list := o.list("elements", MaxElements)
	out := make([]form.Element, 0, len(list))
	ids, targets := map[string]int{}, map[string]int{}
	for i, raw := range list {
		el := readObject(o.found, o.at("elements")+"["+strconv.Itoa(i)+"]", raw,
			"id", "type", "target", "label", "help", "required", "options", "placeholder", "width", "text", "level", "marketing", "purpose")
		e := readElement(el, fields)
		if e.ID != "" {
			if before, twice := ids[e.ID]; twice {
				o.found.add(el.at("id"), takenBy("id", before))
			}
			ids[e.ID] = i
		}
		if e.Target != "" {
			if before, twice := targets[e.Target]; twice {
				o.found.add(el.at("target"), takenBy("target", before))
			}
			targets[e.Target] = i
		}
		out = append(out, e)
	}
	nameElements(out, ids)
	checkTogether(o, out, targets)
	return out
}

func takenBy(what string, element int) fault.Problem {
	return fault.NewProblem("twice", fmt.Sprintf("is the %s of elements[%d] too", what, element), "element", element)
}

// nameElements gives ids to the elements without one.
func nameElements(elements []form.Element, taken map[string]int) {
	n := 0
	for i := range elements {
		for elements[i].ID == "" {
			n++
			id := "e" + strconv.Itoa(n)
			if _, there := taken[id]; !there {
				elements[i].ID = id
			}
		}
	}
}

// checkTogether checks the elements that require another element.
func checkTogether(o object, elements []form.Element, targets map[string]int) {
	_, hasEmail := targets[form.TargetEmail]
	_, hasOrganization := targets[form.TargetOrganization]
	for i := range elements {
		at := o.at("elements") + "[" + strconv.Itoa(i) + "]"
		if elements[i].Marketing && !hasEmail {
			o.found.add(at+".marketing", needs(form.TargetEmail, ", to ask for a confirmation by mail"))
		}
		if strings.HasPrefix(elements[i].Target, "organization.") && !hasOrganization {
			o.found.add(at+".target", needs(form.TargetOrganization, ""))
		}
	}
}

func needs(target, why string) fault.Problem {
	return fault.NewProblem("needs_element", "needs an element with the target "+target+why, "target", target)
}

// The keys that count for each type of element, beside id, type and width.
var keysOf = map[string][]string{
	form.TypeField:     {"target", "label", "help", "required", "options", "placeholder"},
	form.TypeHeading:   {"text", "level"},
	form.TypeParagraph: {"text"},
	form.TypeConsent:   {"text", "label", "help", "required", "marketing", "purpose"},
}

func readElement(o object, fields form.Fields) form.Element {
	e := form.Element{
		ID:          o.line("id", maxID),
		Type:        o.oneOf("type", "", form.TypeField, form.TypeHeading, form.TypeParagraph, form.TypeConsent),
		Target:      o.line("target", maxTarget),
		Label:       o.line("label", maxLabel),
		Help:        o.lines("help", maxHelp),
		Required:    o.flag("required"),
		Options:     o.texts("options", form.MaxOptions, form.MaxOption),
		Placeholder: o.line("placeholder", maxPlaceholder),
		Width:       o.oneOf("width", "full", "full", "half"),
		Text:        o.lines("text", maxParagraph),
		Marketing:   o.flag("marketing"),
		Purpose:     o.line("purpose", maxPurpose),
	}
	if len(e.Options) == 0 {
		e.Options = nil
	}
	level, _ := o.integer("level", 2, 4)
	e.Level = int(level)
	if e.ID != "" && !elementID.MatchString(e.ID) {
		o.found.add(o.at("id"), fault.NewProblem("format", "must be letters, digits, hyphens and underscores"))
	}
	if e.Type == "" {
		o.found.add(o.at("type"), fault.NotOneOf(form.TypeField, form.TypeHeading, form.TypeParagraph, form.TypeConsent))
		return e
	}
	for key, given := range map[string]bool{
		"target": e.Target != "", "label": e.Label != "", "help": e.Help != "", "required": e.Required, "options": len(e.Options) > 0,
		"placeholder": e.Placeholder != "", "text": e.Text != "", "level": e.Level != 0, "marketing": e.Marketing, "purpose": e.Purpose != "",
	} {
		if given && !slices.Contains(keysOf[e.Type], key) {
			o.found.add(o.at(key), fault.NewProblem("not_of_type", "does not belong to an element of the type "+e.Type, "type", e.Type))
		}
	}
	switch e.Type {
	case form.TypeField:
		readTarget(o, &e, fields)
	case form.TypeHeading:
		o.requireText(e.Text, maxHeading)
		if e.Level == 0 {
			e.Level = 2
		}
	case form.TypeParagraph:
		o.requireText(e.Text, maxParagraph)
	case form.TypeConsent:
		o.requireText(e.Text, maxConsent)
		if e.Purpose == "" {
			e.Purpose = "privacy"
			if e.Marketing {
				e.Purpose = "newsletter"
			}
		}
	}
	return e
}

func (o object) requireText(text string, max int) {
	if text == "" {
		o.found.add(o.at("text"), fault.Empty())
	}
	o.found.text(o.at("text"), text, max, form.Text)
}

// readTarget checks the target of a field element, and its options against those that the target takes.
func readTarget(o object, e *form.Element, fields form.Fields) {
	custom, isCustom := fields[e.Target]
	question := fields.Ask(*e)
	switch {
	case e.Target == "":
		o.found.add(o.at("target"), fault.NewProblem("required", "must be given for a field"))
		return
	case question.Gone || form.OfBooking(e.Target):
		o.found.add(o.at("target"), noTarget(e.Target, custom))
		return
	}
	choice := question.Kind == form.KindDropdown || question.Kind == form.KindChoices
	if len(e.Options) == 0 {
		if choice && len(question.Options) == 0 {
			o.found.add(o.at("options"), fault.NewProblem("empty", "must not be empty for a "+question.Kind))
		}
		return
	}
	if !choice {
		o.found.add(o.at("options"), fault.NewProblem("not_of_type", fmt.Sprintf("do not belong to the target %s, which takes %s", form.Clip(e.Target), question.Kind),
			"type", question.Kind))
		return
	}
	for i, option := range e.Options {
		if isCustom && !slices.Contains(custom.Options, option) {
			o.found.add(o.at("options")+"["+strconv.Itoa(i)+"]",
				fault.NewProblem("not_one_of", fmt.Sprintf("is not an option of the field %q", form.Clip(custom.Key)), "allowed", custom.Options))
		}
	}
}

func noTarget(target string, custom form.Field) fault.Problem {
	key, isContact := strings.CutPrefix(target, "contact.fields.")
	switch {
	case custom.Archived:
		return fault.NewProblem("archived", fmt.Sprintf("names the archived field %q", form.Clip(custom.Key)))
	case isContact:
		return fault.NewProblem("unknown", fmt.Sprintf("names the field %q, which contacts do not have", form.Clip(key)))
	}
	return fault.NewProblem("unknown", "must be contact.first_name, contact.last_name, contact.email, contact.phone, contact.fields.<key>, "+
		"submission.fields.<name>, organization.name or another detail of the organization")
}

func readAfterSubmit(o object) AfterSubmit {
	a := readObject(o.found, o.at("after_submit"), o.values["after_submit"], "type", "message", "url")
	out := AfterSubmit{
		Type:    a.oneOf("type", "message", "message", "redirect"),
		Message: a.lines("message", maxMessage),
		URL:     a.line("url", form.MaxURL),
	}
	switch {
	case out.URL == "" && out.Type == "redirect":
		a.found.add(a.at("url"), fault.NewProblem("required", "must be given for a redirect"))
	case out.URL != "":
		if _, ok := form.Website(out.URL, "https"); !ok || !strings.HasPrefix(out.URL, "https://") {
			a.found.add(a.at("url"), fault.NewProblem("url", "must be an address that starts with https://"))
		}
	}
	return out
}

func readNotify(o object, env Env) Notify {
	n := readObject(o.found, o.at("notify"), o.values["notify"], "emails", "owner")
	return Notify{Owner: n.flag("owner"), Emails: form.Addressees(n.texts("emails", maxEmails, form.MaxEmail), env.NotifyEmails, env.MayAddEmails,
		func(at string, p fault.Problem) { n.found.add(n.at("emails")+at, p) })}
}

func readNewContacts(o object, env Env) NewContacts {
	n := readObject(o.found, o.at("new_contacts"), o.values["new_contacts"], "create", "status", "source", "owner_user_id", "tags")
	out := NewContacts{
		Create: n.flag("create") || !n.has("create"),
		Status: n.oneOf("status", "lead", "lead", "customer", "inactive"),
		Source: n.line("source", MaxSource),
		Tags:   n.texts("tags", maxTags, maxTag),
	}
	if owner, given := n.integer("owner_user_id", 1, maxUser); given {
		if env.KnownUser != nil && !env.KnownUser(owner) {
			n.found.add(n.at("owner_user_id"), fault.NewProblem("unknown", "is not a user who can own contacts"))
		}
		out.OwnerUserID = &owner
	}
	return out
}
