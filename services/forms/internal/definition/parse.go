package definition

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/fault"
)

// Env is what a definition is checked against.
type Env struct {
	// Fields are the custom fields of the site, archived ones too.
	Fields []Field
	// NotifyEmails are the addresses the form has now: a definition may keep or remove them.
	NotifyEmails []string
	// MayAddEmails is true for a person in the app, who may also add addresses.
	MayAddEmails bool
	// KnownUser tells whether a user may own contacts. Nil leaves owner_user_id unchecked.
	KnownUser func(int64) bool
}

var elementID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,50}$`)

// Parse reads a definition and checks all of it. Everything that is wrong is named by its place, such as
// definition.elements[2].target, in one 400 svc_invalid_param. An element without an id gets one
// that is free in this definition; what is left out has its default.
func Parse(raw json.RawMessage, env Env) (Definition, error) {
	if len(raw) > MaxBytes {
		return Definition{}, fault.Param("definition", "must have at most %d bytes of JSON", MaxBytes)
	}
	if isNull(raw) {
		return Definition{}, fault.Param("definition", "must be an object")
	}
	found := problems{}
	o := readObject(found, "definition", raw, "elements", "submit_label", "after_submit", "notify", "new_contacts", "style")
	if len(o.values) == 0 || !o.has("elements") {
		found.add("definition.elements", "must be an array")
	}
	d := Definition{
		Elements:    readElements(o, catalogOf(env.Fields)),
		SubmitLabel: o.text("submit_label", MaxSubmitLabel, false),
		AfterSubmit: readAfterSubmit(o),
		Notify:      readNotify(o, env),
		NewContacts: readNewContacts(o, env),
		Style:       readStyle(found, "definition.style", o.values["style"]),
	}
	if err := found.err(); err != nil {
		return Definition{}, err
	}
	return d, nil
}

// Load reads a definition that Parse accepted earlier and works its targets out against the custom fields of
// now. Elements whose field is gone meanwhile stay, marked Gone.
func Load(raw json.RawMessage, fields []Field) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return Definition{}, err
	}
	c := catalogOf(fields)
	for i := range d.Elements {
		if e := &d.Elements[i]; e.Type == TypeField {
			in, ok := c.resolve(e)
			in.gone = !ok
			e.input = in
		}
	}
	for name, value := range d.Style {
		if n, ok := value.(float64); ok {
			d.Style[name] = int(n)
		}
	}
	return d, nil
}

func readElements(o object, c catalog) []Element {
	list := o.list("elements", MaxElements)
	out := make([]Element, 0, len(list))
	ids, targets := map[string]int{}, map[string]int{}
	for i, raw := range list {
		el := readObject(o.found, o.at("elements")+"["+strconv.Itoa(i)+"]", raw,
			"id", "type", "target", "label", "help", "required", "options", "placeholder", "width", "text", "level", "marketing", "purpose")
		e := readElement(el, c)
		if e.ID != "" {
			if before, twice := ids[e.ID]; twice {
				o.found.add(el.at("id"), "is the id of elements[%d] too", before)
			}
			ids[e.ID] = i
		}
		if e.Target != "" {
			if before, twice := targets[e.Target]; twice {
				o.found.add(el.at("target"), "is the target of elements[%d] too", before)
			}
			targets[e.Target] = i
		}
		out = append(out, e)
	}
	nameElements(out, ids)
	checkTogether(o, out, targets)
	return out
}

// nameElements gives ids to the elements without one.
func nameElements(elements []Element, taken map[string]int) {
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

// checkTogether checks what one element needs another for.
func checkTogether(o object, elements []Element, targets map[string]int) {
	_, hasEmail := targets["contact.email"]
	_, hasOrganization := targets["organization.name"]
	for i := range elements {
		at := o.at("elements") + "[" + strconv.Itoa(i) + "]"
		if elements[i].Marketing && !hasEmail {
			o.found.add(at+".marketing", "needs an element with the target contact.email, to ask for a confirmation by mail")
		}
		if strings.HasPrefix(elements[i].Target, "organization.") && !hasOrganization {
			o.found.add(at+".target", "needs an element with the target organization.name")
		}
	}
}

// The keys that count for each type of element, beside id, type and width.
var keysOf = map[string][]string{
	TypeField:     {"target", "label", "help", "required", "options", "placeholder"},
	TypeHeading:   {"text", "level"},
	TypeParagraph: {"text"},
	TypeConsent:   {"text", "label", "help", "required", "marketing", "purpose"},
}

func readElement(o object, c catalog) Element {
	e := Element{
		ID:          o.text("id", MaxID, false),
		Type:        o.oneOf("type", "", TypeField, TypeHeading, TypeParagraph, TypeConsent),
		Target:      o.text("target", 300, false),
		Label:       o.text("label", MaxLabel, false),
		Help:        o.text("help", MaxHelp, true),
		Required:    o.flag("required", false),
		Options:     o.texts("options", MaxOptions, MaxOption),
		Placeholder: o.text("placeholder", MaxPlaceholder, false),
		Width:       o.oneOf("width", "full", "full", "half"),
		Text:        o.text("text", MaxParagraph, true),
		Marketing:   o.flag("marketing", false),
		Purpose:     o.text("purpose", MaxPurpose, false),
	}
	level, _ := o.integer("level", 2, 4)
	e.Level = int(level)
	if e.ID != "" && !elementID.MatchString(e.ID) {
		o.found.add(o.at("id"), "must be letters, digits, hyphens and underscores")
	}
	if e.Type == "" {
		o.found.add(o.at("type"), "must be one of field, heading, paragraph, consent")
		return e
	}
	for key, given := range map[string]bool{
		"target": e.Target != "", "label": e.Label != "", "help": e.Help != "", "required": e.Required, "options": len(e.Options) > 0,
		"placeholder": e.Placeholder != "", "text": e.Text != "", "level": e.Level != 0, "marketing": e.Marketing, "purpose": e.Purpose != "",
	} {
		if given && !slices.Contains(keysOf[e.Type], key) {
			o.found.add(o.at(key), "does not belong to an element of the type %s", e.Type)
		}
	}
	switch e.Type {
	case TypeField:
		readTarget(o, &e, c)
	case TypeHeading:
		o.requireText(e.Text, MaxHeading)
		if e.Level == 0 {
			e.Level = 2
		}
	case TypeParagraph:
		o.requireText(e.Text, MaxParagraph)
	case TypeConsent:
		o.requireText(e.Text, MaxConsent)
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
		o.found.add(o.at("text"), "must not be empty")
	}
	o.found.text(o.at("text"), text, max, true)
}

// readTarget checks the target of a field element, and its options against what the target takes.
func readTarget(o object, e *Element, c catalog) {
	if e.Target == "" {
		o.found.add(o.at("target"), "must be given for a field")
		return
	}
	in, ok := c.resolve(e)
	if !ok {
		key, isContact := strings.CutPrefix(e.Target, contactFields)
		switch f, known := c[e.Target]; {
		case known && f.Archived:
			o.found.add(o.at("target"), "names the archived field %q", clip(f.Key))
		case isContact:
			o.found.add(o.at("target"), "names the field %q, which contacts do not have", clip(key))
		default:
			o.found.add(o.at("target"), "must be contact.first_name, contact.last_name, contact.email, contact.phone, contact.fields.<key>, "+
				"submission.fields.<name>, organization.name or another detail of the organization")
		}
		return
	}
	e.input = in
	if len(e.Options) == 0 {
		e.Options = nil
		if (in.kind == KindDropdown || in.kind == KindChoices) && len(in.options) == 0 {
			o.found.add(o.at("options"), "must not be empty for a %s", in.kind)
		}
		return
	}
	if in.kind != KindDropdown && in.kind != KindChoices {
		o.found.add(o.at("options"), "do not belong to the target %s, which takes %s", clip(e.Target), e.Kind())
		return
	}
	if f, known := c[e.Target]; known {
		for i, option := range e.Options {
			if !slices.Contains(f.Options, option) {
				o.found.add(o.at("options")+"["+strconv.Itoa(i)+"]", "is not an option of the field %q", clip(f.Key))
			}
		}
	}
}

func readAfterSubmit(o object) AfterSubmit {
	a := readObject(o.found, o.at("after_submit"), o.values["after_submit"], "type", "message", "url")
	out := AfterSubmit{
		Type:    a.oneOf("type", "message", "message", "redirect"),
		Message: a.text("message", MaxMessage, true),
		URL:     a.text("url", MaxURL, false),
	}
	switch {
	case out.URL == "" && out.Type == "redirect":
		a.found.add(a.at("url"), "must be given for a redirect")
	case out.URL != "":
		if _, err := website(out.URL, "https"); err != nil || !strings.HasPrefix(out.URL, "https://") {
			a.found.add(a.at("url"), "must be an address that starts with https://")
		}
	}
	return out
}

func readNotify(o object, env Env) Notify {
	n := readObject(o.found, o.at("notify"), o.values["notify"], "emails", "owner")
	out := Notify{Emails: []string{}, Owner: n.flag("owner", false)}
	for i, email := range n.texts("emails", MaxEmails, MaxEmail) {
		at := n.at("emails") + "[" + strconv.Itoa(i) + "]"
		same := func(other string) bool { return strings.EqualFold(email, other) }
		switch {
		case slices.ContainsFunc(out.Emails, same):
			n.found.add(at, "is there twice")
		case slices.ContainsFunc(env.NotifyEmails, same):
			out.Emails = append(out.Emails, email)
		case !env.MayAddEmails:
			n.found.add(at, "is new: addresses can be kept or removed here, and added in the app only")
		case !isEmail(email):
			n.found.add(at, "must be an email address such as name@example.com")
		default:
			out.Emails = append(out.Emails, email)
		}
	}
	return out
}

func readNewContacts(o object, env Env) NewContacts {
	n := readObject(o.found, o.at("new_contacts"), o.values["new_contacts"], "create", "status", "source", "owner_user_id", "tags")
	out := NewContacts{
		Create: n.flag("create", true),
		Status: n.oneOf("status", "lead", "lead", "customer", "inactive"),
		Source: n.text("source", MaxSource, false),
		Tags:   n.texts("tags", MaxTags, MaxTag),
	}
	if owner, given := n.integer("owner_user_id", 1, 1<<53); given {
		if env.KnownUser != nil && !env.KnownUser(owner) {
			n.found.add(n.at("owner_user_id"), "is not a user who can own contacts")
		}
		out.OwnerUserID = &owner
	}
	return out
}
