package csvfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/csvcell"
)

func open(t require.TestingT, text, separator string) *File {
	f, err := Open(text, separator, HeaderGuessed)
	require.NoError(t, err)
	return f
}

// all reads every row as number: cells joined by a bar.
func all(f *File) []string {
	var out []string
	for rows := f.Rows(); ; {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		cells := make([]string, len(row.cells))
		for i := range cells {
			cells[i] = row.Cell(i)
		}
		out = append(out, fmt.Sprintf("%d: %s", row.Number, strings.Join(cells, "|")))
	}
}

func TestFilesAsTheyComeFromRealPrograms(t *testing.T) {
	for _, c := range []struct {
		name, text string
		headers    []string
		rows       []string
	}{
		{"commas", "First name,Email\nJan,jan@example.com\n", []string{"First name", "Email"}, []string{"2: Jan|jan@example.com"}},
		{"semicolons with a byte order mark and CRLF, as Excel in Belgium", "\ufeffVoornaam;E-mail\r\nJan;jan@example.com\r\n",
			[]string{"Voornaam", "E-mail"}, []string{"2: Jan|jan@example.com"}},
		{"tabs", "Vorname\tTelefon\nJan\t0470\n", []string{"Vorname", "Telefon"}, []string{"2: Jan|0470"}},
		{"old Mac line ends", "a,b\r1,2\r3,4", []string{"a", "b"}, []string{"2: 1|2", "3: 3|4"}},
		{"bars", "name|email\nAnn|ann@example.com\n", []string{"name", "email"}, []string{"2: Ann|ann@example.com"}},
		{"a short file whose quotes are bad", "name;email\n\"Ann;ann@example.com\n\"Cara\";c@example.com\n", []string{"name", "email"},
			[]string{`2: "Ann|ann@example.com`, "3: Cara|c@example.com"}},
		{"a separator line", "sep=;\na;b,c\n1;2,3\n", []string{"a", "b,c"}, []string{"2: 1|2,3"}},
		{"ragged rows", "a,b,c\n1\n1,2,3,4\n", []string{"a", "b", "c"}, []string{"2: 1", "3: 1|2|3|4"}},
		{"empty rows and columns at the end", "\n\na;b;;\n1;2;;\n;;;\n\n3;4;;\n;;;\n", []string{"a", "b"}, []string{"2: 1|2||", "5: 3|4||"}},
		{"quotes, doubled quotes and lines inside quotes", "a,b\n\"x, \"\"y\"\"\",\"one\r\ntwo\"\n3,4\n", []string{"a", "b"},
			[]string{"2: x, \"y\"|one\ntwo", "3: 3|4"}},
		{"a bare quote", "a,b\n5\" pipe,\"Big\" Jim\n", []string{"a", "b"}, []string{"2: 5\" pipe|\"Big\" Jim"}},
		{"one column", "Email\njan@example.com\npiet@example.com", []string{"Email"}, []string{"2: jan@example.com", "3: piet@example.com"}},
		{"commas in semicolon files", "Naam;Bedrag;Nota\nJan;1,50;\"a, b, c\"\nPiet;2,50;d, e\n", []string{"Naam", "Bedrag", "Nota"},
			[]string{"2: Jan|1,50|a, b, c", "3: Piet|2,50|d, e"}},
		{"semicolons in comma files", "name,note\nJan,a; b; c\nPiet,d; e; f\n", []string{"name", "note"}, []string{"2: Jan|a; b; c", "3: Piet|d; e; f"}},
		{"headers only", "Email;Name", []string{"Email", "Name"}, nil},
		{"zero bytes", "a,b\n\x001\x00,2\n", []string{"a", "b"}, []string{"2: 1|2"}},
		{"a quote that never ends", "a,b\n\"1,2\n3,4\n", []string{"a", "b"}, []string{"2: \"1|2", "3: 3|4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.text, "auto")
			require.Equal(t, c.headers, f.Headers)
			require.Equal(t, c.rows, all(f))
		})
	}
}

func TestASeparatorThatIsGivenIsUsed(t *testing.T) {
	require.Equal(t, []string{"a;b", "c"}, open(t, "a;b,c\n1;2,3", ",").Headers)
	require.Equal(t, []string{"a", "b,c"}, open(t, "a;b,c\n1;2,3", ";").Headers)
	require.Equal(t, []string{"a", "b,c"}, open(t, "sep=,\na;b,c\n1;2,3", ";").Headers)
}

func TestFilesThatAreRefused(t *testing.T) {
	for text, want := range map[string]error{
		"":                                       errEmpty,
		"\ufeff":                                 errEmpty,
		"\r\n\r\n":                               errEmpty,
		";;;\n;\n":                               errEmpty,
		strings.Repeat("x", maxCharacters+1):     errTooLong,
		strings.Repeat("x,", maxColumns) + "x":   errTooWide,
		"a,b\n" + strings.Repeat(",", 5_000_000): errTooWide,
	} {
		_, err := Open(text, "auto", HeaderGuessed)
		require.ErrorIs(t, err, want)
	}
	_, err := Open("a,b", ":", HeaderGuessed)
	require.ErrorIs(t, err, errSeparator)
}

