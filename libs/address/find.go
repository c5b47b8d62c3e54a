package address

import (
	"net/url"
	"slices"
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

// splitting are characters that an address may have before its @, and that stand in texts between addresses and other words. Where one does, it may
// belong to either, so each way to read it is found.
const splitting = "=/?&#*!~^`{|}"

// mostSplits bounds the ways to read one address, so that no text costs more to look at than its length.
const mostSplits = 8

// maxLocal is the length of the longest part before the @, in bytes.
const maxLocal = 64

// Find returns the addresses in a text by where they begin, the longer of two first. Each stands delimited: in janx@a.example is
// no x@a.example, and in d'hondt@b.example no hondt@b.example. In email=a@b.example stand a@b.example and the whole, which is an address too.
func Find(text string) []Found {
	all := find(text, false)
	at := func(i int) int { return i }
	// Links write @ as %40, and links in links that as %2540.
	for range 3 {
		decoded, from := unescape(text)
		if decoded == text {
			break
		}
		outer := at
		at = func(i int) int { return outer(from[i]) }
		for _, f := range find(decoded, true) {
			f.From, f.To = at(f.From), at(f.To)
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
		text = decoded
	}
	slices.SortStableFunc(all, func(a, b Found) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return b.To - a.To
	})
	return all
}

// find is Find without percent signs. In what was a link, + may be a blank.
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
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '.' && r != '-' && r != '。'
	})
	if end >= 0 {
		text = text[:end]
	}
	return len(strings.TrimRight(text, ".-。"))
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
	return run == 0 || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !inLocalPart(text[run-1])
}

// unescape takes the percent signs of links out of a text that has an @ written so, and says where each byte, and the end, stood.
func unescape(text string) (decoded string, from []int) {
	if !strings.Contains(text, "%40") && !strings.Contains(text, "%25") {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		from = append(from, i)
		if i+2 < len(text) && text[i] == '%' {
			if c, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), append(from, len(text))
}
