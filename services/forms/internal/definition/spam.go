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
	spamLinks  = "links"        // three links or more in one answer
	spamMarkup = "link_markup"  // the markup of a link, in HTML or as forums write it
	spamTest   = "test_string"  // GTUBE, which mail filters agree on for tests
	spamName   = "link_in_name" // a link where a name is asked for
)

const (
	gtube    = "xjs*c4jdbqadn1.nsbn3*2idnen*gtube-standard-anti-ube-test-email*c.34x"
	maxLinks = 2
)

var htmlLink = regexp.MustCompile(`<\s*a[\s/][^>]*href`)

// Spam gives the reason why the answers look like spam, or nothing. It looks at every answer that a visitor types, also at
// one to a field that is gone; options and consents are the form's own words.
func Spam(a form.Answers) (reason string) {
	for _, line := range a.Lines {
		switch line.Kind {
		case form.KindConsent, form.KindDropdown, form.KindChoices:
			continue
		}
		text := strings.ToLower(line.Text)
		isName := line.Target == form.TargetFirstName || line.Target == form.TargetLastName
		switch {
		case strings.Contains(text, gtube):
			return spamTest
		case strings.Contains(text, "[url"), strings.Contains(text, "[link="), htmlLink.MatchString(text):
			return spamMarkup
		case isName && hasLink(text):
			return spamName
		case countLinks(text) > maxLinks:
			return spamLinks
		}
	}
	return ""
}

// link is an address in a text: with a scheme, with // or www in front, or a bare domain.
type link struct {
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
			if begins(text[:i-2], rest) && !yield(link{}) {
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
				a := link{domain: strings.Trim(part, ".-"), dot: strings.HasSuffix(part, ".")}
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

// countLinks counts the addresses in lower-case text.
func countLinks(text string) (n int) {
	for range links(text) {
		n++
	}
	return n
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
