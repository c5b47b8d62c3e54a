package person

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var latin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "d", "þ", "th", "ł", "l", "đ", "d", "ı", "i")

// Slug is the lower-case kebab of a name: letters and digits without accents, with - between words. A name without letters
// and digits keeps its characters.
func Slug(name string) string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(latin.Replace(strings.ToLower(name))))
	if s := strings.Join(strings.Fields(folded), "-"); s != "" {
		return s
	}
	return strings.Join(strings.Fields(name), "-")
}
