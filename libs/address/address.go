// Package address is email addresses: what one looks like, and which two are the same.
package address

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Max is the length of the longest address, in characters.
const Max = 190

var (
	errEmail     = errors.New("must be an email address such as name@example.com")
	errEmailLong = errors.New("must have at most 190 characters")
)

// Parse gives the stored form of an email address: as typed, without blanks around it and with its
// domain in lower case. The empty string is no address and no error. The part before the @ is
// plain ASCII without quotes; the domain has at least two labels and may be internationalized, in
// which case it is kept readable. Display names, comments and address literals are refused.
func Parse(typed string) (string, error) {
	typed = strings.TrimFunc(unmarked(typed), blank)
	if typed == "" {
		return "", nil
	}
	if utf8.RuneCountInString(typed) > Max {
		return "", errEmailLong
	}
	local, domain, ok := strings.Cut(typed, "@")
	if !ok || !isLocalPart(local) {
		return "", errEmail
	}
	domain = norm.NFC.String(strings.ToLower(domain))
	ascii, err := Host(domain)
	if err != nil || len(local)+1+len(ascii) > 254 {
		return "", errEmail
	}
	// Lower-casing or composing may lengthen a domain, and is not a fixed point for a few letters.
	if readable, err := idna.Lookup.ToUnicode(ascii); err == nil && domain != ascii {
		domain = readable
	}
	if utf8.RuneCountInString(local)+1+utf8.RuneCountInString(domain) > Max {
		return "", errEmailLong
	}
	return local + "@" + domain, nil
}

// Key is what makes two stored addresses the same: lower case, with the domain in ASCII. Uniqueness
// and the unsubscribe hash go by it. It is also the spelling to send mail to.
func Key(stored string) string {
	local, domain, ok := strings.Cut(stored, "@")
	if !ok {
		return strings.ToLower(stored)
	}
	if ascii, err := Host(domain); err == nil {
		domain = ascii
	}
	return strings.ToLower(local + "@" + domain)
}

// unmarked is s without format characters (Unicode category Cf): telephones and word processors put them around addresses and numbers, and nobody
// sees them.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// Number is a telephone number as a keyboard writes it: unmarked, with hyphens for dashes and plain blanks.
func Number(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Pd, r) || r == '\u2212':
			return '-'
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, unmarked(s))
}

func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

func isLocalPart(s string) bool {
	if s == "" || len(s) > maxLocal || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return !inLocalPart(c) })
}

// inLocalPart reports whether c may stand before the @ of an address.
func inLocalPart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", c) >= 0
}

// Host gives a host name in its ASCII spelling, lower case, or an error when it is not one that can
// stand in public DNS: two labels or more, the last of them at least two characters and not a number.
func Host(host string) (string, error) {
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", err
	}
	labels := Labels(ascii)
	if len(labels) < 2 {
		return "", errEmail
	}
	if last := labels[len(labels)-1]; len(last) < 2 || strings.Trim(last, "0123456789") == "" {
		return "", errEmail
	}
	return ascii, nil
}

// Labels are the parts of a host's name, in small letters; none if it is not one.
func Labels(host string) []string {
	all := strings.Split(strings.ToLower(host), ".")
	if len(host) > 253 || slices.ContainsFunc(all, func(l string) bool {
		return l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' ||
			strings.ContainsFunc(l, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
	}) {
		return nil
	}
	return all
}
