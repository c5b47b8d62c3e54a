package csvfile

import (
	"encoding/csv"
	"strings"
)

var separators = []rune{',', ';', '\t'}

const (
	sampleRows  = 30
	sampleBytes = 64 << 10
)

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
	best, bestScore := ',', 0
	for _, separator := range separators {
		if score := fit(text, separator); score > bestScore {
			best, bestScore = separator, score
		}
	}
	return best
}

// fit says how well a separator fits a sample; 0 when it separates nothing.
func fit(sample string, separator rune) int {
	r := csv.NewReader(strings.NewReader(sample))
	r.Comma = separator
	r.LazyQuotes = true
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	score, columns, known := 0, 0, 0
	for range sampleRows {
		cells, err := r.Read()
		if err != nil {
			break
		}
		if columns == 0 {
			columns = len(cells)
			for _, target := range Guess(cells, nil) {
				if target != "" {
					known++
				}
			}
		}
		score += min(len(cells), columns) - 1
		for _, cell := range cells {
			if strings.Count(cell, `"`)%2 == 1 {
				score -= 2
			}
		}
	}
	if columns < 2 || score <= 0 {
		return 0
	}
	return score*10 + min(known, 9)
}
