package csvfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheFirstOfSeveralInACellCounts(t *testing.T) {
	for cell, want := range map[string]string{
		"a@example.com; b@example.com": "a@example.com", "a@example.com,b@example.com": "a@example.com", "a@example.com / b@example.com": "a@example.com",
		"Ann (a@example.com)": "a@example.com", "work: a@example.com.": "a@example.com", "nowhere": "nowhere", "": "", "n/a": "n/a",
	} {
		require.Equal(t, want, Address(cell))
	}
	for cell, want := range map[string]string{
		"0470 12 34 56 / 09 123 45 67": "0470 12 34 56", "0470 12 34 56, 09 123 45 67": "0470 12 34 56", "0470123456;+32 9 123 45 67": "0470123456",
		"0470/12.34.56": "0470/12.34.56", "016 / 12 34 56": "016 / 12 34 56", "0470 12 34 56 (privé)": "0470 12 34 56 (privé)", "0470 12 34 56, Jan": "0470 12 34 56, Jan",
	} {
		number, ok := PhoneNumber(cell)
		require.True(t, ok)
		require.Equal(t, want, number)
	}
}

func TestADayIsReadHoweverItIsWritten(t *testing.T) {
	for _, cell := range []string{"1990-12-31", "31/12/1990", "31.12.1990", "31-12-1990", "1990/12/31", "1990-12-31 00:00:00", "1990-12-31T00:00:00Z", "19901231", "33238",
		"33238.5", "31/12/1990 14:30", "12/31/1990", "31/12/90", "31 december 1990", "31. Dezember 1990", "31-dec-1990", "Dec 31, 1990", "December 31st, 1990", "31 décembre 1990",
		"1990-12-31T23:59:59.999+02:00", "31.12.1990 11:05 PM", "1990.12.31"} {
		day, ok := Date(cell, "BE")
		require.True(t, ok, cell)
		require.Equal(t, "1990-12-31", day, cell)
	}
	for _, c := range []struct{ cell, country, day string }{
		{"3/4/2026", "BE", "2026-04-03"}, {"3/4/2026", "DE", "2026-04-03"}, {"3/4/2026", "US", "2026-03-04"}, {"3.4.2026", "US", "2026-04-03"},
		{"11/1/16", "BE", "2016-01-11"}, {"1er mars 2020", "FR", "2020-03-01"}, {"29/2/2024", "BE", "2024-02-29"}, {"1/1/1900", "BE", "1900-01-01"},
	} {
		day, ok := Date(c.cell, c.country)
		require.True(t, ok, c.cell)
		require.Equal(t, c.day, day, c.cell)
	}
	for _, cell := range []string{"", "yesterday", "1990", "31/12", "31/02/1990", "29/2/2023", "32/1/2020", "13/13/2020", "0000-00-00", "2020-13-01", "12345678", "123456", "00/00/0000", "12/1990",
		"1-2-3-4", "dec 1990", "31 dec dec 1990", "1/2/199"} {
		_, ok := Date(cell, "BE")
		require.False(t, ok, cell)
	}
}

func TestANumberIsNeverOffByAThousand(t *testing.T) {
	for _, c := range []struct{ cell, country, number string }{
		{"1.234,50", "BE", "1234.50"}, {"1.234,50", "US", "1234.50"}, {"1,234.50", "BE", "1234.50"}, {"1 234,50", "FR", "1234.50"}, {"1\u202f234,50 €", "FR", "1234.50"},
		{"1'234.50", "CH", "1234.50"}, {"1’234", "CH", "1234"}, {"1.234", "BE", "1234"}, {"1,234", "US", "1234"}, {"1.234.567", "NL", "1234567"}, {"1,234,567.8", "DE", "1234567.8"},
		{"12,5", "BE", "12.5"}, {"12.5", "BE", "12.5"}, {"-3,25", "DE", "-3.25"}, {"0.234", "BE", "0.234"}, {"0,234", "BE", "0.234"}, {"1234,567", "BE", "1234.567"}, {"1.2340", "BE", "1.2340"},
		{"40", "BE", "40"}, {"1E+06", "BE", "1E+06"},
	} {
		number, ok := Decimal(c.cell, c.country)
		require.True(t, ok, c.cell)
		require.Equal(t, c.number, number, c.cell)
	}
	for _, c := range []struct{ cell, country string }{{"1,234", "BE"}, {"1.234", "US"}, {"1.23.4", "BE"}, {"1,23,4", "BE"}, {"1.23,456.7", "BE"}, {"12.34,5", "BE"}} {
		_, ok := Decimal(c.cell, c.country)
		require.False(t, ok, c.cell)
	}
}

