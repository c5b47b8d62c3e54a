// Package csvcell keeps spreadsheets from running what people have typed.
package csvcell

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What starts like a formula and is none: a number, a telephone number in one piece, and one with a blank between
// two groups, which no formula has. Without a blank +32-470 would be shown as -438.
var harmless = regexp.MustCompile(`^(-[0-9]+([.,][0-9]+)?|\+[0-9]+|\+[0-9 ().\-/]*[0-9)] +[0-9(][0-9 ().\-/]*)$`)

// separators are those that a spreadsheet may split lines at, whatever the file was written with: then the part behind one
// is a cell of its own.
const separators = ",;\t|\r\n"

// Neutral is a cell as it is written: an apostrophe stands before it, and before each part behind a separator, that a
// spreadsheet would run as a formula. Phone numbers such as +32 470 12 34 56 and plain numbers such as -4.5 stay as they are.
func Neutral(cell string) string {
	safe := eachPart(cell, neutralPart)
	if runs(strings.TrimLeft(cell, "'")) && !harmless.MatchString(cell) {
		safe = "'" + safe
	}
	return safe
}

// Original takes the apostrophes off again: Original(Neutral(s)) is s.
func Original(cell string) string {
	cell = eachPart(cell, originalPart)
	if rest, ok := strings.CutPrefix(cell, "'"); ok && runs(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return cell
}

// eachPart changes the parts of a cell that stand behind a separator.
func eachPart(cell string, change func(string) string) string {
	var b strings.Builder
	for as := func(first string) string { return first }; ; as = change {
		end := strings.IndexAny(cell, separators)
		if end < 0 {
			return b.String() + as(cell)
		}
		b.WriteString(as(cell[:end]) + cell[end:end+1])
		cell = cell[end+1:]
	}
}

func neutralPart(part string) string {
	if partRuns(strings.TrimLeft(part, "'")) && !harmless.MatchString(strings.TrimSpace(part)) {
		return "'" + part
	}
	return part
}

func originalPart(part string) string {
	if rest, ok := strings.CutPrefix(part, "'"); ok && partRuns(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return part
}

// partRuns is runs for a part of a cell: a quotation mark before it belongs to the file's syntax and is dropped.
func partRuns(part string) bool { return runs(strings.TrimLeft(part, "\"' ")) }

// runs reports whether a spreadsheet may take a cell for a formula: by its first character behind any blanks, also in
// the wide spelling of East Asian keyboards, or because it starts with a tab or a line end, which some of them drop
// before they look.
func runs(cell string) bool {
	if cell != "" && strings.ContainsRune("\t\r\n", rune(cell[0])) {
		return true
	}
	cell = strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' })
	first, _ := utf8.DecodeRuneInString(cell)
	return strings.ContainsRune("=+-@＝＋－＠", first)
}
