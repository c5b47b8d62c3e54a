// Package csvfile reads the CSV files that people upload, and guesses what their columns mean. It keeps
// no state.
//
// A file is text of at most MaxCharacters; reading takes time in proportion to its length and memory
// for one row at a time beside the text itself.
package csvfile

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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
	errSeparator = Unreadable{Code: "csv_separator", text: "must be auto, a comma, a semicolon, a tab or a bar"}
)

// File is an opened CSV file.
type File struct {
	// Headers are the names of the columns, trimmed and at most 190 characters of each; a column without
	// a name has the empty string.
	Headers []string
	// Header is the number of the row that the names stand in, 0 for a file without names.
	Header int
	// Separator is the one given or found.
	Separator rune

	text      string
	width     int  // how many columns a row has, 0 while that is not known
	backslash bool // quotes inside quotes are written \" and not ""
}

// Open reads the names of the columns of text. separator is one of Separators, or empty for auto; header is the number of the row
// with the names, 0 if the file has none, or HeaderGuessed. A byte order mark, a first line sep=; as spreadsheets write it, and
// line ends of any system are understood.
func Open(text, separator string, header int) (*File, error) {
	if utf8.RuneCountInString(text) > maxCharacters {
		return nil, errTooLong
	}
	return Reopen(text, separator, header)
}

// Reopen is Open for a text that Open has taken before, which Strike may have made a little longer.
func Reopen(text, separator string, header int) (*File, error) {
	f := &File{text: clean(text)}
	if separator != "" && !slices.Contains(Separators(), separator) {
		return nil, errSeparator
	}
	if len(separator) == 1 {
		f.Separator = rune(separator[0])
	}
	if said := f.cutSeparatorLine(); f.Separator == 0 {
		f.Separator = said
	}
	if header == HeaderGuessed && strings.Trim(f.text, separators+" \"\n") == "" {
		return nil, errEmpty
	}
	if tooWide(f.text) {
		return nil, errTooWide
	}
	if f.Separator == 0 {
		f.Separator = detect(f.text)
	}
	f.backslash = strings.Contains(f.text, `\"`) && f.misread(true) < f.misread(false)
	if f.Header = header; header == HeaderGuessed {
		f.Header = f.guessHeader()
	}
	err := f.readHeaders()
	return f, err
}

// misread is how many rows have quotes that cannot be understood, or can only as they stand.
func (f File) misread(backslash bool) (n int) {
	f.backslash = backslash
	for rest := f.text; rest != ""; {
		r := f.record(rest, nil, 0)
		if rest = rest[r.length:]; r.loose {
			n++
		}
	}
	return n
}

func (f *File) readHeaders() error {
	whole := *f
	whole.Header = 0
	rows, width := whole.Rows(), 0
	for range sampleRows {
		row, err := rows.Next()
		if err != nil {
			break
		}
		if row.Number == f.Header {
			f.width, f.Headers = len(row.cells), make([]string, 0, len(row.cells))
			for _, cell := range row.cells {
				f.Headers = append(f.Headers, Shorten(strings.TrimSpace(cell), 190))
			}
			break
		}
		width = max(width, len(row.cells))
	}
	if f.Header == 0 && width == 0 && strings.Contains(f.text, struckRow+"\n") {
		width = 1 // every row was struck
	}
	if f.Header == 0 && width > 0 {
		f.width, f.Headers = width, NamelessHeaders(width)
	}
	if f.Headers == nil {
		return errEmpty
	}
	// Spreadsheets leave empty columns behind the last one with a name.
	for n := len(f.Headers); n > 1 && f.Headers[n-1] == ""; n-- {
		f.Headers = f.Headers[:n-1]
	}
	if len(f.Headers) > maxColumns {
		return errTooWide
	}
	return nil
}

// Rows starts reading at the first row; Next skips to the rows below the headers.
func (f *File) Rows() *Rows { return &Rows{file: f} }

// RowsBehind starts reading behind row number n, whether that row is still there or was struck out.
func (f *File) RowsBehind(n int) *Rows {
	rows := f.Rows()
	rows.behind = n
	return rows
}

// Sample is the first rows below the headers as a guess needs them.
func (f *File) Sample() [][]string { return f.head(sampleRows) }

// Preview is the first rows below the headers, at most PreviewRows, each with a cell per column of which
// 1000 characters are shown.
func (f *File) Preview() [][]string { return f.head(previewRows) }

func (f *File) head(n int) [][]string {
	out := [][]string{}
	for rows := f.Rows(); len(out) < n; {
		row, err := rows.Next()
		if err != nil {
			break
		}
		cells := make([]string, len(f.Headers))
		for i := range cells {
			cells[i] = Shorten(row.Cell(i), 1000)
		}
		out = append(out, cells)
	}
	return out
}

// Strike is the file as text without the rows that match, and their numbers. An empty row stands for each, so that
// the others keep their numbers; headers that match become NamelessHeaders.
func (f *File) Strike(match func(cells []string) bool) (text string, struck []int) {
	var b strings.Builder
	b.WriteString("sep=" + string(f.Separator) + "\n")
	rows := f.Rows()
	from := 0
	for row, err := rows.next(); err == nil; row, err = rows.next() {
		if !match(row.cells) {
			continue
		}
		b.WriteString(f.text[from:rows.start])
		switch row.Number {
		case f.Header:
			b.WriteString(strings.Join(NamelessHeaders(len(row.cells)), string(f.Separator)))
		case 1:
			b.WriteString(struckRow)
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

// clean gives text without byte order marks and characters that no cell can hold, its lines ended by \n.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.ContainsFunc(text, unheld) {
		text = strings.Map(func(r rune) rune {
			if unheld(r) {
				return -1
			}
			return r
		}, text)
	}
	if strings.ContainsRune(text, '\r') {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}

// unheld reports whether r is a control character, but for those of lines, tabs and rows that were struck, or a byte order mark.
func unheld(r rune) bool {
	return r == '\ufeff' || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != rune(struckRow[0])
}

// cutSeparatorLine takes a first line such as sep=; off the text and gives what it names.
func (f *File) cutSeparatorLine() rune {
	first, rest, _ := strings.Cut(f.text, "\n")
	first = strings.ToLower(strings.Trim(first, `"`))
	if len(first) != len("sep=;") || !strings.HasPrefix(first, "sep=") || !strings.ContainsAny(first[4:], separators) {
		return 0
	}
	f.text = rest
	return rune(first[4])
}

// Shorten is a copy of s that ends in … when s has more than n characters.
func Shorten(s string, n int) string {
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