func TestPreviewShowsTheFirstFiveRowsWithACellPerColumn(t *testing.T) {
	f := open(t, "a,b\n1\n\n2,x,y\n3,\n4,\n5,\n6,\n", "")
	require.Equal(t, [][]string{{"1", ""}, {"2", "x"}, {"3", ""}, {"4", ""}, {"5", ""}}, f.Preview())
	require.Equal(t, [][]string{}, open(t, "a,b", "").Preview())

	long := open(t, "a,b\n"+strings.Repeat("é", 5000)+",x", "").Preview()
	require.Equal(t, strings.Repeat("é", 1000)+"…", long[0][0])
}

func TestGuessedTargets(t *testing.T) {
	fields := []Field{{"budget", "Budget (€)"}, {"shoe_size", "Schoenmaat"}, {"e_mail", "E-mail"}}
	for _, c := range []struct{ headers, targets string }{
		{"First Name|Last Name|E-mail Address|Mobile Phone|Status|Lead source|Tags", "first_name|last_name|email|phone|status|source|tags"},
		{"first_name|last_name|email|phone|status|source|tags", "first_name|last_name|email|phone|status|source|tags"},
		{"Voornaam|Achternaam|E-mailadres|Telefoonnummer|Status|Herkomst|Labels", "first_name|last_name|email|phone|status|source|tags"},
		{"Voornaam|Naam|E-mail|GSM|Klantstatus|Bron|Trefwoorden", "first_name|last_name|email|phone|status|source|tags"},
		{"Prénom|Nom|Adresse e-mail|N° de téléphone|Statut|Provenance|Étiquettes", "first_name|last_name|email|phone|status|source|tags"},
		{"PRENOM|NOM DE FAMILLE|Courriel|Tél. portable|État|Origine|Mots-clés", "first_name|last_name|email|phone|status|source|tags"},
		{"Vorname|Nachname|E-Mail-Adresse|Handynummer|Kundenstatus|Quelle|Schlagwörter", "first_name|last_name|email|phone|status|source|tags"},
		{"Vorname|Name|Mail|Telefon-Nr.|Status|Herkunft|Stichwörter", "first_name|last_name|email|phone|status|source|tags"},
		{"Name|Email", "first_name|email"},
		{"Nom complet|Téléphone", "first_name|phone"},
		{"Naam|Achternaam|E-mail", "|last_name|email"},
		{"Email|E-mail 2|E-mail|Phone|Mobile", "email|email|email|phone|phone"},
		{"BUDGET €|Schoenmaat|fields.shoe_size|Geboortedatum", "fields.budget|fields.shoe_size||"},
		{"||", "||"},
		{strings.Repeat("email ", 100), ""},
	} {
		require.Equal(t, strings.Split(c.targets, "|"), guess(strings.Split(c.headers, "|"), fields, nil), c.headers)
	}
}

func TestMappings(t *testing.T) {
	fields := []Field{{Key: "budget"}}
	require.NoError(t, CheckMapping([]string{"email", "", "fields.budget"}, 3, fields))
	require.NoError(t, CheckMapping([]string{"email", "", ""}, 5, nil))
	require.NoError(t, CheckMapping([]string{"", ""}, 5, nil))
	require.NoError(t, CheckMapping([]string{"email", "", "email", "organization", "owner"}, 5, nil), "several columns for one target")
	for want, mapping := range map[string][]string{
		`has 4 targets for 3 columns`:                         {"email", "", "", ""},
		`has the unknown target "fields.x" for column 2`:      {"email", "fields.x"},
		`has the unknown target "id" for column 1`:            {"id"},
		`has the unknown target "owner_user_id" for column 1`: {"owner_user_id"},
	} {
		require.EqualError(t, CheckMapping(mapping, 3, fields), want)
	}
}

func TestCellsOfStatusAndTags(t *testing.T) {
	for cell, want := range map[string]string{"": "", " Lead ": "lead", "Klant": "customer", "CLIENT": "customer", "Kunde": "customer", "Inactief": "inactive"} {
		got, ok := Status(cell)
		require.True(t, ok, cell)
		require.Equal(t, want, got)
	}
	_, ok := Status("whatever")
	require.False(t, ok)
	require.Equal(t, []string{"VIP", "news letter"}, Tags(" VIP, news  letter,,vip , "))
	require.Nil(t, Tags(" , "))
}

