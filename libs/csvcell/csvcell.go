// Package csvcell keeps spreadsheets from running what people have typed.
package csvcell

import (
	"regexp"
	"strings"
	"unicode"
)

// What starts like a formula and is none: a number, a telephone number in one piece, and one with a blank between
// two groups, which no formula has. Without a blank +32-470 would be shown as -438.
var harmless = regexp.MustCompile(`^(-[0-9]+([.,][0-9]+)?|\+[0-9]+|\+[0-9 ().\-/]*[0-9)] +[0-9(][0-9 ().\-/]*)$`)

// Neutral is a cell as it is written: one that a spreadsheet would run as a formula has an apostrophe
// before it. Phone numbers such as +32 470 12 34 56 and plain numbers such as -4.5 stay as they are.
func Neutral(cell string) string {
	if runs(strings.TrimLeft(cell, "'")) && !harmless.MatchString(cell) {
		return "'" + cell
	}
	return cell
}

// Original takes the apostrophe off again: Original(Neutral(s)) is s.
func Original(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && runs(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return cell
}

// runs tells whether a spreadsheet may take a cell for a formula: by its first character behind any blanks, also
// in the wide spelling of East Asian keyboards, or because it starts with a tab or a line end,
// which some of them drop before they look.
func runs(cell string) bool {
	if cell == "" {
		return false
	}
	if strings.ContainsRune("\t\r\n", rune(cell[0])) {
		return true
	}
	cell = strings.TrimLeftFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' })
	for _, r := range cell {
		return strings.ContainsRune("=+-@＝＋－＠", r)
	}
	return false
}
