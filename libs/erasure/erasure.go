// Package erasure recognises a person who was erased: by the ids of their records, by their addresses in any spelling, and
// by their full name. Addresses and names cross processes only as keyed hashes, so that a message about an erasure contains
// no personal data.
//
// A match is a whole one. An address counts where it stands delimited, so that erasing x@a.example leaves
// janx@a.example alone; a name counts as the whole of a cell or value, never as a part of a text.
package erasure

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/address"
)

// Reading is how addresses are found in texts. It counts up whenever libs/address finds others in a text than before, and rows with hashes
// of an earlier reading are then read again.
const Reading = 2

// Hasher gives the keyed hash of an address or a name. Letter case makes no difference.
type Hasher func(called string) []byte

// Person is an erased person, or several. The zero value matches no text.
type Person struct {
	// At is the end of the erasure: a record or message from At or later belongs to a person who came back.
	At time.Time

	hash   Hasher
	ids    map[uuid.UUID]bool
	called map[string]bool
}

// New makes a Person from the contents of a ForgetPerson command. It leaves out ids that are not UUIDs, because no record
// has such an id.
func New(hash Hasher, at time.Time, ids []string, called [][]byte) *Person {
	p := &Person{At: at, hash: hash, ids: map[uuid.UUID]bool{}, called: map[string]bool{}}
	for _, text := range ids {
		if id, err := uuid.Parse(text); err == nil {
			p.ids[id] = true
		}
	}
	p.AddCalled(called...)
	return p
}

// AddCalled adds hashes of addresses and names.
func (p *Person) AddCalled(hashes ...[]byte) {
	for _, h := range hashes {
		p.called[string(h)] = true
	}
}

// AddID adds ids of the person's records, so that texts and messages with these ids match.
func (p *Person) AddID(ids ...uuid.UUID) {
	for _, id := range ids {
		p.ids[id] = true
	}
}

// IDs are the ids of the person and of the records added, in no order.
func (p *Person) IDs() []uuid.UUID {
	return slices.AppendSeq(make([]uuid.UUID, 0, len(p.ids)), maps.Keys(p.ids))
}

// Hash returns the keyed hash of an address or a name, as Called holds them.
func (p *Person) Hash(called string) []byte { return p.hash(called) }

// Called are the hashes, in no order.
func (p *Person) Called() [][]byte {
	all := make([][]byte, 0, len(p.called))
	for h := range p.called {
		all = append(all, []byte(h))
	}
	return all
}

// HasAddress reports whether text is one of the person's addresses, whatever its spelling.
func (p *Person) HasAddress(text string) bool {
	return len(p.called) > 0 && strings.Contains(text, "@") && p.called[string(p.hash(address.Key(strings.TrimSpace(text))))]
}

// HasName reports whether text is the person's full name.
func (p *Person) HasName(text string) bool {
	text = strings.TrimSpace(text)
	return len(p.called) > 0 && text != "" && p.called[string(p.hash(text))]
}

// MentionedIn reports whether text holds one of the person's ids or addresses, delimited.
func (p *Person) MentionedIn(text string) bool {
	return slices.ContainsFunc(uuidsIn(text), func(id uuid.UUID) bool { return p.ids[id] }) || p.AddressIn(text)
}

// AddressIn reports whether text holds one of the person's addresses, delimited.
func (p *Person) AddressIn(text string) bool { return slices.ContainsFunc(address.Find(text), p.has) }

func (p *Person) has(f address.Found) bool { return p.HasAddress(f.Address) }

// StrikeFrom takes the person's addresses out of text and reports whether there were any.
func (p *Person) StrikeFrom(text string) (left string, struck bool) {
	var b strings.Builder
	end := 0
	for _, f := range address.Find(text) {
		if f.From >= end && p.has(f) {
			b.WriteString(text[end:f.From])
			end, struck = f.To, true
		}
	}
	if !struck {
		return text, false
	}
	b.WriteString(text[end:])
	return b.String(), true
}

// InJSON reports whether a value anywhere in raw mentions the person or, where raw holds no address at all, is their full
// name: with an address of somebody else it is a namesake's.
func (p *Person) InJSON(raw []byte) bool {
	if p.MentionedInJSON(raw) {
		return true
	}
	texts, _ := textsIn(raw)
	return slices.ContainsFunc(texts, p.HasName) && !slices.ContainsFunc(texts, func(t string) bool { return len(address.Find(t)) > 0 })
}

// MentionedInJSON is MentionedIn for every text in raw. If raw is not JSON, it is one text.
func (p *Person) MentionedInJSON(raw []byte) bool {
	texts, ok := textsIn(raw)
	return !ok && p.MentionedIn(string(raw)) || slices.ContainsFunc(texts, p.MentionedIn)
}

// textsIn returns the texts in a JSON value, and false if raw is not JSON.
func textsIn(raw []byte) ([]string, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil, false
	}
	return appendTexts(nil, v), true
}

// appendTexts adds the texts in a decoded JSON value, those of objects in no order.
func appendTexts(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(texts, v)
	case []any:
		for _, x := range v {
			texts = appendTexts(texts, x)
		}
	case map[string]any:
		for _, x := range v {
			texts = appendTexts(texts, x)
		}
	}
	return texts
}

// StrikeFromJSON is StrikeFrom for every text in raw. If raw is not JSON, it is returned unchanged.
func (p *Person) StrikeFromJSON(raw []byte) (left []byte, struck bool) {
	var v any
	// Numbers stay as they are written.
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw, false
	}
	v, struck = p.strike(v)
	if !struck {
		return raw, false
	}
	left, err := json.Marshal(v)
	if err != nil {
		return raw, false
	}
	return left, true
}

func (p *Person) strike(v any) (left any, struck bool) {
	switch v := v.(type) {
	case string:
		return p.StrikeFrom(v)
	case []any:
		for i, x := range v {
			var one bool
			v[i], one = p.strike(x)
			struck = struck || one
		}
	case map[string]any:
		for k, x := range v {
			var one bool
			v[k], one = p.strike(x)
			struck = struck || one
		}
	}
	return v, struck
}

// Mentions are the ids and the hashes of addresses that texts hold, so that they can be found again when one of these people is
// erased. Each is JSON or a plain text.
func Mentions(hash Hasher, texts ...[]byte) (ids []uuid.UUID, called [][]byte) {
	for _, text := range texts {
		ids = append(ids, uuidsIn(string(text))...)
		called = append(called, Called(hash, text)...)
	}
	return ids, called
}

// Called are the hashes of addresses in Mentions.
func Called(hash Hasher, text []byte) (called [][]byte) {
	if !address.MayHave(string(text)) {
		return nil
	}
	texts, ok := textsIn(text)
	if !ok {
		texts = []string{string(text)}
	}
	for _, t := range texts {
		for _, f := range address.Find(t) {
			called = append(called, hash(address.Key(f.Address)))
		}
	}
	return called
}

var uuids = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func uuidsIn(text string) (ids []uuid.UUID) {
	for _, found := range uuids.FindAllString(text, -1) {
		if id, err := uuid.Parse(found); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
