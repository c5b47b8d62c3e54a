package csvfile

import (
	"strings"
	"unicode"
)

const (
	// HeaderGuessed is asked for where nobody has said which row has the names.
	HeaderGuessed = -1
	// headerWithin is how many rows are looked at for the names.
	headerWithin = 10
	// sampleRows is how many rows a guess is made from.
	sampleRows = 50
)

// guessHeader is the number of the row with the names of the columns: the first of the first ten rows in which two names are known. Without
// one it is the first row, or 0 for no row if a person stands there: with an address or a telephone number.
func (f *File) guessHeader() int {
	whole := *f
	whole.Header = 0
	rows := whole.Rows()
	first := 1
	for range headerWithin {
		row, err := rows.Next()
		if err != nil || row.Number > headerWithin {
			break
		}
		if known(row.cells) > 1 {
			return row.Number
		}
		for i := range row.cells {
			if cell := row.Cell(i); row.Number == 1 && (isAddress(cell) || isNumber(cell)) {
				first = 0
			}
		}
	}
	return first
}

// known is how many cells are names of columns.
func known(cells []string) int {
	n := 0
	for _, target := range guess(cells, nil, nil) {
		if target != "" {
			n++
		}
	}
	return n
}

// isNumber reports whether a cell can be nothing but a telephone number.
func isNumber(cell string) bool {
	digits := 0
	for _, r := range cell {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case !strings.ContainsRune("+()/.- \u00a0", r):
			return false
		}
	}
	return digits >= 8 && digits <= 15 && (strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "0") || strings.HasPrefix(cell, "("))
}

// isWords reports whether a cell may be a name: letters, and what joins them.
func isWords(cell string) bool {
	letters := false
	for _, r := range cell {
		switch {
		case unicode.IsLetter(r) || unicode.Is(unicode.M, r):
			letters = true
		case !strings.ContainsRune(" -'’.\u200c\u200d", r):
			return false
		}
	}
	return letters
}

// guessByValues gives targets for columns without names: where addresses and numbers stand, and the first two columns of words as first and
// last name.
func guessByValues(columns int, sample [][]string) []string {
	out := make([]string, columns)
	names := []string{"first_name", "last_name"}
	for i := range out {
		switch {
		case mostly(sample, i, isAddress):
			out[i] = "email"
		case mostly(sample, i, isNumber):
			out[i] = "phone"
		case len(names) > 0 && mostly(sample, i, isWords):
			out[i], names = names[0], names[1:]
		}
	}
	return out
}

// mostly reports whether at least half of the filled cells of a column are of a kind.
func mostly(sample [][]string, column int, is func(cell string) bool) bool {
	filled, fitting := 0, 0
	for _, cells := range sample {
		if column < len(cells) && cells[column] != "" {
			filled++
			if is(cells[column]) {
				fitting++
			}
		}
	}
	return filled > 0 && 2*fitting >= filled
}

// filled is how many cells of a column hold something.
func filled(sample [][]string, column int) int {
	n := 0
	for _, cells := range sample {
		if column < len(cells) && cells[column] != "" {
			n++
		}
	}
	return n
}
