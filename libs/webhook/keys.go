package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
