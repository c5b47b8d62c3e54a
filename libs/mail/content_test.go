package mail_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/ics"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

var update = flag.Bool("update", false, "write the golden files anew")

func confirmation() mail.Content {
	return mail.Content{
		Kind: proto.KindAppointmentConfirmed, To: mail.Person{Name: "Ann Peeters", Address: "ann@example.com"},
		Business: mail.Business{Name: "Salon Lumière"}, Subject: "Your appointment is confirmed", Greeting: "Hello Ann,",
		Paragraphs: []string{"We look forward to seeing you.", "Two things:\nbring a towel,\nring twice."},
		Rows:       []mail.Row{{"What", "Haircut"}, {"When", "Friday 3 April 2026, 10:00"}, {"Where", ""}},
		Buttons: []mail.Link{
			{"Change or cancel", "https://salon.example/manage#token=abc_DEF-123"},
			{"Join online", "https://meet.example.com/room?a=1&b=2"},
		},
		Closing:     []string{"You can cancel until 24 hours before the start."},
		Footer:      []string{"Salon Lumière, Rue de la Loi 1, 1000 Brussels", "You get this mail because you booked with us."},
		FooterLinks: []mail.Link{{"Our website", "https://salon.example/"}},
		ReplyTo:     "salon@example.com",
		NotBefore:   time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC),
		Calendar:    &mail.Calendar{File: []byte("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"), Method: ics.Request},
	}
}

func TestTheMailLooksLikeItsGoldenFiles(t *testing.T) {
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	for file, got := range map[string]string{"testdata/confirmation.html": m.Html, "testdata/confirmation.txt": m.Text} {
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "run with -update when the change is meant")
	}
}

func TestTheMessageCarriesWhatTheSenderNeeds(t *testing.T) {
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f-]{36}$`, m.Id)
	require.Equal(t, "ann@example.com", m.To)
	require.Equal(t, "Ann Peeters", m.ToName)
	require.Equal(t, "salon@example.com", m.ReplyTo)
	require.Equal(t, proto.KindAppointmentConfirmed, m.Kind)
	require.Equal(t, "REQUEST", m.CalendarMethod)
	require.Equal(t, int64(1775030400), m.NotBefore)
	again, err := mail.Render(confirmation())
	require.NoError(t, err)
	require.NotEqual(t, m.Id, again.Id)
}

func TestBothFormsSayTheSame(t *testing.T) {
	c := confirmation()
	m, err := mail.Render(c)
	require.NoError(t, err)
	said := []string{c.Business.Name, c.Subject, c.Greeting, "bring a towel,", "ring twice.", c.Closing[0]}
	said = append(said, c.Footer...)
	for _, r := range c.Rows[:2] {
		said = append(said, r.Label, r.Value)
	}
	for _, l := range append(c.Buttons, c.FooterLinks...) {
		said = append(said, l.Text, strings.ReplaceAll(l.URL, "&", "&amp;"))
	}
	for _, s := range said {
		require.Contains(t, m.Html, s)
		if s != c.Subject {
			require.Contains(t, m.Text, strings.ReplaceAll(s, "&amp;", "&"))
		}
	}
	require.NotContains(t, m.Text, "Where", "a fact without a value is left out")
	require.NotContains(t, m.Html, "Where")
}

func TestTheHTMLLoadsNothingAndSaysItsLanguage(t *testing.T) {
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	require.Contains(t, m.Html, `<html lang="en">`)
	require.NotRegexp(t, `(?i)<(img|link|script|iframe|object|form|input|base)\b|url\(|@import|@font-face|\son[a-z]+=|src=`, m.Html)
	for _, href := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(m.Html, -1) {
		require.Regexp(t, `^https://(salon\.example|meet\.example\.com)/`, href[1])
	}
}

func TestTheLogoHeadsTheMailInPlaceOfTheName(t *testing.T) {
	c := confirmation()
	before, err := mail.Render(c)
	require.NoError(t, err)
	c.Business = mail.Business{Name: `Tom & "Co"`, Logo: "https://salon.example/_ui/settings/media/1-abc_DEF-1234.png"}
	m, err := mail.Render(c)
	require.NoError(t, err)
	require.Regexp(t, `<img src="https://salon\.example/_ui/settings/media/1-abc_DEF-1234\.png" alt="Tom &amp; &#34;Co&#34;" `, m.Html)
	require.Len(t, regexp.MustCompile(`(?i)<img|src=|url\(`).FindAllString(m.Html, -1), 2, "the logo is all that the mail loads")
	require.True(t, strings.HasPrefix(m.Text, "Tom & \"Co\"\n\n"))
	require.NotContains(t, m.Text, "logo")
	require.NotContains(t, before.Html, `class="logo`)
}

const hostile = "x\r\nBcc: eve@example.com\r\n\r\n<script>alert(1)</script>\"><img src=x onerror=1> \u202egnp.exe\x00\u2028-- \xff {{.}}"

