package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"frontdesk/libs/lang"

	"github.com/google/uuid"

	"frontdesk/libs/ics"
	"frontdesk/proto"
)

//go:embed page.html
var pageSource string

// page is the mail as HTML. It loads nothing but the logo.
var page = template.Must(template.New("mail").Funcs(template.FuncMap{
	"lines": func(s string) []string { return strings.Split(s, "\n") },
}).Parse(pageSource))

// methods are those of the calendar files that a mail can carry.
var methods = []ics.Method{ics.Request, ics.Cancel, ics.Publish}

// Render makes the message, under a new id. Nothing in the content can add a header, a recipient or
// markup. The error is ErrContent with what is wrong: an invalid address, a link that leads
// nowhere, no subject.
func Render(c Content) (*proto.Mail, error) {
	c = c.clean()
	if c.Subject == "" || c.Business.Name == "" || c.Kind == "" {
		return nil, fmt.Errorf("%w: it needs a kind, a subject and a business", ErrContent)
	}
	if err := bare(c.To.Address); err != nil {
		return nil, fmt.Errorf("recipient: %w", err)
	}
	if c.ReplyTo != "" {
		if err := bare(c.ReplyTo); err != nil {
			return nil, fmt.Errorf("reply address: %w", err)
		}
	}
	all := make([]*Link, 0, len(c.FooterLinks)+1)
	for _, b := range c.Body {
		if b.Button != nil {
			all = append(all, b.Button)
		}
	}
	for i := range c.FooterLinks {
		all = append(all, &c.FooterLinks[i])
	}
	for _, l := range all {
		address, err := web(l.URL)
		if err != nil || l.Text == "" {
			return nil, fmt.Errorf("%w: the link %q has no text or no web address", ErrContent, l.Text)
		}
		l.URL = address
	}
	for what, address := range map[string]*string{"logo": &c.Business.Logo, "unsubscribe": &c.UnsubscribeURL} {
		if *address == "" {
			continue
		}
		var err error
		if *address, err = web(*address); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}

	var html bytes.Buffer
	if err := page.Execute(&html, c); err != nil {
		return nil, fmt.Errorf("mail: render: %w", err)
	}
	m := &proto.Mail{
		Id: uuid.Must(uuid.NewV7()).String(), Kind: c.Kind,
		To: c.To.Address, ToName: c.To.Name, ReplyTo: c.ReplyTo,
		Subject: c.Subject, Text: c.text(), Html: html.String(),
		UnsubscribeUrl: c.UnsubscribeURL,
	}
	if c.Calendar != nil {
		if !slices.Contains(methods, c.Calendar.Method) || len(c.Calendar.File) == 0 {
			return nil, fmt.Errorf("%w: calendar file", ErrContent)
		}
		m.Calendar, m.CalendarMethod = c.Calendar.File, string(c.Calendar.Method)
	}
	if !c.NotBefore.IsZero() {
		m.NotBefore = c.NotBefore.Unix()
	}
	return m, nil
}

// text is the plain twin: the same words in the same order, and each link's address under its text.
func (c Content) text() string {
	colon := lang.Colon(c.Language)
	parts := []string{c.Business.Name}
	add := func(p ...string) { parts = append(parts, p...) }
	for _, b := range c.Body {
		switch {
		case b.Button != nil:
			add(b.Button.Text + colon + "\n" + b.Button.URL)
		case len(b.Rows) > 0:
			rows := make([]string, len(b.Rows))
			for i, r := range b.Rows {
				rows[i] = r.Label + colon + " " + r.Value
			}
			add(strings.Join(rows, "\n"))
		default:
			add(b.Text)
		}
	}
	foot := slices.Clone(c.Footer)
	for _, l := range c.FooterLinks {
		foot = append(foot, l.Text+colon+" "+l.URL)
	}
	if len(foot) > 0 {
		// A line of two dashes and a space begins what mail programs fold away.
		add("-- \n" + strings.Join(foot, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}
