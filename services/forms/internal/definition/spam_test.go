package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/form"
)

func answers(t *testing.T, elements string, values map[string]any) form.Answers {
	t.Helper()
	var list []form.Element
	require.NoError(t, json.Unmarshal([]byte("["+elements+"]"), &list))
	a, err := form.Check(form.Ask(list, siteFields), values)
	require.NoError(t, err, values)
	return a
}

func TestSpam(t *testing.T) {
	t.Parallel()
	const elements = `{"id":"first","type":"field","target":"contact.first_name"},{"id":"last","type":"field","target":"contact.last_name"},
		{"id":"org","type":"field","target":"organization.name"},{"id":"story","type":"field","target":"submission.fields.story"},
		{"id":"free","type":"field","target":"submission.fields.free"},{"id":"gone","type":"field","target":"contact.fields.old"}`
	for _, c := range []struct{ field, text, reason string }{
		{"story", "See https://a.example, http://b.example and www.c.example", spamLinks},
		{"story", "HTTPS://a.example HTTPS://b.example HTTPS://c.example", spamLinks},
		{"story", "See https://www.a.example and https://www.b.example", ""},
		{"story", `<A HREF="https://a.example">x</A>`, spamMarkup},
		{"story", "<a\nclass=x\nhref=y>", spamMarkup},
		{"story", "[URL=https://a.example]x[/URL]", spamMarkup},
		{"free", "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X", spamTest},
		{"first", "Win www.a.example", spamName},
		{"last", "http://a.example", spamName},
		{"story", "An honest question about a<b and awww...", ""},
		{"org", "www.acme.example", ""},
		{"story", "pills.example, casino.example and then win.example/now", spamLinks},
		{"story", "Go to Spam.com or cheap-pills.co.uk, else bücher.de", spamLinks},
		{"story", "//a.example/x //b/y (//c)", spamLinks},
		{"story", "https://a.example,https://b.example,https://c.example", spamLinks},
		{"story", "ftp://a telnet://b whatever://c", spamLinks},
		{"story", "<a/href=//a.example>x</a>", spamMarkup},
		{"gone", "pills.example casino.example win.example", spamLinks},
		{"gone", `<a href="https://a.example">x</a>`, spamMarkup},
		{"first", "spam.com", spamName},
		{"last", "visit cheap-pills.example now", spamName},
		{"last", "//spam", spamName},
		{"story", "Mail ann@example.com, bob@example.com, and cas@example.org.", ""},
		{"story", "See plan.pdf, photo.jpg and notes.txt, i.e. e.g. and/or 1//2. Thanks.Bye.So long", ""},
		{"first", "Dr.med. Anna", ""},
		{"first", "Dipl.Ing. Anna", ""},
		{"last", "J.de Vries", ""},
		{"last", "St.John", ""},
	} {
		t.Run(c.field+" "+c.text, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{"free": "x"}
			values[c.field] = c.text
			require.Equal(t, c.reason, Spam(answers(t, elements, values)))
		})
	}
	links := "https://a.example https://b.example"
	require.Empty(t, Spam(answers(t, elements, map[string]any{"story": links, "free": links})), "two links in each of two answers are no sign")
}

func TestTheFormsOwnWordsAreNoSpam(t *testing.T) {
	t.Parallel()
	const words = "See https://a.example https://b.example https://c.example"
	require.Empty(t, Spam(answers(t, `{"id":"n","type":"field","target":"contact.last_name"},{"id":"c","type":"consent","text":"`+words+`"}`, map[string]any{"n": "x", "c": true})))
	require.Empty(t, Spam(answers(t, `{"id":"shop","type":"field","target":"submission.fields.shop","options":["`+words+`"]}`, map[string]any{"shop": words})))
}

func BenchmarkSpam(b *testing.B) {
	text := strings.Repeat("Good morning, I would like to know more. ", 5)
	a := form.Answers{Lines: []form.Line{{Target: form.TargetEmail, Kind: form.KindEmail, Text: "v0000001.12345678@example.com"}, {Kind: form.KindLongText, Text: text}}}
	b.ReportAllocs()
	for b.Loop() {
		Spam(a)
	}
}
