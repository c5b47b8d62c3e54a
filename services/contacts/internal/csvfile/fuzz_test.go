package csvfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read gives the cells of rows by their numbers.
func read(rows *Rows) map[int][]string {
	all := map[int][]string{}
	for {
		row, err := rows.Next()
		if err != nil {
			return all
		}
		all[row.Number] = slices.Clone(row.cells)
	}
}

// FuzzStrike strikes the rows with a word out of a file, and goes on behind a row of what is left.
func FuzzStrike(f *testing.F) {
	f.Add("a,b\n1,x\n2,y\n\n3,x\n", "x", 2)
	f.Add("sep=;\n\na;b\n\n1;\"x\ny\"\n2;z\r\n;\n3;x", "y", 4)
	f.Add("x\n\"x", "x", 1)
	f.Add("\"a\"\"\n\",x\r\r\nb,\"c", "b", 3)
	f.Fuzz(func(t *testing.T, text, word string, behind int) {
		file, err := Open(text, "auto", HeaderGuessed)
		if err != nil || word == "" {
			return
		}
		before := read(file.Rows())
		rest, struck := file.Strike(func(cells []string) bool { return strings.Contains(strings.Join(cells, "\x01"), word) })
		if len(struck) == 0 {
			return
		}
		left, err := Reopen(rest, "auto", file.Header)
		require.NoError(t, err)
		require.Equal(t, file.Separator, left.Separator)
		want := map[int][]string{}
		for number, cells := range before {
			require.Equal(t, strings.Contains(strings.Join(cells, "\x01"), word), slices.Contains(struck, number))
			if !strings.Contains(strings.Join(cells, "\x01"), word) {
				want[number] = cells
			}
		}
		require.Equal(t, want, read(left.Rows()), "the others keep their numbers and cells")
		for number := range want {
			if number <= behind {
				delete(want, number)
			}
		}
		require.Equal(t, want, read(left.RowsBehind(behind)))
	})
}
