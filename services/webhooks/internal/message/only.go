package message

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"frontdesk/libs/fault"
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
		keys["tag"] = append(keys["tag"], tagKey(name))
	}
	return keys
}

// keysOf are the values of a record, as Only.Keys spells them. A key is there if the record has such a value, also if that is empty.
func keysOf(record json.RawMessage) (map[string][]string, error) {
	var values struct {
		Service, Form json.RawMessage
		Tags          *[]string
	}
	if err := json.Unmarshal(record, &values); err != nil {
		return nil, fmt.Errorf("webhooks: what narrows a record down: %w", err)
	}
	keys := map[string][]string{}
	for key, raw := range map[string]json.RawMessage{"service": values.Service, "form": values.Form} {
		if raw == nil {
			continue
		}
		var of struct{ ID json.RawMessage }
		if err := json.Unmarshal(raw, &of); err != nil {
			return nil, fmt.Errorf("webhooks: %s of a record: %w", key, err)
		}
		keys[key] = []string{strings.Trim(string(of.ID), `"`)}
	}
	if values.Tags != nil {
		keys["tag"] = []string{}
		for _, name := range *values.Tags {
			keys["tag"] = append(keys["tag"], tagKey(name))
		}
	}
	return keys, nil
}

// unaccented are letters that no decomposition takes apart.
var unaccented = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "d", "þ", "th", "ł", "l", "đ", "d", "ı", "i")

// tagKey is what all spellings of a tag's name share: no case, no accents, and one blank for what separates two words. Contacts
// compare names by the same rule.
func tagKey(name string) string {
	letters := []rune(unaccented.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(strings.TrimSpace(name)))))
	var key strings.Builder
	for i := 0; i < len(letters); {
		end := i
		for end < len(letters) && (unicode.IsSpace(letters[end]) || letters[end] == '-' || letters[end] == '_') {
			end++
		}
		switch {
		case end == i:
			end++
			fallthrough
		case i == 0 || end == len(letters) || !isWord(letters[i-1]) || !isWord(letters[end]):
			key.WriteString(string(letters[i:end]))
		default:
			key.WriteByte(' ')
		}
		i = end
	}
	return key.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
