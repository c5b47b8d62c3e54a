// Package person holds the rules for what people and organizations are written with: phone numbers, VAT
// numbers, websites, countries and names. It keeps no state.
//
// Every function takes what somebody typed and gives the form that is stored. Each is idempotent:
// a stored form is stored unchanged. Errors are phrases such as "must be a country code", to be
// put behind the name of the parameter.
package person

import (
	"regexp"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"frontdesk/libs/address"
)

var (
	// A national number as people type it; anything with a letter in it is text about a number.
	national      = regexp.MustCompile(`^(0|\(0[0-9])[0-9 ().\-/]*$`)
	international = regexp.MustCompile(`^00[ .\-/]*([1-9].*)$`)
	// A zero that is dialled inside the country only, as in +32 (0)9 123 45 67.
	inside = regexp.MustCompile(`^(\+[1-9][0-9]{0,2})[ .\-/]*\(0\)[ .\-/]*([1-9])`)
)

// Phone is the stored form of a phone number. A number that starts with 00 starts with + instead. One
// that starts with a single 0, also in a bracket, becomes E.164 with the calling code of country (ISO alpha-2, empty for
// none), when it can be a number of that country by its length. Behind a calling code a zero in brackets goes, but for Italy's, which is
// always dialled. Any other stays as typed, trimmed.
func Phone(typed, country string) string {
	typed = line(address.Number(typed))
	if rest := international.FindStringSubmatch(typed); rest != nil {
		typed = "+" + rest[1]
	}
	if m := inside.FindStringSubmatch(typed); m != nil && m[1] != "+39" && m[1] != "+378" {
		return inside.ReplaceAllString(typed, "$1 $2")
	}
	if country == "" || len(typed) > 50 || !national.MatchString(typed) {
		return typed
	}
	number, err := phonenumbers.Parse(typed, country)
	if err != nil || !phonenumbers.IsPossibleNumber(number) {
		return typed
	}
	return phonenumbers.Format(number, phonenumbers.E164)
}

// line is s on one line: spaces of every kind and control characters become single blanks, none of
// them at the ends, and characters that nobody sees are gone. A letter and its accent are one character: files of Macs have two.
func line(s string) string {
	return norm.NFC.String(strings.Join(strings.FieldsFunc(visible(s), isBlank), " "))
}
