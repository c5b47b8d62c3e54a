package directory

import (
	"bytes"
	"cmp"
	"slices"
)

// word is looked for by the one of its bytes that texts have least, if that is rare enough to save time.
type word struct {
	text   []byte
	anchor int // -1 when all of them are frequent
	marks  []int
	exact  bool // the marks say it all
}

// search is a query that is ready to be run.
type search struct {
	Query
	words   []word // the rarest first
	instead *word
}

// Rare bytes are those that a sample of the texts has seldom.
const (
	samples  = 16
	sampled  = 1024
	frequent = 12 // one of so many bytes
)

func (q Query) search(chunks []*chunk) *search {
	var often [256]int
	size := 0
	for i := range min(samples, len(chunks)) {
		text := chunks[i*len(chunks)/min(samples, len(chunks))].text
		text = text[:min(sampled, len(text))]
		size += len(text)
		for _, b := range text {
			often[b]++
		}
	}
	rarity := func(w word) int {
		n := size
		for _, b := range w.text {
			n = min(n, often[b])
		}
		return n
	}
	rarest := func(text string) word {
		w := word{text: []byte(text), anchor: -1}
		w.marks, w.exact = marksOf(text)
		if n := rarity(w); n < size/frequent || len(text) == 1 {
			w.anchor = slices.IndexFunc(w.text, func(b byte) bool { return often[b] <= n })
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
		return cmp.Or(cmp.Compare(rarity(a), rarity(b)), cmp.Compare(len(b.text), len(a.text)))
	})
	if q.Instead != "" {
		w := rarest(q.Instead)
		s.instead = &w
	}
	return s
}

// quick is a query that asks for one label at most, and for one at most to be missing.
type quick struct {
	has, lacks  Label
	some, fewer bool
	since       int64
}

func (s *search) quick() (q quick, ok bool) {
	if len(s.words) > 0 || s.instead != nil || len(s.Has) > 1 || len(s.Lacks) > 1 {
		return q, false
	}
	for _, l := range s.Has {
		q.has, q.some = l, true
	}
	for _, l := range s.Lacks {
		q.lacks, q.fewer = l, true
	}
	q.since = s.Since
	return q, true
}

// in is where the word first stands in text, -1 where it does not.
func (w *word) in(text []byte) int {
	if w.anchor < 0 {
		return bytes.Index(text, w.text)
	}
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
