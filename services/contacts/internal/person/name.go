package person

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Name is the stored form of a name: on one line, without blanks at its ends or doubled inside.
func Name(typed string) string { return line(typed) }

// NameKey is what makes two names of organizations similar: the letters and digits of the name without
// case, accents, punctuation, spaces and the legal forms at its ends. Two names are similar when
// their keys are equal and not empty. A name that is nothing but a legal form keeps it.
func NameKey(name string) string {
	words := strings.FieldsFunc(fold(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for {
		n := formAtEnd(words)
		if n == 0 || n == len(words) {
			break
		}
		words = words[:len(words)-n]
	}
	for {
		n := formAtStart(words)
		if n == 0 || n == len(words) {
			break
		}
		words = words[n:]
	}
	return strings.Join(words, "")
}

// formAtEnd is how many of the last words are a legal form, the longest one counting: B.V. is two
// words here, GmbH & Co. KG three.
func formAtEnd(words []string) int {
	for n := min(longestForm, len(words)); n > 0; n-- {
		if legalForms[strings.Join(words[len(words)-n:], "")] {
			return n
		}
	}
	return 0
}

func formAtStart(words []string) int {
	for n := min(longestForm, len(words)); n > 0; n-- {
		if slices.Contains(leadingForms, strings.Join(words[:n], "")) {
			return n
		}
	}
	return 0
}

var unaccented = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ð", "d", "þ", "th", "ł", "l", "đ", "d", "ı", "i",
	"'", "", "’", "", "‘", "", "`", "", "´", "", "ʼ", "",
)

// fold is s in lower case, without accents and apostrophes.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(unaccented.Replace(strings.ToLower(s))))
	return unaccented.Replace(s)
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// visible is s without format characters, which nobody sees: marks of direction, zero-width blanks. Joiners (U+200C, U+200D) belong to the spelling
// of Persian and Sinhala names, and to emoji: they stay between two other characters.
func visible(s string) string {
	if strings.IndexFunc(s, isFormat) < 0 {
		return s
	}
	shown := []rune(strings.Map(func(r rune) rune {
		if isFormat(r) && r != '\u200c' && r != '\u200d' && !isTagOfEmoji(r) {
			return -1
		}
		return r
	}, s))
	var b strings.Builder
	for i, r := range shown {
		joins := func(at int) bool { return at >= 0 && at < len(shown) && !isBlank(shown[at]) && !isFormat(shown[at]) }
		if (r == '\u200c' || r == '\u200d') && !(joins(i-1) && joins(i+1)) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isFormat(r rune) bool { return unicode.Is(unicode.Cf, r) }

// isTagOfEmoji reports whether r is one of the letters that make a flag of a region.
func isTagOfEmoji(r rune) bool { return '\U000e0020' <= r && r <= '\U000e007f' }

// DisplayName is how lists call a person: by name, else by address or number.
func DisplayName(first, last, email, phone string) string {
	if name := strings.TrimSpace(first + " " + last); name != "" {
		return name
	}
	if email != "" {
		return email
	}
	return phone
}
