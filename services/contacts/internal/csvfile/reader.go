package csvfile

import (
	"io"
	"slices"
	"strings"

	"frontdesk/libs/address"
	"frontdesk/libs/csvcell"
)

// Rows reads a file row by row.
//
// A row ends where its line ends, unless a cell in quotes goes on over line ends. Every line that holds something is in exactly one row. A
// line with a quote that cannot be understood is a row of its own, Broken, and reading goes on with the next line: no quote costs more
// than its own line.
type Rows struct {
	file   *File
	start  int // of the row read last
	offset int // behind it
	number int
	behind int // rows up to this number are left out
	cells  []string
}

// Row is one row of a file.
type Row struct {
	// Number counts as a spreadsheet shows it: empty rows count, but for those in front of the first row with something in it; a cell of
	// several lines is in one row.
	Number int
	// Broken says that a quote in the row could not be understood. Its cells are then those of its line, split at every separator.
	Broken bool
	// Cells as they stand in the file, valid until the next call of Next; fewer or more than there
	// are headers in a ragged row.
	cells []string
}

// Cell is the trimmed content of a column, counted from 0; empty when the row ends before it. What spreadsheets and databases wrap
// around a value is taken off: the apostrophe that exports put before what looks like a formula, ="…" around text that looks like a
// number, and \N for no value.
func (r Row) Cell(column int) string {
	if column >= len(r.cells) {
		return ""
	}
	cell := strings.TrimSpace(r.cells[column])
	if cell == `\N` {
		return ""
	}
	if inner, ok := strings.CutPrefix(cell, `="`); ok && strings.HasSuffix(inner, `"`) {
		return strings.TrimSpace(strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`))
	}
	return strings.TrimSpace(csvcell.Original(r.cells[column]))
}

// Clone is a copy of the row that stays valid.
func (r Row) Clone() Row {
	r.cells = slices.Clone(r.cells)
	return r
}

// Next is the next row below the headers that has anything in it, or io.EOF.
func (r *Rows) Next() (Row, error) {
	for {
		if row, err := r.next(); err != nil || row.Number > max(r.behind, r.file.Header) {
			return row, err
		}
	}
}

func (r *Rows) next() (Row, error) {
	text := r.file.text
	for r.offset < len(text) {
		r.start = r.offset
		width := r.file.width
		if r.number < r.file.Header {
			width = 0 // what stands above the columns has columns of its own
		}
		found := r.file.record(text[r.offset:], r.cells[:0], width)
		r.cells = found.cells
		r.offset += found.length
		if !r.blank() {
			r.number++
			return Row{r.number, found.broken, r.cells}, nil
		}
		// Empty rows in front of the first do not count.
		if r.number > 0 || len(r.cells) > 0 && r.cells[0] == struckRow {
			r.number++
		}
	}
	return Row{}, io.EOF
}

// struckRow is a row that was struck out in front of all others: unlike an empty one it counts.
const struckRow = "\x1f"

func (r *Rows) blank() bool {
	for _, cell := range r.cells {
		if cell != struckRow && strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// record is the row at the beginning of a text.
type record struct {
	cells  []string
	length int // of the row with its line end
	broken bool
	loose  bool // a quote stands where a writer of quotes would have doubled it
}

// record reads the row at the beginning of text, which should have as many columns as width says, if that is not 0. Its cells are
// appended to the given ones.
func (f *File) record(text string, cells []string, width int) record {
	found, ok := f.split(text, cells)
	if ok && !(found.loose && wrongWidth(found.cells, width)) && !f.swallows(text[:found.length], found.cells, width) {
		return found
	}
	line, _, _ := strings.Cut(text, "\n")
	found = record{cells: cells, length: min(len(line)+1, len(text)), broken: true, loose: true}
	for cell := range strings.SplitSeq(line, string(f.Separator)) {
		found.cells = append(found.cells, cell)
	}
	return found
}

// split reads the cells of a row. It is not ok if a quote opens a cell and none closes it, or only one in the middle of another line does.
//
// A cell whose opening quote is closed in its middle, such as "De Linde" vzw, stands as it is written.
func (f *File) split(text string, cells []string) (found record, ok bool) {
	found.cells = cells
	separator := byte(f.Separator)
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		end = len(text)
	}
	for i := 0; ; {
		open := i
		for open < end && text[open] == ' ' {
			open++
		}
		if open < end && text[open] == '"' {
			cell, behind, closed := f.quoted(text, open+1)
			switch {
			case closed:
				found.cells = append(found.cells, cell)
				i = behind
				if behind > end {
					if end = behind + strings.IndexByte(text[behind:], '\n'); end < behind {
						end = len(text)
					}
				}
			case behind < 0 || behind > end:
				return found, false
			default:
				found.loose = true
				// Separators up to the quote in the middle are part of the cell.
				i = behind + cellEnd(text[behind:end], separator)
				found.cells = append(found.cells, text[open:i])
			}
		} else {
			start := i
			i += cellEnd(text[i:end], separator)
			found.cells = append(found.cells, text[start:i])
			found.loose = found.loose || strings.IndexByte(text[start:i], '"') >= 0
		}
		if i >= len(text) || text[i] == '\n' {
			found.length = min(i+1, len(text))
			return found, true
		}
		i++
	}
}

func cellEnd(line string, separator byte) int {
	if n := strings.IndexByte(line, separator); n >= 0 {
		return n
	}
	return len(line)
}

// quoted is the content of a cell behind its opening quote, and the place behind the quote that closes it and behind blanks. If the first
// quote that is not doubled stands in the middle of a cell, it gives the place of that quote; -1 if there is no quote.
func (f *File) quoted(text string, from int) (cell string, behind int, closed bool) {
	escaped := false
	for i := from; ; {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return "", -1, false
		}
		at := i + n
		if f.backslash && oddBackslashes(text[from:at]) {
			i, escaped = at+1, true
			continue
		}
		if at+1 < len(text) && text[at+1] == '"' {
			i, escaped = at+2, true
			continue
		}
		behind = at + 1
		for behind < len(text) && text[behind] == ' ' {
			behind++
		}
		if behind < len(text) && text[behind] != byte(f.Separator) && text[behind] != '\n' {
			return "", at, false
		}
		cell = text[from:at]
		if f.backslash && strings.IndexByte(cell, '\\') >= 0 {
			cell = withoutBackslashes.Replace(cell)
		} else if escaped {
			cell = strings.ReplaceAll(cell, `""`, `"`)
		}
		return cell, behind, true
	}
}

