package definition

import (
	"regexp"
	"strings"
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

var htmlLink = regexp.MustCompile(`<\s*a\s[^>]*href`)

// Spam says why the answers look like spam, or nothing.
func Spam(a Answers) (reason string) {
	for _, line := range a.Lines {
		if line.Kind == KindConsent {
			continue
		}
		text := strings.ToLower(line.Text)
		links := countLinks(text)
		switch {
		case strings.Contains(text, gtube):
			return SpamTest
		case strings.Contains(text, "[url"), strings.Contains(text, "[link="), htmlLink.MatchString(text):
			return SpamMarkup
		case links > maxLinks:
			return SpamLinks
		case links > 0 && (line.Target == "contact.first_name" || line.Target == "contact.last_name"):
			return SpamName
		}
	}
	return ""
}

// countLinks counts addresses that start with http://, https:// or www. in lower-case text.
func countLinks(text string) int {
	n := strings.Count(text, "http://") + strings.Count(text, "https://")
	for rest := text; ; {
		i := strings.Index(rest, "www.")
		if i < 0 {
			return n
		}
		if !strings.HasSuffix(rest[:i], "://") {
			n++
		}
		rest = rest[i+len("www."):]
	}
}
