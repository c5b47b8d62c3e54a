// Package webhook decides which receivers get an event: by the events that they subscribed, and by the values that narrow these down. The
// service webhooks decides so when it sends, and every service when it rehearses a call.
package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/google/uuid"
)

// Endpoint is a receiver of events as webhooks publishes it: without its address, which may hold a key, and without its secret.
type Endpoint struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Host   string    `json:"host"`
	Events []string  `json:"events"`
	// Only are the values that narrow its events down, by key, as KeysOf spells them.
	Only   map[string][]string `json:"only"`
	Active bool                `json:"active"`
}

// Gets reports whether the endpoint gets an event whose record has these keys. A key that the record lacks narrows nothing down.
func (e Endpoint) Gets(event string, keys map[string][]string) bool {
	if !e.Active || !slices.Contains(e.Events, event) {
		return false
	}
	for key, wanted := range e.Only {
		have, ok := keys[key]
		if ok && !slices.ContainsFunc(have, func(value string) bool { return slices.Contains(wanted, value) }) {
			return false
		}
	}
	return true
}

// KeysOf are the values of a record by which endpoints narrow down what they get. A key is there if the record has such a value, also if that is empty.
func KeysOf(record json.RawMessage) (map[string][]string, error) {
	var values struct {
		Service, Form json.RawMessage
		Tags          *[]string
	}
	if err := json.Unmarshal(record, &values); err != nil {
		return nil, fmt.Errorf("webhook: what narrows a record down: %w", err)
	}
	keys := map[string][]string{}
	for key, raw := range map[string]json.RawMessage{"service": values.Service, "form": values.Form} {
		if raw == nil {
			continue
		}
		var of struct{ ID json.RawMessage }
		if err := json.Unmarshal(raw, &of); err != nil {
			return nil, fmt.Errorf("webhook: %s of a record: %w", key, err)
		}
		keys[key] = []string{strings.Trim(string(of.ID), `"`)}
	}
	if values.Tags != nil {
		keys["tag"] = []string{}
		for _, name := range *values.Tags {
			keys["tag"] = append(keys["tag"], TagKey(name))
		}
	}
	return keys, nil
}

// unaccented are letters that no decomposition takes apart.
var unaccented = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "d", "þ", "th", "ł", "l", "đ", "d", "ı", "i")

// TagKey is what all spellings of a tag's name share: no case, no accents, and one blank for what separates two words. Contacts
// compare names by the same rule.
func TagKey(name string) string {
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
