// Package csvfile reads the CSV files that people upload, and guesses what their columns mean. It keeps
// no state.
//
// A file is text of at most MaxCharacters; reading takes time in proportion to its length and memory
// for one row at a time beside the text itself.
package csvfile

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/libs/csvcell"
)

const (
	// maxCharacters is the length of the longest file.
	maxCharacters = 5 << 20
	// maxColumns is how many columns a file may have, and how many cells one line of it.
	maxColumns = 500
	// previewRows is how many rows Preview shows.
	previewRows = 5
)

// Unreadable is why a text is no file. Its message is a phrase that completes a sentence beginning with the parameter's name.
type Unreadable struct {
	Code string // csv_empty, too_long, csv_too_wide or csv_separator
	Max  int    // the limit of too_long and csv_too_wide, else 0
	text string
}

func (u Unreadable) Error() string { return u.text }

// The causes. Open and Reopen return no other error.
var (
	errEmpty     = Unreadable{Code: "csv_empty", text: "must have a row with the names of the columns"}
	errTooLong   = Unreadable{"too_long", maxCharacters, "must have at most 5242880 characters"}
	errTooWide   = Unreadable{"csv_too_wide", maxColumns, "must have at most 500 columns"}
	errSeparator = Unreadable{Code: "csv_separator", text: "must be auto, a comma, a semicolon or a tab"}
)

// File is an opened CSV file.
type File struct {
	// Headers are the names in the first row, trimmed and at most 190 characters of each; a column without
	// a name has the empty string.
	Headers []string
	// Separator is the one given or found.
	Separator rune

	text string
}

// Open reads the first row of text. separator is "auto" (or empty), ",", ";" or a tab. A byte order mark, a
// first line sep=; as spreadsheets write it, and line ends of any system are understood.
func Open(text, separator string) (*File, error) {
	if utf8.RuneCountInString(text) > maxCharacters {
		return nil, errTooLong
	}
	return Reopen(text, separator)
}

// Reopen is Open for a text that Open has taken before, which Strike may have made a little longer.
func Reopen(text, separator string) (*File, error) {
	f := &File{text: clean(text)}
	switch separator {
	case "", "auto":
		f.Separator = 0
	case ",", ";", "\t":
		f.Separator = rune(separator[0])
	default:
		return nil, errSeparator
	}
	if said := f.cutSeparatorLine(); f.Separator == 0 {
		f.Separator = said
	}
	if tooWide(f.text) {
		return nil, errTooWide
	}
	if f.Separator == 0 {
		f.Separator = detect(f.text)
	}
	first, err := f.Rows().next()
	if err != nil {
		return nil, errEmpty
	}
	f.Headers = make([]string, 0, len(first.cells))
	for _, cell := range first.cells {
		f.Headers = append(f.Headers, shorten(strings.TrimSpace(cell), 190))
	}
	// Spreadsheets leave empty columns behind the last one with a name.
	for n := len(f.Headers); n > 1 && f.Headers[n-1] == ""; n-- {
		f.Headers = f.Headers[:n-1]
	}
	if len(f.Headers) > maxColumns {
		return nil, errTooWide
	}
	return f, nil
}

// Rows starts reading at the row of headers; Next skips to the rows below it.
func (f *File) Rows() *Rows {
	r := csv.NewReader(strings.NewReader(f.text))
	r.Comma = f.Separator
	r.LazyQuotes = true
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	return &Rows{text: f.text, csv: r}
}

// RowsBehind starts reading behind row number n, whether that row is still there or was struck out.
func (f *File) RowsBehind(n int) *Rows {
	rows := f.Rows()
	rows.behind = n
	return rows
}

// Preview is the first rows below the headers, at most PreviewRows, each with a cell per column of which
// 1000 characters are shown.
func (f *File) Preview() [][]string {
	out := [][]string{}
	for rows := f.Rows(); len(out) < previewRows; {
		row, err := rows.Next()
		if err != nil {
			break
		}
		cells := make([]string, len(f.Headers))
		for i := range cells {
			cells[i] = shorten(row.Cell(i), 1000)
		}
		out = append(out, cells)
	}
	return out
}

