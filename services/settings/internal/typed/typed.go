// Package typed checks what people have typed, such as an email address, and gives it the form in which it is stored.
package typed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
)

// Email gives the stored form of an address that a person typed, or says what is wrong with it: it cannot be empty.
func Email(typed string) (email string, wrong fault.Problem) {
	email, err := address.Parse(typed)
	if err != nil || email == "" {
		return "", fault.Email()
	}
	return email, wrong
}

// Website gives the stored form of a web address, with https:// where it names no scheme, or says what is wrong with it.
func Website(typed string) (site string, wrong fault.Problem) {
	site, ok := form.Website(typed, "http", "https")
	switch {
	case !ok:
		return "", fault.Website()
	case utf8.RuneCountInString(site) > longestWebsite:
		return "", fault.TooLong(longestWebsite)
	}
	return site, wrong
}

// longestWebsite in characters.
const longestWebsite = 2048

// Line says what is wrong with a text of one line, which may be empty.
func Line(text string) fault.Problem {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fault.ControlCharacters(false)
	}
	return fault.Problem{}
}

// Unknown says that a list of names has one that does not exist.
func Unknown(kind, name string) fault.Problem {
	return fault.NewProblem("unknown_"+kind, "names a "+kind+" that does not exist: "+name, "name", name)
}
