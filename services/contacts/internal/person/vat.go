package person

import (
	"strings"
	"unicode"
)

// VAT is the stored form of a VAT number: upper case, without spaces and dots. Nothing is refused: a
// number is also kept when its check digits do not fit, as the team wrote it down.
func VAT(typed string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '.' || isBlank(r) {
			return -1
		}
		return r
	}, typed))
}

var swissVAT = []string{"MWST", "TVA", "IVA"}

// VATKey is what makes two stored VAT numbers the same: letters and digits only, and for Switzerland
// without the word for the tax behind it. Empty when the number has no digit.
func VATKey(stored string) string {
	key := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return -1
	}, stored)
	if !strings.ContainsFunc(key, unicode.IsDigit) {
		return ""
	}
	if strings.HasPrefix(key, "CHE") {
		for _, word := range swissVAT {
			key = strings.TrimSuffix(key, word)
		}
	}
	return key
}
