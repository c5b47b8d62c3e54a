package csvcell

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzCell(f *testing.F) {
	for _, s := range []string{"", "'", "=1", "'=1", "''=1", "+32 470 12 34 56", "-4,5", "a;=b|@c", "\"=1\"", "\t=1", "＝1", " \n+1", "a\r'-\u00a0@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		safe := Neutral(cell)
		require.Equal(t, cell, Original(safe), "reading takes back what writing did")
		if safe == cell && runs(cell) {
			require.True(t, harmless.MatchString(cell), "a spreadsheet would run it: %q", cell)
		}
	})
}
