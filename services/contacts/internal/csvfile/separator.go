package csvfile

import (
	"math"
	"strings"
)

const separators = ",;\t|"

// Separators are what Open takes: auto, and each character.
func Separators() []string { return append([]string{"auto"}, strings.Split(separators, "")...) }

const sampleBytes = 64 << 10

// detect finds the separator of a file: the one that splits the most columns off, in the row of headers and
// in the same number below it, and that leaves no quotes in the middle of cells. Names of columns
// that are known break a tie; a comma is the last resort.
func detect(text string) rune {
	if len(text) > sampleBytes {
		text = text[:sampleBytes]
		if end := strings.LastIndexByte(text, '\n'); end > 0 {
			text = text[:end]
		}
	}
	best, bestScore := ',', math.MinInt
	for _, separator := range separators {
		for _, backslash := range []bool{false, true} {
			f := &File{text: text, Separator: separator, backslash: backslash}
			if score, separates := f.fit(); separates && score > bestScore {
				best, bestScore = separator, score
			}
		}
	}
	return best
}

// fit says how well the separator fits, and whether it separates anything: in a short file bad quotes may cost more than all columns count.
func (f *File) fit() (score int, separates bool) {
	header := max(f.guessHeader(), 1)
	columns, names := 0, 0
	rows := f.Rows()
	for range sampleRows {
		row, err := rows.Next()
		if err != nil {
			break
		}
		if row.Number < header {
			continue
		}
		if columns == 0 {
			columns, names = len(row.cells), known(row.cells)
			f.width = columns
		}
		score += min(len(row.cells), columns) - 1
		if row.Broken {
			score -= 2
		}
		for _, cell := range row.cells {
			if strings.Count(cell, `"`)%2 == 1 {
				score -= 2
			}
		}
	}
	return score*10 + min(names, 9), columns > 1
}
