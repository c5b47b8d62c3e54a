package csvcell

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhatWouldRunIsNeutralAndNumbersStay(t *testing.T) {
	for in, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "@SUM(A1)": "'@SUM(A1)", "-2+3": "'-2+3", "\t=1": "'\t'=1", " =1": "' =1", "＝1": "'＝1",
		"+32470123456": "+32470123456", "+32 470 12 34 56": "+32 470 12 34 56", "-4.5": "-4.5", "Jan": "Jan", "'=1": "''=1", "": "",
	} {
		require.Equal(t, want, Neutral(in))
	}
}

func TestWhatWouldRunBehindAnotherSeparatorIsNeutral(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a;=1+1", "a;'=1+1"},
		{"a,=1+1", "a,'=1+1"},
		{"a\t=1+1", "a\t'=1+1"},
		{"a\n=1+1", "a\n'=1+1"},
		{"a\r\n@SUM(A1)", "a\r\n'@SUM(A1)"},
		{"a|+cmd", "a|'+cmd"},
		{"a; \"=1+1\"", "a;' \"=1+1\""},
		{"=1;=2,=3", "'=1;'=2,'=3"},
		{";=1", ";'=1"},
		{"-4,5", "-4,5"},
		{"a, -4.5; +32 470 12 34 56", "a, -4.5; +32 470 12 34 56"},
		{"Peeters, Jan; Ghent", "Peeters, Jan; Ghent"},
		{"a;'=1", "a;''=1"},
	} {
		require.Equal(t, c.want, Neutral(c.in))
		require.Equal(t, c.in, Original(c.want))
	}
}

func TestReadingTakesBackWhatWritingDid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`'{0,2}[=+\-@]?[0-9 ()]*`), rapid.StringMatching(`['"=+\-@;,|\n\t 1a]{0,12}`)).Draw(t, "cell")
		require.Equal(t, s, Original(Neutral(s)))
	})
}
