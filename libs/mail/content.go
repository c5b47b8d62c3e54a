// Package mail renders the branded mail with its plain-text twin, and hands mails to an SMTP server.
//
// A service fills in a Content, renders it and puts the result into its outbox (db.Tx.Mail), in the
// transaction of the change that the mail is about. The settings service alone sends, with Send.
package mail

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"frontdesk/libs/ics"
)

// Content is what a mail says. All text is plain: both forms of the mail show it as it stands, and
// line breaks, control characters and marks that turn the direction of writing are taken out of it.
// Paragraphs may keep line breaks.
type Content struct {
	// Kind says what the mail is for, such as appointment.confirmed. Administrators see it.
	Kind string
	To   Person
	// Business heads the mail.
	Business Business
	Subject  string
	// Preview is what an inbox shows beside the subject; the first paragraph when empty.
	Preview    string
	Greeting   string
	Paragraphs []string
	Rows       []Row
	Buttons    []Link
	// Closing are the paragraphs after the buttons.
	Closing []string
	// Body are the parts between the subject and the small print, in turn. Who leaves it out gets greeting, paragraphs, rows, buttons and closing.
	Body []Block
	// Footer is the small print: why the mail came, where the business is.
	Footer      []string
	FooterLinks []Link
	// ReplyTo is a bare address; the site's own when empty.
	ReplyTo string
	// Calendar is the file of an appointment; nil for none.
	Calendar *Calendar
	// UnsubscribeURL makes it a marketing mail. A mail program posts to it without showing a page (RFC
	// 8058), so it carries its token where a server can see it.
	UnsubscribeURL string
	// NotBefore holds the mail back until then; zero for at once.
	NotBefore time.Time
	// Language of the text, "en" when empty.
	Language string
}

// ByHand is the kind of mails that a person wrote.
const ByHand = "contact.mail"

// Person is someone a mail goes to. Address is bare, Name may be empty.
type Person struct{ Name, Address string }

// Business is who a mail comes from. Logo is the absolute web address of a picture, "" for none; it is the same in every mail, so a
// request for it does not identify the reader.
type Business struct{ Name, Logo string }

// Block is one part of a body: a paragraph, facts, or a button.
type Block struct {
	Text   string
	Rows   []Row
	Button *Link
	// Second is a button that is not the first.
	Second bool
}

// Row is a fact: "When", "Friday 3 April at 10:00".
type Row struct{ Label, Value string }

// Link is a button or a link in the footer, to an absolute http or https address.
type Link struct{ Text, URL string }

// Calendar is a calendar file and the method that it asks for.
type Calendar struct {
	File   []byte
	Method ics.Method
}

// ErrContent is the error of a mail that can never be sent as it is.
var ErrContent = errors.New("mail: not fit to send")

// clean returns the content with every text made safe, and empty ones left out.
func (c Content) clean() Content {
	c.Subject, c.Preview, c.Greeting = cut(line(c.Subject), 200), cut(line(c.Preview), 200), line(c.Greeting)
	c.Business.Name, c.To.Name, c.Kind = cut(line(c.Business.Name), 190), cut(line(c.To.Name), 190), line(c.Kind)
	c.Paragraphs, c.Footer = paragraphs(c.Paragraphs), paragraphs(c.Footer)
	if c.Preview == "" && len(c.Paragraphs) > 0 {
		c.Preview = cut(line(c.Paragraphs[0]), 200)
	}
	c.Language = cmp.Or(line(c.Language), "en")
	c.Body = c.blocks()
	c.FooterLinks = slices.Clone(c.FooterLinks)
	for i, l := range c.FooterLinks {
		c.FooterLinks[i].Text = line(l.Text)
	}
	return c
}

// blocks are the parts of the body, cleaned.
func (c Content) blocks() (out []Block) {
	all := c.Body
	if all == nil {
		for _, text := range slices.Concat([]string{c.Greeting}, c.Paragraphs) {
			all = append(all, Block{Text: text})
		}
		all = append(all, Block{Rows: c.Rows})
		for _, l := range c.Buttons {
			all = append(all, Block{Button: &l})
		}
		for _, text := range c.Closing {
			all = append(all, Block{Text: text})
		}
	}
	buttons := 0
	for _, b := range all {
		for _, text := range paragraphs([]string{b.Text}) {
			out = append(out, Block{Text: text})
		}
		var rows []Row
		for _, r := range b.Rows {
			if r = (Row{line(r.Label), line(r.Value)}); r.Value != "" {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			out = append(out, Block{Rows: rows})
		}
		if b.Button != nil {
			out = append(out, Block{Button: &Link{line(b.Button.Text), b.Button.URL}, Second: buttons > 0})
			buttons++
		}
	}
	return out
}

func paragraphs(in []string) (out []string) {
	for _, p := range in {
		var kept []string
		for l := range strings.SplitSeq(strings.ReplaceAll(p, "\r\n", "\n"), "\n") {
			kept = append(kept, line(l))
		}
		if p = strings.TrimSpace(strings.Join(kept, "\n")); p != "" {
			out = append(out, p)
		}
	}
	return out
}

var linkParts = regexp.MustCompile(`(://|[.。．｡])(\pL{2}|[/\pN])`)

// Unlinked is a text that a stranger typed, such as a name, with which no mail program makes a link: a space stands behind
// what would join a host or an address. It is for mails that go to an address which the same stranger may have typed.
func Unlinked(s string) string {
	for {
		next := linkParts.ReplaceAllString(s, "$1 $2")
		if next == s {
			return s
		}
		s = next
	}
}

// line is s on one line.
func line(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))), " ")
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}

// bare checks a single address without a name.
func bare(address string) error {
	a, err := mail.ParseAddress(address)
	if err != nil || a.Name != "" || a.Address != address || len(address) > 254 || line(address) != address {
		return fmt.Errorf("%w: no email address", ErrContent)
	}
	return nil
}

// web checks a web address and returns it fit for a header, an attribute and a line of text.
func web(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", fmt.Errorf("%w: no web address", ErrContent)
	}
	return u.String(), nil
}
