package csvfile

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rowsOf reads every row as number: cells joined by bars, with an exclamation mark for one that is broken.
func rowsOf(f *File) []string {
	out := []string{}
	for rows := f.Rows(); ; {
		row, err := rows.Next()
		if err != nil {
			return out
		}
		mark := ""
		if row.Broken {
			mark = "!"
		}
		out = append(out, fmt.Sprintf("%d%s: %s", row.Number, mark, strings.Join(row.cells, "|")))
	}
}

func TestAQuoteCostsItsOwnRowAtMost(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rows       []string
	}{
		{"a quote that opens and never closes", "first,last,email,note\nAnn,U,ann@example.com,\"5 cm heel\nBob,U,bob@example.com,tea\nCas,U,cas@example.com,\n",
			[]string{`2!: Ann|U|ann@example.com|"5 cm heel`, "3: Bob|U|bob@example.com|tea", "4: Cas|U|cas@example.com|"}},
		{"one that opens in the first column", "first,last\n\"Ann,U\nBob,V\n", []string{`2!: "Ann|U`, "3: Bob|V"}},
		{"one that the quote of another row would close", "email;note;first\na@example.com;\"unfinished;A\nb@example.com;n;B\nd@example.com;\"ok\";D\n",
			[]string{`2!: a@example.com|"unfinished|A`, "3: b@example.com|n|B", "4: d@example.com|ok|D"}},
		{"one that a stray quote of another person closes", "first,email,note\nAnn,ann@example.com,\"5 heel\nBob,bob@example.com,size 5\"\nCas,cas@example.com,\n",
			[]string{`2!: Ann|ann@example.com|"5 heel`, `3: Bob|bob@example.com|size 5"`, "4: Cas|cas@example.com|"}},
		{"one that a stray quote closes in a row that is too short", "first,last,shoe\nAnn,\"5 heel\nBob,V,5\"\nCas,W,1\n",
			[]string{`2!: Ann|"5 heel`, `3: Bob|V|5"`, "4: Cas|W|1"}},
		{"names in quotes", "first,last,email\n\"Bill\" William,N,bill@example.com\nWilliam \"Bill\",N,will@example.com\n\"Acme\" Ltd,V,acme@example.com\n",
			[]string{`2: "Bill" William|N|bill@example.com`, `3: William "Bill"|N|will@example.com`, `4: "Acme" Ltd|V|acme@example.com`}},
		{"a separator in quotes that do not end the cell", "first,last\n\"Acme, Inc\" Ltd,V\n", []string{`2: "Acme, Inc" Ltd|V`}},
		{"semicolons", "Voornaam;Naam;E-mail\n\"De Linde\" vzw;V;linde@example.com\nBob;B;bob@example.com\n",
			[]string{`2: "De Linde" vzw|V|linde@example.com`, "3: Bob|B|bob@example.com"}},
		{"tabs", "first\tlast\nedward\t\"the rainmaker\" norton\n", []string{`2: edward|"the rainmaker" norton`}},
		{"backslashes of MySQL and PHP", "first,last,email\n\"William \\\"Bill\\\"\",\"B\",\"bill@example.com\"\n\"C:\\\\dir\",\"\\\"x\",y\n\\N,\"a\\\\\",b\n",
			[]string{`2: William "Bill"|B|bill@example.com`, `3: C:\dir|"x|y`, `4: \N|a\|b`}},
		{"a backslash at the end of a cell of a file that doubles quotes", "a,b\n\"C:\\\",\"x\"\n\"say \"\"hi\"\"\",y\n", []string{`2: C:\|x`, `3: say "hi"|y`}},
		{"inches", "first,shoe\nAnn,5\" heel\nBob,6\"\n", []string{`2: Ann|5" heel`, `3: Bob|6"`}},
		{"quotes and too many cells", "first,note\nAnn,\"He said \"hi, there\", ok\"\nBob,x\n", []string{`2!: Ann|"He said "hi| there"| ok"`, "3: Bob|x"}},
		{"real line ends inside quotes", "first,note\nAnn,\"one\ntwo, with a comma\nthree\"\nBob,x\n", []string{"2: Ann|one\ntwo, with a comma\nthree", "3: Bob|x"}},
		{"line ends in two cells, with an address between them", "name,email,note\r\n\"Jan\r\nPieters\",jan@example.com,\"one\r\ntwo\"\r\nBob,bob@example.com,x\r\n",
			[]string{"2: Jan\nPieters|jan@example.com|one\ntwo", "3: Bob|bob@example.com|x"}},
		{"one that a stray quote closes in the middle of the row below", "first,email,shoe,note\nAnn,ann@example.com,\"5 heel,a\nBob,bob@example.com,5\",b\n",
			[]string{`2!: Ann|ann@example.com|"5 heel|a`, `3: Bob|bob@example.com|5"|b`}},
		{"blanks around quotes", "first, last\n\"Ann\", \"U, jr\" \nBob, V\n", []string{"2: Ann|U, jr", "3: Bob| V"}},
		{"doubled quotes that meet a line end", "a,b\n\"x\"\"\n\"\"y\",1\n2,3\n", []string{"2: x\"\n\"y|1", "3: 2|3"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.rows, rowsOf(open(t, c.text, "auto"))) })
	}
}