// Rows reads a file row by row.
type Rows struct {
	text   string
	csv    *csv.Reader
	start  int64 // of the row read last
	offset int64 // behind it
	number int
	behind int // rows up to this number are left out
}

// Row is one row of a file.
type Row struct {
	// Number counts as a spreadsheet shows it: the headers are row 1, empty rows count, a cell of
	// several lines is in one row.
	Number int
	// Cells as they stand in the file, valid until the next call of Next; fewer or more than there
	// are headers in a ragged row.
	cells []string
}

// Cell is the trimmed content of a column, counted from 0; empty when the row ends before it. The apostrophe
// that exports put before what looks like a formula is taken off again.
func (r Row) Cell(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(csvcell.Original(r.cells[column]))
}

// Next is the next row below the headers that has anything in it, or io.EOF.
func (r *Rows) Next() (Row, error) {
	if r.number == 0 {
		if _, err := r.next(); err != nil {
			return Row{}, err
		}
	}
	for {
		if row, err := r.next(); err != nil || row.Number > r.behind {
			return row, err
		}
	}
}

func (r *Rows) next() (Row, error) {
	for {
		// The csv reader skips empty lines without a word; they are rows all the same.
		for int(r.offset) < len(r.text) && r.text[r.offset] == '\n' {
			r.offset++
			r.countUnlessLeading()
		}
		r.start = r.offset
		cells, err := r.csv.Read()
		if err != nil {
			return Row{}, io.EOF // with lazy quotes and any number of fields there is no other error
		}
		r.offset = r.csv.InputOffset()
		if slices.ContainsFunc(cells, func(s string) bool { return strings.TrimSpace(s) != "" }) {
			r.number++
			return Row{Number: r.number, cells: cells}, nil
		}
		r.countUnlessLeading()
	}
}

// Empty rows above the headers do not count: the headers are row 1 wherever they stand.
func (r *Rows) countUnlessLeading() {
	if r.number > 0 {
		r.number++
	}
}

// Strike is the file as text without the rows that match, and their numbers. An empty row stands for each, so that
// the others keep their numbers; headers that match become NamelessHeaders.
func (f *File) Strike(match func(cells []string) bool) (text string, struck []int) {
	var b strings.Builder
	b.WriteString("sep=" + string(f.Separator) + "\n")
	rows := f.Rows()
	from := int64(0)
	for row, err := rows.next(); err == nil; row, err = rows.next() {
		if !match(row.cells) {
			continue
		}
		b.WriteString(f.text[from:rows.start])
		if row.Number == 1 {
			b.WriteString(strings.Join(NamelessHeaders(len(row.cells)), string(f.Separator)))
		}
		b.WriteString("\n")
		from, struck = rows.offset, append(struck, row.Number)
	}
	b.WriteString(f.text[from:])
	return b.String(), struck
}

// NamelessHeaders are n headers that say nothing of what is below them.
func NamelessHeaders(n int) []string {
	headers := make([]string, n)
	for i := range headers {
		headers[i] = "Column " + strconv.Itoa(i+1)
	}
	return headers
}

// clean gives text without a byte order mark and characters no cell can hold, its lines ended by \n.
func clean(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.ContainsRune(text, 0) {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	if strings.ContainsRune(text, '\r') {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}

// cutSeparatorLine takes a first line such as sep=; off the text and gives what it names.
func (f *File) cutSeparatorLine() rune {
	first, rest, _ := strings.Cut(f.text, "\n")
	first = strings.ToLower(strings.Trim(first, `"`))
	if len(first) != len("sep=;") || !strings.HasPrefix(first, "sep=") || !strings.ContainsAny(first[4:], ",;\t") {
		return 0
	}
	f.text = rest
	return rune(first[4])
}

// shorten is a copy of s that ends in … when s has more than n characters.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return strings.Clone(s)
}

// tooWide reports whether a line has more cells than a file may have, so that no line makes the reader
// build a row of millions.
func tooWide(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxColumns {
			for _, separator := range separators {
				// A long text may hold many commas: twenty times the columns is no text.
				if strings.Count(line, string(separator)) > 20*maxColumns {
					return true
				}
			}
		}
	}
	return false
}
