// Package reversal decides what an undo makes of a contact that an import made or changed. It keeps no state and knows no database.
package reversal

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/change"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/record"
)

// Written is what an import did with a contact.
type Written struct {
	Contact              uuid.UUID
	Created              bool
	Entries              int
	Changes              change.Set
	Organization, Former *uuid.UUID
}

// State is what a slice knows of its contacts before it decides.
type State struct {
	Contacts map[uuid.UUID]contact.Contact // locked
	Entries  map[uuid.UUID]int             // of their timelines
	Used     map[uuid.UUID]bool            // something is in their timelines that is no change
	Primary  map[uuid.UUID]uuid.UUID       // their primary organizations
	Tags     map[string]string             // the names of today for those of then
	Tag      string                        // of the whole import
}

// Verdict is what becomes of a contact.
type Verdict struct {
	Trash, Unlink bool
	Next          contact.Contact
	Kept          string // why something of the import stays
}

// Why something stays.
const (
	keptGone    = "gone"
	keptUsed    = "used"
	keptChanged = "changed"
)

// Texts are the reasons in words.
var Texts = map[string]string{
	keptGone:    "The contact was merged, erased, trashed or given to somebody else since.",
	keptUsed:    "The contact has a note, an appointment, a submission or a link since.",
	keptChanged: "Somebody has changed what the import wrote.",
}

// Of decides: a contact that the import made, and to which nothing has happened since, goes to the trash. Of others the values that are
// still the import's return, and its tags go.
func (s State) Of(w Written, c contact.Contact, there bool) Verdict {
	v := Verdict{Next: c}
	switch untouched := s.Entries[w.Contact] == w.Entries; {
	case !there:
		v.Kept = keptGone
		return v
	case w.Created && untouched:
		v.Trash = true
		return v
	case w.Created:
		v.Kept = keptChanged
		if s.Used[w.Contact] {
			v.Kept = keptUsed
		}
		v.Next.Tags = slices.DeleteFunc(slices.Clone(c.Tags), func(t string) bool { return t == s.Tag })
		return v
	}
	before, names := map[string]any{}, record.Names{}
	fields := map[string]any{}
	current := values(c)
	for name, ch := range w.Changes {
		key, custom := strings.CutPrefix(name, "fields.")
		switch {
		case name == "tags":
			v.Next.Tags = s.tagsBefore(c.Tags, Words(ch.Old), Words(ch.New))
		case !reflect.DeepEqual(current[name], ch.New):
			v.Kept = keptChanged
		case custom:
			fields[key], names["fields"] = ch.Old, true
		default:
			before[name], names[name] = ch.Old, true
		}
	}
	before["fields"] = fields
	raw, _ := json.Marshal(before) // it came from JSON
	var from contact.Contact
	if err := json.Unmarshal(raw, &from); err != nil {
		v.Kept = keptChanged
		return v
	}
	v.Next = contact.Fields.Overwrite(v.Next, from, names)
	if w.Organization != nil {
		v.Unlink = s.Primary[c.ID] == *w.Organization
		if !v.Unlink {
			v.Kept = keptChanged
		}
	}
	return v
}

// tagsBefore is tags without those that the import added, and with those that it took if they are as it left them.
func (s State) tagsBefore(tags, old, new []string) []string {
	old, new = s.today(old), s.today(new)
	if slices.Equal(tags, new) {
		return old
	}
	return slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return slices.Contains(new, t) && !slices.Contains(old, t) })
}

// today is tags by their names of today, without those that are gone.
func (s State) today(tags []string) []string {
	out := []string{}
	for _, t := range tags {
		if name := s.Tags[t]; name != "" {
			out = append(out, name)
		}
	}
	return out
}

// values are the fields of a contact as JSON has them, by the names of changes.
func values(c contact.Contact) map[string]any {
	raw, _ := json.Marshal(c)
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out)
	if fields, ok := out["fields"].(map[string]any); ok {
		for key, v := range fields {
			out["fields."+key] = v
		}
	}
	return out
}

// Words are the texts of a list that came from JSON.
func Words(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
