package address

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Found is an address that stands in a text.
type Found struct {
	// From and To are where it begins and ends in the text, in bytes.
	From, To int
	// Address is what Parse takes, without the percent signs of a link.
	Address string
}

// writesAt are the characters by which a text writes an @: itself, or the first of an escape.
const writesAt = `@%\`

// Conditions in SQL on a text, which leave out none in which Find finds an address.
const (
	// MayHaveSQL takes any address.
	MayHaveSQL = ` ~ '[@%\\]'`
	// UnplainSQL takes texts in which Find may read an address otherwise than it stands there. In all others what stands before its @ stands as in Key,
	// but for its case.
	UnplainSQL = ` ~ '[%\\]|"@|[^[:ascii:]]'`
)

// splitting are characters that an address may have before its @, and that stand in texts between addresses and other words. Where one does, it may
// belong to either, so each way to read it is found.
const splitting = "=/?&#*!~^`{|}"

// mostSplits bounds the ways to read one address, so that no text costs more to look at than its length.
const mostSplits = 8

// maxLocal is the length of the longest part before the @, in bytes.
const maxLocal = 64

// MayHave reports whether Find may find an address in a text, or in a text of JSON.
func MayHave(text string) bool { return strings.ContainsAny(text, writesAt) }

// Find returns the addresses in a text by where they begin, the longer of two first. Each stands delimited: in janx@a.example is
// no x@a.example, and in d'hondt@b.example no hondt@b.example. In email=a@b.example stand a@b.example and the whole, which is an address too.
func Find(text string) []Found {
	if !MayHave(text) {
		return nil
	}
	all := find(text, false)
	at := func(i int) int { return i }
	link := false
	// Links write @ as %40, links in links as %2540, and texts in texts may be JSON in JSON.
	for range 3 {
		decoded, from, unescaped := plain(text)
		if decoded == text {
			break
		}
		link = link || unescaped
		outer := at
		at = func(i int) int { return outer(from[i]) }
		for _, f := range find(decoded, link) {
			f.From, f.To = at(f.From), at(f.To)
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
		text = decoded
	}
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	return all
}

// find is Find in a text that is plain. In what was a link, + may be a blank.
func find(text string, link bool) (all []Found) {
	for i := range len(text) {
		if text[i] != '@' {
			continue
		}
		to := i + 1 + domainIn(text[i+1:])
		for _, from := range beginnings(text, i, link) {
			if a, err := Parse(text[from:to]); err == nil {
				all = append(all, Found{from, to, a})
			}
		}
	}
	return all
}

// domainIn is the length of what may be a domain at the beginning of text.
func domainIn(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '.' && r != '-'
	})
	if end >= 0 {
		text = text[:end]
	}
	return len(strings.TrimRight(text, ".-"))
}

// beginnings are where an address whose @ stands at i may begin, the first one first.
func beginnings(text string, i int, link bool) (all []int) {
	run := i
	for run > 0 && i-run < maxLocal && inLocalPart(text[run-1]) {
		run--
	}
	splits := func(k int) bool { return strings.IndexByte(splitting, text[k]) >= 0 || link && text[k] == '+' }
	// What stands in front of an address without belonging to it: the opening quote, the end of a sentence.
	opens := func(k int) bool { return text[k] == '\'' || text[k] == '.' }
	for k := i - 1; k >= run && len(all) < mostSplits; k-- {
		word := k + 1 // where those that open it begin
		for word > run && opens(word-1) {
			word--
		}
		if splits(k) || word <= k && (word > run && splits(word-1) || word == run && whole(text, run)) {
			all = append(all, k+1)
		}
	}
	slices.Reverse(all)
	if run < i && whole(text, run) {
		all = append([]int{run}, all...)
	}
	return all
}

// whole reports whether a word begins at run, the first of a row of characters that an address may have.
func whole(text string, run int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:run])
	return run == 0 || !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Cf) && !inLocalPart(text[run-1])
}

// plain is a text as somebody reads it, and where each byte of it, and the end, stood: without marks that nobody sees, with plain dots, without quotes
// around what stands before an @, without the escapes of JSON and, where an @ is written so, those of links, which it reports.
func plain(text string) (decoded string, from []int, link bool) {
	percent := strings.Contains(text, "%40") || strings.Contains(text, "%25")
	var b strings.Builder
	var n int
	for i := 0; i < len(text); i += n {
		r, size := utf8.DecodeRuneInString(text[i:])
		written := text[i : i+size]
		n = size
		switch {
		case unicode.Is(unicode.Cf, r) || strings.HasPrefix(text[i:], `"@`):
			continue
		case strings.ContainsRune("。．｡", r):
			written = "."
		case r == '%' && percent && i+2 < len(text):
			if c, err := url.PathUnescape(text[i : i+3]); err == nil {
				written, n, link = c, 3, true
			}
		case r == '\\':
			if c, _, rest, err := strconv.UnquoteChar(text[i:min(len(text), i+6)], '"'); err == nil {
				written, n = string(c), min(len(text), i+6)-i-len(rest)
			}
		}
		for k := range len(written) {
			from = append(from, min(i+k, i+n-1))
		}
		b.WriteString(written)
	}
	return b.String(), append(from, len(text)), link
}
