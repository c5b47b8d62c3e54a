package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"frontdesk/libs/fault"
	"frontdesk/libs/webhook"
)

// Only narrows down what a webhook gets of the events that it subscribed. A key that is left out, or empty, narrows nothing down, and
// none does so with an event whose record has no such value, see Event.Only.
type Only struct {
	Service []uuid.UUID `json:"service,omitempty" maxItems:"50" doc:"Ids of services: appointments for one of these."`
	Form    []int64     `json:"form,omitempty" maxItems:"50" doc:"Ids of forms: what was sent with one of these."`
	Tag     []string    `json:"tag,omitempty" maxItems:"50" doc:"Names of tags: contacts that have one of these at that moment, as the event shows them."`
}

// tagMax is how many characters the name of a tag has at most.
const tagMax = 100

// Checked is o without repeated values. It refuses a name that no tag can have, and a key that narrows down none of the events: the
// webhook would get all of them.
func (o Only) Checked(events []string) (Only, error) {
	for i, name := range o.Tag {
		name = strings.TrimSpace(name)
		param := fmt.Sprintf("only.tag[%d]", i)
		switch {
		case name == "":
			return o, fault.Invalid(param, fault.Empty())
		case strings.ContainsFunc(name, unicode.IsControl):
			return o, fault.Invalid(param, fault.ControlCharacters(false))
		case len([]rune(name)) > tagMax:
			return o, fault.Invalid(param, fault.TooLong(tagMax))
		}
		o.Tag[i] = name
	}
	o.Service, o.Form, o.Tag = distinct(o.Service), distinct(o.Form), distinct(o.Tag)
	for key := range o.Keys() {
		if !slices.ContainsFunc(events, func(name string) bool {
			e, _ := EventNamed(name)
			return slices.Contains(e.Only, key)
		}) {
			return o, fault.Invalid("only."+key, fault.NewProblem("no_event", "narrows down none of the events; choose one that has it, or leave it out"))
		}
	}
	return o, nil
}

func distinct[T comparable](all []T) (kept []T) {
	for _, v := range all {
		if !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// Keys are the values in the spelling in which they are compared with those of an event, by key. Keys that are empty are left out.
func (o Only) Keys() map[string][]string {
	keys := map[string][]string{}
	for _, id := range o.Service {
		keys["service"] = append(keys["service"], id.String())
	}
	for _, id := range o.Form {
		keys["form"] = append(keys["form"], strconv.FormatInt(id, 10))
	}
	for _, name := range o.Tag {
		keys["tag"] = append(keys["tag"], webhook.TagKey(name))
	}
	return keys
}