// withoutBackslashes is for files of MySQL and PHP.
var withoutBackslashes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `""`, `"`, "\\\n", "\n")

func oddBackslashes(s string) bool {
	n := len(s) - len(strings.TrimRight(s, `\`))
	return n%2 == 1
}

// wrongWidth reports whether a row has other columns than it should. Empty cells at the end do not count.
func wrongWidth(cells []string, width int) bool {
	n := len(cells)
	for n > width && strings.TrimSpace(cells[n-1]) == "" {
		n--
	}
	return width > 0 && n != width
}

// swallows reports whether the row took lines for the inside of a cell that are rows themselves: a stray quote that another stray quote
// closes some lines below looks like a cell of several lines. A line is a row if it has all columns and either one of them is an address
// that no cell of the row that swallowed it has, or that row has too few cells or too many.
func (f *File) swallows(row string, cells []string, width int) bool {
	first, rest, several := strings.Cut(row, "\n")
	if !several || width < 2 || len(first) == len(row)-1 {
		return false
	}
	wrong := wrongWidth(cells, width)
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n") {
		if strings.Count(line, string(f.Separator)) != width-1 {
			continue
		}
		if wrong {
			return true
		}
		for cell := range strings.SplitSeq(line, string(f.Separator)) {
			if cell = strings.Trim(cell, `"`); strings.Contains(cell, "@") && cell == strings.TrimSpace(cell) && isAddress(cell) && !slices.Contains(cells, cell) {
				return true
			}
		}
	}
	return false
}

func isAddress(cell string) bool {
	stored, err := address.Parse(cell)
	return err == nil && stored != ""
}
