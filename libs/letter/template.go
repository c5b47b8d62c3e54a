package letter

import (
	"regexp"
	"strings"

	"frontdesk/libs/fault"
	"frontdesk/libs/mail"
)

// Template is the words of a mail.
type Template struct {
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// named finds placeholders, also those that cannot be one because of how they are written.
var named = regexp.MustCompile(`\{([^{}\n]*)\}`)

// Check says what is wrong with a template for mails of a kind: nothing, no words, a placeholder that they do not have, one that does not stand
// where it has to, or one that is missing.
func (k Kind) Check(t Template) fault.Problems {
	wrong := fault.Problems{}
	if strings.TrimSpace(t.Subject) == "" {
		wrong.Add("subject", fault.Empty())
	}
	if strings.TrimSpace(t.Body) == "" {
		wrong.Add("body", fault.Empty())
	}
	for _, m := range named.FindAllStringSubmatch(t.Subject, -1) {
		switch p, ok := k.placeholder(m[1]); {
		case !ok:
			wrong.Add("subject", unknown(m[1]))
		case p.Alone:
			wrong.Add("subject", fault.NewProblem("placeholder_place", "cannot have {"+p.Name+"}, which stands in the body only", "name", p.Name))
		}
	}
	have := map[string]bool{}
	for line := range strings.SplitSeq(t.Body, "\n") {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			p, ok := k.placeholder(m[1])
			if !ok {
				wrong.Add("body", unknown(m[1]))
				continue
			}
			have[p.Name] = true
			if p.Alone && strings.TrimSpace(line) != m[0] {
				wrong.Add("body", fault.NewProblem("placeholder_place", "must have {"+p.Name+"} on a line of its own", "name", p.Name))
			}
		}
	}
	for _, p := range k.Placeholders {
		if p.Needed && !have[p.Name] {
			wrong.Add("body", fault.NewProblem("placeholder_missing", "must have {"+p.Name+"}", "name", p.Name))
		}
	}
	return wrong
}

func unknown(name string) fault.Problem {
	return fault.NewProblem("placeholder_unknown", "has the placeholder {"+name+"}, which this mail does not have", "name", name)
}

// Values are what stands in place of the placeholders, by their names: a string within a line; []string (paragraphs), []mail.Row (facts),
// mail.Link (a button) or Foot in place of a line. A name without a value leaves nothing.
type Values map[string]any

// Foot is a link in the small print.
type Foot mail.Link

// fill replaces the placeholders of a text once: a value that has braces stays as it is.
func (v Values) fill(text string) string {
	return named.ReplaceAllStringFunc(text, func(p string) string {
		value, _ := v[strings.Trim(p, "{}")].(string)
		return value
	})
}

var emptyLines = regexp.MustCompile(`\n[ \t]*\n\s*`)

// Paragraphs are those of a text in which an empty line begins one.
func Paragraphs(text string) []string {
	if text == "" {
		return nil
	}
	return emptyLines.Split(strings.ReplaceAll(text, "\r\n", "\n"), -1)
}

// Fill makes the subject and the body of a mail of a template. An inbox shows the first paragraph beside the subject that is no greeting.
func (t Template) Fill(v Values) mail.Content {
	c := mail.Content{Subject: v.fill(t.Subject)}
	for _, paragraph := range Paragraphs(t.Body) {
		var text []string
		end := func() {
			if filled := strings.TrimSpace(v.fill(strings.Join(text, "\n"))); filled != "" {
				c.Body = append(c.Body, mail.Block{Text: filled})
				if c.Preview == "" && text[0] != "{"+Greeting+"}" {
					c.Preview = filled
				}
			}
			text = nil
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			line = strings.TrimSpace(line)
			name, alone := strings.CutPrefix(line, "{")
			name, ends := strings.CutSuffix(name, "}")
			value := v[name]
			if _, inline := value.(string); !alone || !ends || value == nil && strings.Contains(name, "{") || inline {
				text = append(text, line)
				continue
			}
			end()
			switch value := value.(type) {
			case []string:
				for _, one := range value {
					c.Body = append(c.Body, mail.Block{Text: one})
				}
			case []mail.Row:
				c.Body = append(c.Body, mail.Block{Rows: value})
			case mail.Link:
				c.Body = append(c.Body, mail.Block{Button: &value})
			case Foot:
				c.FooterLinks = append(c.FooterLinks, mail.Link(value))
			}
		}
		end()
	}
	return c
}