func written(t require.TestingT, separator string, rows ...[]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = rune(separator[0])
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = csvcell.Neutral(cell)
		}
		require.NoError(t, w.Write(cells))
	}
	w.Flush()
	return b.String()
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	cell := rapid.OneOf(
		rapid.StringMatching(`[a-zé=+@'",;\n -]{0,8}`),
		rapid.SampledFrom([]string{"=1", "'=1", "''+x", "+32 470", "\t=x", "-5", "a\nb", `"`, "", "'"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 5).Draw(t, "width")
		separator := rapid.SampledFrom([]string{",", ";"}).Draw(t, "separator")
		header := []string{"h1", "h2", "h3", "h4", "h5"}[:width]
		rows := [][]string{header}
		var want []string
		for i := range rapid.IntRange(0, 10).Draw(t, "rows") {
			row := []string{fmt.Sprintf("r%d", i)}
			for len(row) < width {
				row = append(row, cell.Draw(t, "cell"))
			}
			rows = append(rows, row)
			trimmed := make([]string, width)
			for j, c := range row {
				trimmed[j] = strings.TrimSpace(c)
			}
			want = append(want, fmt.Sprintf("%d: %s", i+2, strings.Join(trimmed, "|")))
		}
		text := written(t, separator, rows...)
		require.Equal(t, want, all(open(t, text, separator)))
		// The same whatever system wrote the line ends.
		require.Equal(t, want, all(open(t, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"), separator)))
	})
}

func TestFiveMegabytesAreReadInATimeAndMemoryThatFit(t *testing.T) {
	var b strings.Builder
	b.WriteString("Voornaam;Naam;E-mail;Telefoon;Tags\n")
	rows := 0
	for b.Len() < maxCharacters-200 {
		rows++
		fmt.Fprintf(&b, "Jan %d;\"Peeters; de jonge\";jan%d@example.com;0470 12 34 56;\"vip,klant\"\n", rows, rows)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f := open(t, b.String(), "auto")
	n := 0
	for r := f.Rows(); ; n++ {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	runtime.ReadMemStats(&after)
	require.Equal(t, rows, n)
	require.Equal(t, ';', f.Separator)
	require.Less(t, time.Since(start), 5*time.Second)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "all that was ever allocated")
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"a,b\n1,2", "\ufeffa;b\r\n\"1;\"\"2\"\n\n;;\n", "sep=;\na;b", "\"", "a\r\rb", "\x00", "a,\"b\nc", "=1,'=1\n"} {
		f.Add(s, "auto")
	}
	f.Add("a;b", ";")
	f.Fuzz(func(t *testing.T, text, separator string) {
		file, err := Open(text, separator, HeaderGuessed)
		if err != nil {
			return
		}
		require.NotEmpty(t, file.Headers)
		require.LessOrEqual(t, len(file.Headers), maxColumns)
		targets := guess(file.Headers, []Field{{"a", "A"}, {"b", ""}}, file.Sample())
		require.Len(t, targets, len(file.Headers))
		if strings.Join(targets, "") != "" {
			require.NoError(t, CheckMapping(targets, len(file.Headers), []Field{{"a", "A"}, {"b", ""}}))
		}
		require.LessOrEqual(t, len(file.Preview()), previewRows)
		number := 1
		for rows := file.Rows(); ; {
			row, err := rows.Next()
			if err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
			require.Greater(t, row.Number, number)
			number = row.Number
			for i := range row.cells {
				cell := row.Cell(i)
				require.NotContains(t, cell, "\x00")
				Status(cell)
				Tags(cell)
			}
		}
		require.LessOrEqual(t, number, 1+strings.Count(text, "\n")+strings.Count(text, "\r"))
	})
}

func TestRowsAreStruckOutAndTheOthersKeepTheirNumbers(t *testing.T) {
	f, err := Open("sep=;\n\na;b\n\n1;\"x\ny\"\n2;z\r\n;\n3;x", "auto", HeaderGuessed)
	require.NoError(t, err)
	before := map[int]string{}
	for rows := f.Rows(); ; {
		row, err := rows.Next()
		if err != nil {
			break
		}
		before[row.Number] = row.Cell(0)
	}
	text, struck := f.Strike(func(cells []string) bool { return cells[0] == "1" })
	require.Equal(t, []int{3}, struck)
	require.NotContains(t, text, "x\ny")
	f, err = Open(text, "auto", HeaderGuessed)
	require.NoError(t, err)
	require.Equal(t, ';', f.Separator)
	after := map[int]string{}
	for rows := f.Rows(); ; {
		row, err := rows.Next()
		if err != nil {
			break
		}
		after[row.Number] = row.Cell(0)
	}
	require.Equal(t, map[int]string{3: "1", 4: "2", 6: "3"}, before)
	require.Equal(t, map[int]string{4: "2", 6: "3"}, after)
	_, struck = f.Strike(func([]string) bool { return false })
	require.Empty(t, struck)
}
