// Package lang chooses the language that a visitor reads.
package lang

import "golang.org/x/text/language"

// Languages of the pages; the first is what everybody else gets.
var Languages = []string{"en", "nl", "fr", "de"}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Dutch, language.French, language.German})

// Preferred is the language of ours that an Accept-Language header asks for.
func Preferred(header string) string {
	if len(header) > 500 {
		header = ""
	}
	tags, _, err := language.ParseAcceptLanguage(header)
	_, i, confidence := matcher.Match(tags...)
	if err != nil || confidence == language.No {
		return Languages[0]
	}
	return Languages[i]
}

// OfCountry returns the language for people whose own language is unknown, by the country of the business: an ISO code in
// upper case.
func OfCountry(country string) string {
	switch country {
	case "BE", "NL":
		return "nl"
	case "FR":
		return "fr"
	case "DE", "AT", "CH":
		return "de"
	}
	return Languages[0]
}

// Colon stands behind the name of a value; in French with a space before it.
func Colon(language string) string {
	if language == "fr" {
		return " :"
	}
	return ":"
}
