package letter_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
)

// nothing is what a business has written itself.
func nothing(string, any) {}

func values(t *web.Reader, kind string) letter.Values {
	start := time.Date(2026, 4, 3, 8, 0, 0, 0, time.UTC)
	v := letter.Values{
		letter.Greeting: letter.Hello(t, "Ada Visitor"), letter.Client: "Ada Visitor", letter.Business: "Salon Lumière", letter.Service: "Haircut", letter.Staff: "An Peeters",
		letter.When: "soon", letter.Place: "here", letter.Stays: t.T("stays"), letter.Statement: t.T("statement", "business", "Salon Lumière"),
		letter.Details: []mail.Row{{Label: t.T("what"), Value: "Haircut"}, {Label: t.T("when"), Value: t.Date(start) + ", " + t.Clock(start)}, {Label: t.T("with"), Value: "An Peeters"},
			{Label: t.T("where"), Value: ""}},
		letter.ServiceText: []string{"Bring a towel.\nRing twice.", "Until then."},
		letter.Manage:      mail.Link{Text: t.T("change"), URL: "https://salon.example/manage#token=abc"},
		letter.Confirm:     mail.Link{Text: t.T("confirm"), URL: "https://salon.example/marketing/confirm#token=abc"},
		letter.Unsubscribe: letter.Foot{Text: t.T("unsubscribe"), URL: "https://salon.example/marketing/unsubscribe#token=abc"},
	}
	if strings.HasSuffix(kind, "_link") {
		v[letter.Stays] = t.T("stays_link")
	}
	return v
}

func render(t *testing.T, r *web.Reader, kind string, c mail.Content) map[string]string {
	t.Helper()
	c.To, c.Business = mail.Person{Name: "Ada Visitor", Address: "ada@example.com"}, mail.Business{Name: "Salon Lumière"}
	if strings.HasPrefix(kind, "appointment.") {
		c.Footer = []string{r.T("why", "business", "Salon Lumière")}
	}
	m, err := mail.Render(c)
	require.NoError(t, err)
	return map[string]string{"subject": m.GetSubject(), "text": m.GetText(), "html": fmt.Sprintf("%x", sha256.Sum256([]byte(m.GetHtml())))}
}

func TestEveryStandardMailIsWhatItAlwaysWas(t *testing.T) {
	raw, err := os.ReadFile("testdata/standard.json")
	require.NoError(t, err)
	var want map[string]map[string]string
	require.NoError(t, json.Unmarshal(raw, &want))
	seen := map[string]bool{}
	for name, as := range want {
		kind, at, _ := strings.Cut(name, " ")
		language, country, _ := strings.Cut(at, "-")
		r := letter.Reader(language, country, time.FixedZone("", 7200))
		words := strings.TrimSuffix(kind, "_link")
		require.Equal(t, as, render(t, r, kind, letter.Write(nothing, r, words, values(r, kind))), name)
		seen[words+" "+language] = true
	}
	require.Len(t, seen, len(letter.Kinds)*len(lang.Languages), "every kind in every language")
}

func TestEveryStandardTemplateIsValidAndItsPlaceholdersHaveValues(t *testing.T) {
	for _, k := range letter.Kinds {
		for _, language := range lang.Languages {
			r := letter.Reader(language, "BE", time.UTC)
			require.NoError(t, k.Check(letter.Standard(r, k.Name)).Err(), k.Name)
			v := values(r, k.Name)
			for _, p := range k.Placeholders {
				require.Contains(t, v, p.Name)
				_, inline := v[p.Name].(string)
				require.Equal(t, p.Alone, !inline, p.Name)
			}
		}
	}
}

func TestATemplateIsCheckedAndTheProblemNamesThePlaceholder(t *testing.T) {
	k, _ := letter.Find(proto.KindAppointmentBooked)
	for name, c := range map[string]struct {
		t           letter.Template
		field, says string
	}{
		"no subject":                  {letter.Template{Subject: " ", Body: "{manage}"}, "subject", ""},
		"no body":                     {letter.Template{Subject: "Hello", Body: "\n"}, "body", ""},
		"unknown in the subject":      {letter.Template{Subject: "Hello {nobody}", Body: "{manage}"}, "subject", "{nobody}"},
		"unknown in the body":         {letter.Template{Subject: "Hello", Body: "Hello {Client}\n\n{manage}"}, "body", "{Client}"},
		"of another kind":             {letter.Template{Subject: "Hello", Body: "{confirm}\n\n{manage}"}, "body", "{confirm}"},
		"blanks in the braces":        {letter.Template{Subject: "Hello", Body: "{ client }\n\n{manage}"}, "body", "{ client }"},
		"facts in the subject":        {letter.Template{Subject: "{details}", Body: "{manage}"}, "subject", "{details}"},
		"a link within a line":        {letter.Template{Subject: "Hello", Body: "Here: {manage}"}, "body", "{manage}"},
		"no link":                     {letter.Template{Subject: "Hello", Body: "Goodbye"}, "body", "{manage}"},
		"a link in the subject alone": {letter.Template{Subject: "{manage}", Body: "Goodbye"}, "body", "{manage}"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := k.Check(c.t)
			require.Contains(t, wrong, c.field)
			require.Contains(t, fmt.Sprint(wrong[c.field]), c.says)
		})
	}
	require.NoError(t, k.Check(letter.Template{Subject: "{service} for {client}", Body: "Dear {client},\n  {manage}  \nBye"}).Err(), "a link may stand on its line within a paragraph")
	confirm, _ := letter.Find(letter.MarketingConfirm)
	require.Contains(t, fmt.Sprint(confirm.Check(letter.Template{Subject: "Hello", Body: "{confirm}\n{unsubscribe}"})["body"]), "{statement}", "the words that are agreed to")
}

func TestOwnWordsTakeThePlaceOfTheStandardInTheirLanguageOnly(t *testing.T) {
	own := func(key string, v any) {
		require.Equal(t, "mail-templates/appointment.cancelled", key)
		require.NoError(t, json.Unmarshal([]byte(`{"nl": {"subject": "Weg: {service}", "body": "Dag {client}\nJammer.\n{details}\nTot later\n\n\n{greeting}"}}`), v))
	}
	r := letter.Reader("nl", "BE", time.UTC)
	v := values(r, "")
	v[letter.Client] = "{service}\r\nBcc: eve@example.com <script>"
	c := letter.Write(own, r, proto.KindAppointmentCancelled, v)
	c.To, c.Business = mail.Person{Address: "ada@example.com"}, mail.Business{Name: "Salon"}
	m, err := mail.Render(c)
	require.NoError(t, err)
	require.Equal(t, "Weg: Haircut", m.GetSubject())
	require.Equal(t, "Salon\n\nDag {service}\nBcc: eve@example.com <script>\nJammer.\n\nWat: Haircut\nWanneer: vrijdag 3 april 2026, 08:00\nMet: An Peeters\n\nTot later\n\nDag Ada Visitor,\n", m.GetText(),
		"a value is not looked through for placeholders")
	require.NotContains(t, m.GetHtml(), "<script>")
	english := letter.Write(own, letter.Reader("en", "BE", time.UTC), proto.KindAppointmentCancelled, v)
	require.True(t, slices.ContainsFunc(english.Body, func(b mail.Block) bool { return b.Text == "The appointment below has been cancelled." }))
}