// writers are how programs write tables. Each gives a table back as it was.
var writers = map[string]struct {
	separators []string
	row        func(cells []string, separator string) string
	end        string
}{
	"RFC 4180": {[]string{",", ";", "\t", "|"}, func(cells []string, separator string) string {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = rune(separator[0])
		_ = w.Write(cells)
		w.Flush()
		return strings.TrimSuffix(b.String(), "\n")
	}, "\r\n"},
	"quotes around everything": {[]string{",", ";", "\t", "|"}, func(cells []string, separator string) string {
		out := make([]string, len(cells))
		for i, c := range cells {
			out[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		return strings.Join(out, separator)
	}, "\n"},
	"MySQL": {[]string{",", "\t"}, func(cells []string, separator string) string {
		out := make([]string, len(cells))
		for i, c := range cells {
			out[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\\n").Replace(c) + `"`
		}
		return strings.Join(out, separator)
	}, "\n"},
}

func TestWhatTheUsualWritersWriteIsReadAgain(t *testing.T) {
	cell := rapid.OneOf(rapid.StringMatching(`[a-zé@'",;\\\t\n -]{0,8}`), rapid.SampledFrom([]string{"a@example.com", `"`, `""`, `"x" y`, `5" heel`, "a\nb", `\`, `\"`, "", "x, \"y\"\nz"}))
	for name, writer := range writers {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				width := rapid.IntRange(2, 5).Draw(t, "width")
				separator := rapid.SampledFrom(writer.separators).Draw(t, "separator")
				headers := []string{"h1", "h2", "h3", "h4", "h5"}[:width]
				text := writer.row(headers, separator) + writer.end
				want := []string{}
				if name == "MySQL" {
					// A file shows that its quotes are written with backslashes, or cells with one read otherwise.
					cells := append([]string{`say "x" y`}, make([]string, width-1)...)
					text += writer.row(cells, separator) + writer.end
					want = append(want, "2: "+strings.Join(cells, "|"))
				}
				for range rapid.IntRange(0, 8).Draw(t, "rows") {
					cells := []string{"r"}
					for len(cells) < width {
						cells = append(cells, cell.Draw(t, "cell"))
					}
					text += writer.row(cells, separator) + writer.end
					want = append(want, fmt.Sprintf("%d: %s", len(want)+2, strings.Join(cells, "|")))
				}
				require.Equal(t, want, rowsOf(open(t, text, separator)), text)
			})
		})
	}
}

func FuzzEveryLineIsInOneRow(f *testing.F) {
	for _, s := range []string{"a,b\n1,2", "\"a\n\"b\nc,\"d\n", "a,b\n\"x\"\"\n,\"\n\n\"\n", "a;b\n\"1;\"2\n", "\"\\\"\",x\n\\\"", "\n\n,\n\"\"\n x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Open(text, "auto", HeaderGuessed)
		if err != nil {
			return
		}
		rows, offset, number := file.Rows(), 0, 0
		for {
			row, err := rows.next()
			if err != nil {
				break
			}
			require.Empty(t, strings.Trim(file.text[offset:rows.start], " \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000,;\"\x1f\\"),
				"only empty rows stand between rows")
			require.Greater(t, rows.offset, rows.start)
			require.Greater(t, row.Number, number)
			if row.Broken {
				require.LessOrEqual(t, strings.Count(file.text[rows.start:rows.offset], "\n"), 1, "a broken row is one line")
			}
			offset, number = rows.offset, row.Number
		}
		require.Equal(t, len(file.text), rows.offset)
	})
}

func TestTheRowWithTheNamesIsFound(t *testing.T) {
	for _, c := range []struct {
		name, text string
		header     int
		headers    []string
		first      string
	}{
		{"LinkedIn", "Notes:\n\"When exporting your connection data, you may notice that some of the email addresses are missing. \"\"More\"\"\"\n\nFirst Name,Last Name,URL,Email Address,Company,Position,Connected On\nArjun,Rao,https://example.com/in/a,arjun@example.com,Acme,Boss,12 Mar 2024\n",
			4, []string{"First Name", "Last Name", "URL", "Email Address", "Company", "Position", "Connected On"}, "5: Arjun|Rao|https://example.com/in/a|arjun@example.com|Acme|Boss|12 Mar 2024"},
		{"a title over the table", "Table 1;;\nVoornaam;Naam;E-mail\nJan;P;jan@example.com\n", 2, []string{"Voornaam", "Naam", "E-mail"}, "3: Jan|P|jan@example.com"},
		{"a title without separators", "Ledenlijst 2026\n\nVoornaam;Naam;E-mail\nJan;P;jan@example.com\n", 3, []string{"Voornaam", "Naam", "E-mail"}, "4: Jan|P|jan@example.com"},
		{"a list without names", "Jan,Peeters,jan@example.com\nAn,Maes,an@example.com\n", 0, []string{"Column 1", "Column 2", "Column 3"}, "1: Jan|Peeters|jan@example.com"},
		{"names that are not known", "shoe,sock\n1,2\n", 1, []string{"shoe", "sock"}, "2: 1|2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.text, "auto")
			require.Equal(t, c.header, f.Header)
			require.Equal(t, c.headers, f.Headers)
			require.Equal(t, c.first, rowsOf(f)[0])
		})
	}
	f, err := Open("a,b\nc,d\n1,2\n", ",", 2)
	require.NoError(t, err)
	require.Equal(t, []string{"c", "d"}, f.Headers)
	f, err = Open("first name,last name\nc,d\n", ",", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"1: first name|last name", "2: c|d"}, rowsOf(f))
	require.Equal(t, []string{"email", "first_name", "last_name", "phone"},
		open(t, "jan@example.com,Jan,Peeters,0470 12 34 56\nan@example.com,An,Maes,\n", "auto").Guess(nil))
}

func TestManyOpenQuotesAreReadInLinearTime(t *testing.T) {
	for _, line := range []string{"\"a\n", "x,\"a\"\"b\n", "\"\"\"\n", "\"a\"\"\"\"\n", "\\\"\"a\\\"\n"} {
		text := "a,b\n" + strings.Repeat(line, 500_000/len(line))
		require.NotEmpty(t, rowsOf(open(t, text, ",")))
	}
}
