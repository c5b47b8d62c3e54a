package definition

import (
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"

	"frontdesk/libs/form"
)

// Why a submission is taken for spam.
const (
	SpamLinks  = "links"        // three links or more in one answer
	SpamMarkup = "link_markup"  // the markup of a link, in HTML or as forums write it
	SpamTest   = "test_string"  // GTUBE, which mail filters agree on for tests
	SpamName   = "link_in_name" // a link where a name is asked for
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
			return SpamTest
		case strings.Contains(text, "[url"), strings.Contains(text, "[link="), htmlLink.MatchString(text):
			return SpamMarkup
		case isName && hasLink(text):
			return SpamName
		case countLinks(text) > maxLinks:
			return SpamLinks
		}
	}
	return ""
}

// link finds an address: with a scheme, with // in front, with www, or a bare domain, which the second group has. What stands
// before an address tells one from a part of a word, and a domain from the end of an email address.
var link = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/"'<>]*|(?:^|[^\p{L}\p{N}:/])//[\p{L}\p{N}][\p{L}\p{N}.-]*|\bwww\.[\p{L}\p{N}][\p{L}\p{N}.-]*|` +
	`(@?)((?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]*\p{L})`)

// countLinks counts the addresses in lower-case text.
func countLinks(text string) (n int) {
	if !strings.Contains(text, ".") && !strings.Contains(text, "//") {
		return 0
	}
	for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
		if bare := m[4] >= 0; !bare || m[2] == m[3] && exists(text[m[4]:m[5]]) {
			n++
		}
	}
	return n
}

// hasLink reports whether a name contains an address. An abbreviation in front of a name, as in Dipl.Ing. or J.de Vries,
// is none.
func hasLink(name string) bool {
	for _, m := range link.FindAllStringSubmatchIndex(name, -1) {
		if m[4] < 0 {
			return true
		}
		domain := name[m[4]:m[5]]
		first, _, _ := strings.Cut(domain, ".")
		if m[2] == m[3] && len(first) > 2 && !strings.HasPrefix(name[m[5]:], ".") && exists(domain) {
			return true
		}
	}
	return false
}

// exists reports whether the end of a domain is one that registries give out, or one of those kept for examples. So the
// name of a file and a full stop without a blank behind it are no domains.
func exists(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	switch last {
	case "example", "test", "invalid":
		return true
	}
	_, registered := publicsuffix.PublicSuffix(last)
	return registered
}
