package directory

import (
	"bytes"
	"cmp"
	"slices"
)

// word is looked for by the one of its bytes that texts have least, since that is what most of the time goes into.
type word struct {
	text   []byte
	anchor int
}

// search is a query that is ready to be run.
type search struct {
	Query
	words   []word // the rarest first
	instead *word
}

// sampled is how much text tells which bytes are rare.
const sampled = 4096

func (q Query) search(chunks []*chunk) *search {
	var often [256]int
	if len(chunks) > 0 {
		text := chunks[len(chunks)/2].text
		for _, b := range text[:min(sampled, len(text))] {
			often[b]++
		}
	}
	rarest := func(text string) word {
		w := word{text: []byte(text)}
		for i, b := range w.text {
			if often[b] < often[w.text[w.anchor]] {
				w.anchor = i
			}
		}
		return w
	}
	s := &search{Query: q}
	for _, text := range q.Words {
		if text != "" {
			s.words = append(s.words, rarest(text))
		}
	}
	slices.SortStableFunc(s.words, func(a, b word) int {
		return cmp.Or(cmp.Compare(often[a.text[a.anchor]], often[b.text[b.anchor]]), cmp.Compare(len(b.text), len(a.text)))
	})
	if q.Instead != "" {
		w := rarest(q.Instead)
		s.instead = &w
	}
	return s
}

// in is where the word first stands in text, -1 where it does not.
func (w *word) in(text []byte) int {
	b := w.text[w.anchor]
	for at := w.anchor; at < len(text); {
		next := bytes.IndexByte(text[at:], b)
		if next < 0 {
			return -1
		}
		at += next
		if begin := at - w.anchor; bytes.HasPrefix(text[begin:], w.text) {
			return begin
		}
		at++
	}
	return -1
}
