package definition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"frontdesk/libs/form"
)

// Published is a form that visitors can send in, or could when they did.
type Published struct {
	ID, Version int64
	Name        string
	Definition  Definition
	Questions   []form.Question
	// Consents is the version of the consents' words.
	Consents string
}

// NewPublished works out a stored definition with the custom fields of now.
func NewPublished(id, version int64, name string, raw []byte, fields form.Fields) (Published, error) {
	d, err := Load(raw)
	if err != nil {
		return Published{}, fmt.Errorf("form %d: %w", id, err)
	}
	return Published{id, version, name, d, form.Ask(d.Elements, fields), form.ConsentVersion(d.Elements)}, nil
}

// Cut shortens a text to most characters.
func Cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// ColumnKey is the same for answers of two versions of a form, or of two forms, that stand in one column.
func ColumnKey(element, target string) string {
	if target == "" {
		return "consent:" + element
	}
	return target
}

// NameOf is how a person is called: by name, else by address or number.
func NameOf(first, last, email, phone string) string {
	for _, name := range []string{strings.TrimSpace(first + " " + last), email, phone} {
		if name != "" {
			return name
		}
	}
	return ""
}
