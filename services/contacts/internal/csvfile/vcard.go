package csvfile

import (
	"encoding/csv"
	"io"
	"mime/quotedprintable"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// cardColumns are the columns of a file that was made of cards.
var cardColumns = []string{"First name", "Last name", "Email", "Email 2", "Email 3", "Phone", "Phone 2", "Phone 3", "Organization", "Job title", "Birthday", "Website", "Labels", "Note"}

// FromCards is a file of vCards (2.1, 3.0 or 4.0) as a CSV file with a row for each card; other text stays as it is. A card that does not end ends
// where the next begins.
func FromCards(text string) string {
	if !strings.HasPrefix(strings.ToUpper(strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \r\n")), "BEGIN:VCARD") {
		return text
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	rows := [][]string{cardColumns}
	var c card
	for _, line := range cardLines(text) {
		p := cardProperty(line)
		switch p.name {
		case "BEGIN":
			c = card{}
		case "END":
			rows = append(rows, c.row())
		default:
			c = append(c, p)
		}
	}
	_ = w.WriteAll(rows) // a builder refuses nothing
	return b.String()
}

// card is the properties of one card.
type card []property

// property is a line of a card, such as TEL;TYPE=cell:+32 470 12 34 56.
type property struct {
	name  string
	types []string // in lower case
	value string   // with its escapes
}

// cardLines are the lines of cards, each with those that it was folded into.
func cardLines(text string) (lines []string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(text)
	for line := range strings.SplitSeq(text, "\n") {
		last := len(lines) - 1
		switch {
		case last >= 0 && isQuotedPrintable(lines[last]) && strings.HasSuffix(lines[last], "="):
			lines[last] = strings.TrimSuffix(lines[last], "=") + strings.TrimLeft(line, " \t")
		case last >= 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")):
			lines[last] += line[1:]
		case strings.TrimSpace(line) != "":
			lines = append(lines, line)
		}
	}
	return lines
}

func isQuotedPrintable(line string) bool {
	head, _, _ := strings.Cut(line, ":")
	return strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
}

func cardProperty(line string) (p property) {
	head, value := line, ""
	for i, quoted := 0, false; i < len(line); i++ {
		if line[i] == '"' {
			quoted = !quoted
		}
		if line[i] == ':' && !quoted {
			head, value = line[:i], line[i+1:]
			break
		}
	}
	parts := strings.Split(head, ";")
	p.name = strings.ToUpper(parts[0])
	if _, name, grouped := strings.Cut(p.name, "."); grouped {
		p.name = name
	}
	charset := ""
	for _, param := range parts[1:] {
		name, values, named := strings.Cut(strings.ToLower(param), "=")
		switch {
		case !named:
			p.types = append(p.types, name)
		case name == "charset":
			charset = values
		case name == "pref":
			p.types = append(p.types, "pref")
		default:
			p.types = append(p.types, strings.Split(strings.Trim(values, `"`), ",")...)
		}
	}
	if slices.Contains(p.types, "quoted-printable") {
		if decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
			value = string(decoded)
			if encoding, err := htmlindex.Get(charset); err == nil {
				if text, err := encoding.NewDecoder().String(value); err == nil {
					value = text
				}
			}
		}
	}
	p.value = value
	return p
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\,`, ",", `\;`, ";", `\:`, ":", `\n`, "\n", `\N`, "\n")

// parts are the components of a value that a separator parts where no backslash stands before it.
func (p property) parts(separator byte) (out []string) {
	start := 0
	for i := 0; i <= len(p.value); i++ {
		switch {
		case i < len(p.value) && p.value[i] == '\\':
			i++
		case i == len(p.value) || p.value[i] == separator:
			out = append(out, strings.TrimSpace(unescaped.Replace(p.value[start:i])))
			start = i + 1
		}
	}
	if start < len(p.value) {
		out = append(out, strings.TrimSpace(unescaped.Replace(p.value[start:])))
	}
	return out
}

// all are the values of a property that are filled, preferred ones first, each once.
func (c card) all(name string) (out []string) {
	for _, preferred := range []bool{true, false} {
		for _, p := range c {
			value := strings.TrimSpace(unescaped.Replace(p.value))
			fax := slices.Contains(p.types, "fax") || slices.Contains(p.types, "pager")
			if p.name == name && value != "" && slices.Contains(p.types, "pref") == preferred && !fax && !slices.Contains(out, value) {
				out = append(out, value)
			}
		}
	}
	return out
}

// first is the first value of a property, and "" for none.
func (c card) first(name string) string {
	for _, value := range c.all(name) {
		return value
	}
	return ""
}

// components are those of the first property of a name, n of them.
func (c card) components(name string, n int) []string {
	out := make([]string, n)
	for _, p := range c {
		if p.name == name {
			copy(out, p.parts(';'))
			break
		}
	}
	return out
}

func (c card) row() []string {
	name, organization := c.components("N", 2), c.components("ORG", 1)[0]
	last, first := name[0], name[1]
	if whole := c.first("FN"); last == "" && first == "" && whole != organization {
		first = whole
	}
	var labels []string
	for _, p := range c {
		if p.name == "CATEGORIES" {
			labels = append(labels, p.parts(',')...)
		}
	}
	// myContacts and the like are groups of Google's own.
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "" || l == "myContacts" || l == "starred" })
	emails, phones := c.all("EMAIL"), c.all("TEL")
	three := func(values []string) []string { return append(values, "", "", "")[:3] }
	row := append([]string{first, last}, three(emails)...)
	row = append(row, three(phones)...)
	row = append(row, organization, c.first("TITLE"), birthday(c.first("BDAY")), c.first("URL"), Join(labels), c.first("NOTE"))
	for i := 5; i < 8; i++ {
		row[i] = strings.TrimPrefix(row[i], "tel:")
	}
	return row
}

// birthday is a day of a card as 2026-12-31; one without a year stays as it is.
func birthday(s string) string {
	day, _, _ := strings.Cut(s, "T")
	if _, err := strconv.Atoi(day); err == nil && len(day) == 8 {
		return day[:4] + "-" + day[4:6] + "-" + day[6:]
	}
	return day
}
