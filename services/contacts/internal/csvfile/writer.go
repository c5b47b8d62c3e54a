package csvfile

import (
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// Writer writes CSV in UTF-8 with lines ended by \n. A cell that a spreadsheet would run as a formula has
// an apostrophe before it; phone numbers such as +32 470 12 34 56 and plain numbers such as -4.5
// stay as they are. Row.Cell takes the apostrophe off again.
type Writer struct {
	csv   *csv.Writer
	cells []string
}

// NewWriter writes to w with a comma (or the empty string) or a semicolon between cells, else an error.
func NewWriter(w io.Writer, separator string) (*Writer, error) {
	out := csv.NewWriter(w)
	switch separator {
	case "", ",":
	case ";":
		out.Comma = ';'
	default:
		return nil, errors.New("must be a comma or a semicolon")
	}
	return &Writer{csv: out}, nil
}

// Write writes one row. It is buffered until Flush.
func (w *Writer) Write(cells ...string) error {
	w.cells = w.cells[:0]
	for _, cell := range cells {
		w.cells = append(w.cells, Neutral(cell))
	}
	return w.csv.Write(w.cells)
}

// Flush hands what is buffered to the underlying writer and gives the first error met so far.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// What starts like a formula and is none: a number, a telephone number in one piece, and one with a blank between
// two groups, which no formula has. Without a blank +32-470 would be shown as -438.
var harmless = regexp.MustCompile(`^(-[0-9]+([.,][0-9]+)?|\+[0-9]+|\+[0-9 ().\-/]*[0-9)] +[0-9(][0-9 ().\-/]*)$`)

// Neutral is a cell as Write writes it; Row.Cell gives back what it was.
func Neutral(cell string) string {
	if runs(strings.TrimLeft(cell, "'")) && !harmless.MatchString(cell) {
		return "'" + cell
	}
	return cell
}

func original(cell string) string {
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
