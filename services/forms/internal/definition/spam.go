package definition

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"frontdesk/libs/form"
)

// Why a submission is taken for spam.
const (
	spamLinks  = "links"        // three links or more in one answer, with a scheme, // or www; a bare domain is a word like others
	spamMarkup = "link_markup"  // the markup of a link, in HTML or as forums write it
	spamTest   = "test_string"  // GTUBE, which mail filters agree on for tests
	spamName   = "link_in_name" // a link where a name is asked for
	spamAdvert = "advert"       // a link of any kind beside the words of those who send spam, see pitch
)

const (
	gtube     = "xjs*c4jdbqadn1.nsbn3*2idnen*gtube-standard-anti-ube-test-email*c.34x"
	maxLinks  = 2
	maxReason = 200 // characters of a reason
)

var htmlLink = regexp.MustCompile(`<\s*a[\s/][^>]*href`)

// Spam gives the reason why the answers look like spam, or nothing: a rule and, behind a colon, the words that it found. It looks at every answer
// that a visitor types, also at one to a field that is gone; options and consents are the form's own words.
func Spam(a form.Answers) (reason string) {
	for _, line := range a.Lines {
		switch line.Kind {
		case form.KindConsent, form.KindDropdown, form.KindChoices:
			continue
		}
		text := strings.ToLower(line.Text)
		if strings.Contains(text, gtube) {
			return because(spamTest, "gtube")
		}
		if markup := markupIn(text); markup != "" {
			return because(spamMarkup, markup)
		}
		isName := line.Target == form.TargetFirstName || line.Target == form.TargetLastName
		if isName && hasLink(text) {
			return because(spamName, text)
		}
		var full []string
		linked := false
		for l := range links(text) {
			linked = true
			if l.domain == "" {
				full = append(full, l.text)
			}
		}
		if len(full) > maxLinks {
			return because(spamLinks, full...)
		}
		if linked {
			if words := pitch(text); words != nil {
				return because(spamAdvert, words...)
			}
		}
	}
	return ""
}

// markupIn is the first markup of a link in lower-case text; empty for none.
func markupIn(text string) string {
	for _, forum := range []string{"[url", "[link="} {
		if strings.Contains(text, forum) {
			return forum
		}
	}
	return htmlLink.FindString(text)
}

// because is a rule with the words that it found, on one line and cut to maxReason.
func because(rule string, words ...string) string {
	return Cut(rule+": "+strings.Join(strings.Fields(strings.Join(words, ", ")), " "), maxReason)
}

// link is an address in a text: with a scheme, with // or www in front, or a bare domain.
type link struct {
	text   string
	domain string // of a bare one, else empty
	dot    bool   // a full stop stands behind it
}

// links finds the addresses in lower-case text. It looks at each byte a fixed number of times: an expression with the same
// alternatives takes twenty times as long, for every submission.
func links(text string) iter.Seq[link] {
	return func(yield func(link) bool) {
		for i, rest := 0, text; ; {
			n := strings.Index(rest, "//")
			if n < 0 {
				break
			}
			i += n + 2
			rest = text[i:]
			if begins(text[:i-2], rest) && !yield(link{text: "//" + host(rest)}) {
				return
			}
		}
		for end := 0; end < len(text); {
			start := end + strings.IndexFunc(text[end:], isHost)
			if start < end {
				return
			}
			if end = start + strings.IndexFunc(text[start:], isNotHost); end < start {
				end = len(text)
			}
			if before := text[:start]; strings.HasSuffix(before, "//") || strings.HasSuffix(before, "@") {
				continue // counted already, or the end of an email address
			}
			for part := range strings.SplitSeq(text[start:end], "..") {
				a := link{text: part, domain: strings.Trim(part, ".-"), dot: strings.HasSuffix(part, ".")}
				www := strings.HasPrefix(a.domain, "www.")
				if www {
					a.domain = ""
				}
				if (www || exists(a.domain)) && !yield(a) {
					return
				}
			}
		}
	}
}

func isHost(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func isNotHost(r rune) bool { return !isHost(r) }

// begins reports whether // between these two texts begins an address, and is no part of a word such as and//or.
func begins(before, behind string) bool {
	if scheme, ok := strings.CutSuffix(before, ":"); ok {
		r, _ := utf8.DecodeLastRuneInString(scheme)
		return isHost(r)
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(behind)
	return before == "" && isHost(next) || before != "" && last != '/' && !isHost(last) && isHost(next)
}

// host is what a text begins with, up to the first character that no host has.
func host(text string) string {
	if end := strings.IndexFunc(text, isNotHost); end >= 0 {
		return text[:end]
	}
	return text
}

// hasLink reports whether a name contains an address. An abbreviation in front of a name, as in Dipl.Ing. or J.de Vries, is
// not an address.
func hasLink(name string) bool {
	for a := range links(name) {
		first, _, _ := strings.Cut(a.domain, ".")
		if a.domain == "" || len(first) > 2 && !a.dot {
			return true
		}
	}
	return false
}

// exists reports whether a domain has a name and an end that registries give out, or one of those kept for examples. So the
// name of a file and a full stop without a blank behind it are no domains.
func exists(domain string) bool {
	dot := strings.LastIndexByte(domain, '.')
	if dot < 1 {
		return false
	}
	last := domain[dot+1:]
	switch last {
	case "example", "test", "invalid":
		return true
	}
	_, registered := publicsuffix.PublicSuffix(last)
	return registered
}