func TestHostileTextAddsNeitherHeaderNorMarkup(t *testing.T) {
	c := confirmation()
	c.Kind, c.To.Name, c.Business.Name, c.Subject, c.Preview, c.Greeting = hostile, hostile, hostile, hostile, hostile, hostile
	c.Paragraphs, c.Closing, c.Footer = []string{hostile}, []string{hostile}, []string{hostile}
	c.Rows = []mail.Row{{hostile, hostile}}
	c.Buttons[0].Text, c.FooterLinks[0].Text, c.Language = hostile, hostile, hostile
	m, err := mail.Render(c)
	require.NoError(t, err)

	for _, header := range []string{m.Subject, m.ToName, m.To, m.ReplyTo, m.Kind} {
		require.NotRegexp(t, `[\x00-\x1f\x7f\x{2028}\x{202e}]`, header)
	}
	require.NotRegexp(t, `(?i)<script|<img|\x{202e}|\x00`, m.Html)
	clean, err := mail.Render(confirmation())
	require.NoError(t, err)
	tags := regexp.MustCompile(`<[a-z/]+`)
	for _, tag := range []string{"<a", "<h1", "<table", "<td", "<th", "<tr", "<title", "<html", "<body", "<div", "<style"} {
		require.Equal(t, count(tags.FindAllString(clean.Html, -1), tag) > 0, count(tags.FindAllString(m.Html, -1), tag) > 0, tag)
	}
	require.Equal(t, 3, count(tags.FindAllString(m.Html, -1), "<a"))
	require.Contains(t, m.Text, hostileLine(t), "the words themselves stay")
	require.NotRegexp(t, `[\x00\x{202e}\r]`, m.Text)
	require.NotRegexp(t, `(?m)^Bcc: eve@example.com\s*$[\s\S]*^Subject`, m.Text)
}

func hostileLine(t *testing.T) string {
	t.Helper()
	return `x Bcc: eve@example.com <script>alert(1)</script>"><img src=x onerror=1> gnp.exe -- � {{.}}`
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

func TestLongNamesAreCut(t *testing.T) {
	c := confirmation()
	c.Subject, c.To.Name = strings.Repeat("long ", 500), strings.Repeat("é", 500)
	m, err := mail.Render(c)
	require.NoError(t, err)
	require.LessOrEqual(t, len([]rune(m.Subject)), 200)
	require.True(t, strings.HasSuffix(m.Subject, "…"))
	require.LessOrEqual(t, len([]rune(m.ToName)), 190)
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*mail.Content){
		"no recipient":               func(c *mail.Content) { c.To.Address = "" },
		"two recipients":             func(c *mail.Content) { c.To.Address = "a@example.com, b@example.com" },
		"recipient with a line":      func(c *mail.Content) { c.To.Address = "a@example.com\r\nBcc: b@example.com" },
		"recipient with a name":      func(c *mail.Content) { c.To.Address = "Ann <a@example.com>" },
		"recipient too long":         func(c *mail.Content) { c.To.Address = strings.Repeat("a", 250) + "@example.com" },
		"no address to reply to":     func(c *mail.Content) { c.ReplyTo = "salon" },
		"reply address with a line":  func(c *mail.Content) { c.ReplyTo = "a@example.com\nX: y" },
		"no subject":                 func(c *mail.Content) { c.Subject = " \r\n" },
		"no business":                func(c *mail.Content) { c.Business.Name = "" },
		"no kind":                    func(c *mail.Content) { c.Kind = "" },
		"logo without a host":        func(c *mail.Content) { c.Business.Logo = "/logo.png" },
		"logo in the mail":           func(c *mail.Content) { c.Business.Logo = "data:image/png;base64,x" },
		"script link":                func(c *mail.Content) { c.Buttons[0].URL = "javascript:alert(1)" },
		"relative link":              func(c *mail.Content) { c.Buttons[0].URL = "/manage" },
		"link with a line":           func(c *mail.Content) { c.Buttons[0].URL = "https://example.com/\r\nX" },
		"link without text":          func(c *mail.Content) { c.Buttons[0].Text = "" },
		"footer link to data":        func(c *mail.Content) { c.FooterLinks[0].URL = "data:text/html,x" },
		"unsubscribe to nowhere":     func(c *mail.Content) { c.UnsubscribeURL = "mailto:x@example.com" },
		"empty calendar":             func(c *mail.Content) { c.Calendar.File = nil },
		"calendar of another method": func(c *mail.Content) { c.Calendar.Method = "REPLY" },
	} {
		c := confirmation()
		spoil(&c)
		_, err := mail.Render(c)
		require.ErrorIs(t, err, mail.ErrContent, name)
	}
}

func FuzzRender(f *testing.F) {
	f.Add(hostile, "https://example.com/#token=1", "ann@example.com")
	f.Fuzz(func(t *testing.T, words, link, address string) {
		c := confirmation()
		c.Subject, c.Greeting, c.To = words, words, mail.Person{Name: words, Address: address}
		c.Paragraphs, c.Rows = []string{words}, []mail.Row{{words, words}}
		c.Buttons = []mail.Link{{words, link}}
		m, err := mail.Render(c)
		if err != nil {
			return
		}
		for _, header := range []string{m.Subject, m.ToName, m.To} {
			require.NotRegexp(t, `[\x00-\x1f\x7f]`, header)
		}
		require.Equal(t, 2, strings.Count(m.Html, "<a href=\"http"))
		require.Equal(t, 1, strings.Count(m.Html, "<h1"))
	})
}

func TestANameThatSomebodyTypedMakesNoLink(t *testing.T) {
	for name, want := range map[string]string{
		"Ada":                        "Ada",
		"J.P. Morgan":                "J.P. Morgan",
		"Dr. Ada van 't Hof-O’Neill": "Dr. Ada van 't Hof-O’Neill",
		"https://evil.example/win":   "https:// evil. example/win",
		"www.evil.example":           "www. evil. example",
		"pay at evil.example now":    "pay at evil. example now",
		"me@evil.example":            "me@evil. example",
		"evil。example":               "evil。 example",
		"http://192.0.2.1/":          "http:// 192. 0. 2. 1/",
		"a.bc.de":                    "a. bc. de",
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, mail.Unlinked(name)) })
	}
}