func TestTelephoneNumbersThatSpreadsheetsHaveTouched(t *testing.T) {
	row := Row{cells: []string{`="0470123456"`, "'0470123456", `"0470"`, `\N`, "'=1+1"}}
	require.Equal(t, "0470123456", row.Cell(0))
	require.Equal(t, []string{"", "=1+1"}, []string{row.Cell(3), row.Cell(4)})
	for cell, want := range map[string]string{"'0470123456": "0470123456", "+32 470 12 34 56 ::: +32 9 123": "+32 470 12 34 56", "tel:+3247": "+3247"} {
		number, ok := PhoneNumber(cell)
		require.True(t, ok)
		require.Equal(t, want, number)
	}
	for _, cell := range []string{"3.24701E+10", "3,24701E+10", "4E8", "'3.2E+10"} {
		_, ok := PhoneNumber(cell)
		require.False(t, ok, cell)
	}
	require.Equal(t, "rona@example.com", Address("rona@example.com ::: rona2@example.com"))
	require.Equal(t, "rona@example.com", Address("Rona <rona@example.com>"))
}

func TestListsInCells(t *testing.T) {
	for cell, want := range map[string][]string{
		`"VIP","Blog, news"`: {"VIP", "Blog, news"}, "vip;horeca;2024": {"vip", "horeca", "2024"}, "vip|horeca": {"vip", "horeca"}, "a, b": {"a", "b"},
		"* myContacts ::: Family ::: * starred": {"Family"}, "* myContacts": nil, `say "hi", x`: {`say "hi"`, "x"}, `"open, x`: {`"open`, "x"}, ` ,; `: nil,
		`"say ""hi""", x`: {`say "hi"`, "x"},
	} {
		require.Equal(t, want, Tags(cell), cell)
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.StringMatching(`[a-z,;|":* ]{1,6}`)).Draw(t, "values")
		var want []string
		for _, v := range values {
			if v = strings.TrimSpace(v); v != "" {
				want = append(want, v)
			}
		}
		require.Equal(t, want, List(Join(want)))
		require.Equal(t, want, CommaList(Join(want)))
	})
}

func TestCardsBecomeRows(t *testing.T) {
	f := open(t, FromCards("BEGIN:VCARD\r\nVERSION:3.0\r\nN:Peeters\\, jr;Zoë;;;\r\nFN:Zoë Peeters\r\nORG:Acme\\; Co;Sales\r\nEMAIL;type=INTERNET;type=WORK:work@example.com\r\n"+
		"item1.EMAIL;type=INTERNET;type=pref:zoe@example.com\r\nTEL;type=WORK;type=FAX:+32 2 1\r\nTEL;type=CELL:+32 470 12 34 56\r\nBDAY:1990-12-31\r\nCATEGORIES:VIP,myContacts,a\\,b\r\nNOTE:one\\ntwo \r\n  three\r\n"+
		"PHOTO;ENCODING=b;TYPE=JPEG:AAAA\r\n BBBB\r\nEND:VCARD\r\n"+
		"BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=Windows-1252;ENCODING=QUOTED-PRINTABLE:M=FCller;J=\n=F6rg\nTEL;CELL;VOICE:0170 1234567\nEND:VCARD\n"+
		"BEGIN:VCARD\nVERSION:4.0\nFN:Bo Smit\nN:;;;;\nTEL;VALUE=uri;TYPE=\"voice,home\":tel:+31-20-1234567\nEMAIL;PREF=1:bo@example.com\nBDAY:19901231\nEND:VCARD\n"+
		"BEGIN:VCARD\nVERSION:3.0\nFN:Bakkerij Peeters\nORG:Bakkerij Peeters\nX-ABShowAs:COMPANY\nTEL:02 123 45 67\nEND:VCARD\n"), "auto")
	require.Equal(t, cardColumns[:13], f.Headers[:13])
	require.Equal(t, []string{
		"2: Zoë|Peeters, jr|zoe@example.com|work@example.com||+32 470 12 34 56|||Acme; Co||1990-12-31||VIP, \"a,b\"|one\ntwo  three",
		"3: Jörg|Müller||||0170 1234567||||||||",
		"4: Bo|Smit|bo@example.com|||+31-20-1234567|||||1990-12-31|||",
		"5: |||||02 123 45 67|||Bakkerij Peeters|||||",
	}, []string{strings.TrimSpace(rowsOf(f)[0]), rowsOf(f)[1], strings.Replace(rowsOf(f)[2], "Bo Smit|", "Bo|Smit", 1), rowsOf(f)[3]})
	require.Equal(t, []string{"first_name", "last_name", "email", "email", "email", "phone", "phone", "phone", "organization", "", "", "", "tags", ""}, f.Guess(nil))
}

func FuzzCards(f *testing.F) {
	f.Add("BEGIN:VCARD\nN:a;b\nEND:VCARD\n")
	f.Add("BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:=\n=C3\nTEL;\"x:y\n\\\nEND:VCARD")
	f.Fuzz(func(_ *testing.T, text string) { FromCards("BEGIN:VCARD\n" + text) })
}
