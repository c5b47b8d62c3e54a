package passwords

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/libs/fault"
	"frontdesk/services/settings/internal/people"
)

// commonPasswords are the passwords that leaks show most often, lower-case, one a line: what Django and zxcvbn-ts ship, from
// five letters on. It stays compressed, because passwords are chosen seldom.
//
//go:embed common.txt.gz
var commonPasswords []byte

// checkNewPassword says what is wrong with a password that p chooses: too short, known from leaks, or made of little else than
// such a password or a name that belongs to p or the business.
func checkNewPassword(password string, p people.Person, business string) (fault.Problem, error) {
	if utf8.RuneCountInString(password) < Shortest {
		return fault.TooShort(Shortest), nil
	}
	candidates := guessable(password)
	if len(candidates) == 0 || distinct(candidates[0]) < 4 {
		return trivialPassword(), nil
	}
	local, _, _ := strings.Cut(p.Email, "@")
	for _, name := range append(strings.Fields(p.Name), p.Name, p.Login, p.Email, local, business, "frontdesk") {
		if word := letters(name); len(word) > 2 && slices.Contains(candidates, word) {
			return trivialPassword(), nil
		}
	}
	common, err := anyCommon(candidates)
	if err != nil || !common {
		return fault.Problem{}, err
	}
	return trivialPassword(), nil
}

func trivialPassword() fault.Problem {
	return fault.NewProblem("common", "is one of those that are guessed first. Take several words that do not belong together")
}

// guessable are the forms in which lists know a password: as it is, and without the digits and marks around it; empty for one
// that has no letters, which is guessable by itself unless it is long.
func guessable(password string) []string {
	lower := strings.ToLower(password)
	core := strings.TrimFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	if core == "" {
		if utf8.RuneCountInString(lower) < 12 {
			return nil
		}
		return []string{lower}
	}
	return []string{lower, core, letters(lower)}
}

// letters is a text of letters only, lower-case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

func distinct(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

func anyCommon(candidates []string) (bool, error) {
	list, err := gzip.NewReader(bytes.NewReader(commonPasswords))
	if err != nil {
		return false, fmt.Errorf("read common passwords: %w", err)
	}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		for _, c := range candidates {
			if string(lines.Bytes()) == c {
				return true, nil
			}
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("read common passwords: %w", err)
	}
	return false, nil
}
