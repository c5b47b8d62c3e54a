package directory

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unsafe"
)

// chunkSize is how many records stand together. A change copies the chunks that it touches.
const chunkSize = 1024

// chunk holds consecutive records and never changes.
type chunk struct {
	keys []Key
	// text is that of all records, each ended by a zero byte, which no text contains; ends are the places
	// of these bytes.
	text   []byte
	ends   []int32
	labels map[Label]set
	marks  []uint64 // a set for each mark
}

// set has a bit for each record of its chunk.
type set []uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) size() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// bytes is the memory that a chunk takes: for a label a set, and about as much as its value for its place in the map.
func (c *chunk) bytes() int {
	n := int(unsafe.Sizeof(*c)) + 8 + cap(c.keys)*int(unsafe.Sizeof(Key{})) + cap(c.text) + cap(c.ends)*4 + cap(c.marks)*8
	for l, s := range c.labels {
		n += cap(s)*8 + 2*int(unsafe.Sizeof(l)+unsafe.Sizeof(s)) + len(l.Value)
	}
	return n
}

func newChunk(records []record) *chunk {
	size := len(records)
	for i := range records {
		size += len(records[i].Text)
	}
	c := &chunk{keys: make([]Key, len(records)), text: make([]byte, 0, size), ends: make([]int32, len(records)), labels: map[Label]set{},
		marks: make([]uint64, allMarks*((len(records)+63)/64))}
	for i, r := range records {
		c.keys[i] = r.Key
		c.text = append(c.text, r.Text...)
		c.ends[i] = int32(len(c.text))
		c.text = append(c.text, 0)
		mark(c.marks, r.Text, i, len(records))
		for _, l := range r.Labels {
			s := c.labels[l]
			if s == nil {
				s = make(set, (len(records)+63)/64)
				// The value must not keep all that it was read with.
				c.labels[Label{l.Kind, strings.Clone(l.Value)}] = s
			}
			s[i/64] |= 1 << (i % 64)
		}
	}
	return c
}

func (c *chunk) start(i int) int {
	if i == 0 {
		return 0
	}
	return int(c.ends[i-1]) + 1
}

func (c *chunk) record(i int) []byte { return c.text[c.start(i):c.ends[i]] }

// records is what newChunk was given.
func (c *chunk) records() []record {
	out := make([]record, len(c.keys))
	text := string(c.text)
	for i := range out {
		out[i].Key, out[i].Text = c.keys[i], text[c.start(i):c.ends[i]]
	}
	for l, s := range c.labels {
		for w, word := range s {
			for ; word != 0; word &= word - 1 {
				i := w*64 + bits.TrailingZeros64(word)
				out[i].Labels = append(out[i].Labels, l)
			}
		}
	}
	return out
}

// candidates are the records whose labels and time fit, and how many these are.
func (c *chunk) candidates(q *Query) (s set, n int) {
	s = make(set, (len(c.keys)+63)/64)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := len(c.keys) % 64; rest != 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	for _, l := range q.Has {
		has := c.labels[l]
		if has == nil {
			return nil, 0
		}
		for i := range s {
			s[i] &= has[i]
		}
	}
	for _, l := range q.Lacks {
		for i, has := range c.labels[l] {
			s[i] &^= has
		}
	}
	if c.keys[0].Created < q.Since {
		first, _ := slices.BinarySearchFunc(c.keys, q.Since, func(k Key, since int64) int { return cmp.Compare(k.Created, since) })
		for i := range first {
			s[i/64] &^= 1 << (i % 64)
		}
	}
	return s, s.size()
}

// selected are the records that q selects.
func (c *chunk) selected(q *search) (set, int) {
	s, n := c.candidates(&q.Query)
	if n == 0 || len(q.words) == 0 && q.instead == nil {
		return s, n
	}
	found := make(set, len(s))
	if len(q.words) > 0 {
		c.withAll(q.words, s, found)
	}
	if q.instead != nil {
		c.withAll([]word{*q.instead}, s, found)
	}
	return found, found.size()
}

// withAll adds to found the records in s whose texts contain all the words.
func (c *chunk) withAll(words []word, s, found set) {
	s = slices.Clone(s)
	inexact := make([]word, 0, 4)
	for _, w := range words {
		for _, m := range w.marks {
			for j, has := range c.marks[m*len(s) : (m+1)*len(s)] {
				s[j] &= has
			}
		}
		if !w.exact {
			inexact = append(inexact, w)
		}
	}
	if len(inexact) == 0 {
		for i := range s {
			found[i] |= s[i]
		}
		return
	}
	c.with(&inexact[0], s, s.size(), func(i int) {
		record := c.record(i)
		for _, w := range inexact[1:] {
			if w.in(record) < 0 {
				return
			}
		}
		found[i/64] |= 1 << (i % 64)
	})
}

// with calls f for each of the n records in s whose text contains the word.
func (c *chunk) with(w *word, s set, n int, f func(i int)) {
	if n < len(c.keys)/4 {
		for i := range s.backward() {
			if w.in(c.record(i)) >= 0 {
				f(i)
			}
		}
		return
	}
	// One run over the text of all.
	for i, at := 0, 0; i < len(c.keys); i++ {
		next := w.in(c.text[at:])
		if next < 0 {
			return
		}
		at += next
		for int(c.ends[i]) < at {
			i++
		}
		if s.has(i) {
			f(i)
		}
		at = int(c.ends[i]) + 1
	}
}

// counted is how many records a quick q selects.
func (c *chunk) counted(q *search) (n int64) {
	if c.keys[0].Created < q.Since || slices.ContainsFunc(q.Lacks, func(l Label) bool { return c.labels[l] != nil }) {
		_, n := c.candidates(&q.Query)
		return int64(n)
	}
	if len(q.Has) == 0 {
		return int64(len(c.keys))
	}
	for _, word := range c.labels[q.Has[0]] {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

func (s set) backward() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range slices.Backward(s) {
			for word != 0 {
				top := 63 - bits.LeadingZeros64(word)
				if !yield(w*64 + top) {
					return
				}
				word &^= 1 << top
			}
		}
	}
}
