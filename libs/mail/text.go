package mail

import (
	"slices"
	"strings"

	"frontdesk/libs/lang"
)

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
