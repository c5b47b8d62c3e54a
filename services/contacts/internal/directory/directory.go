package directory

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Key is where a record stands: lists show the latest first.
type Key struct {
	Created int64 // Unix microseconds
	ID      uuid.UUID
}

// KeyOf is the key of a record that was created at a time.
func KeyOf(created time.Time, id uuid.UUID) Key { return Key{created.UnixMicro(), id} }

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Created, other.Created), bytes.Compare(k.ID[:], other.ID[:]))
}

// Label is something that a record has and that queries ask for, such as the tag "VIP".
type Label struct {
	Kind  Kind
	Value string
}

// Kind says what the value of a label is.
type Kind byte

// The kinds of labels.
const (
	Status Kind = iota
	Marketing
	Source
	owner
	Tag
	Trashed
)

// record is what the directory keeps of a contact. Text must be what words are compared with: without case
// and accents.
type record struct {
	Key
	Text   string
	Labels []Label
}

// Query selects the records for which all holds.
type Query struct {
	// Has and Lacks are labels that a record must and must not have.
	Has, Lacks []Label
	// Words are parts that the text must have, or else Instead, when there is one.
	Words   []string
	Instead string
	// Since leaves out what was created before, in Unix microseconds.
	Since int64
}

// Directory holds records and never changes: With gives another, which shares most of it.
type Directory struct {
	chunks []*chunk
	counts sync.Map // quick → int64
}

// Len is how many records there are.
func (d *Directory) Len() (n int) {
	for _, c := range d.chunks {
		n += len(c.keys)
	}
	return n
}

// Bytes is the memory that the records take.
func (d *Directory) Bytes() (n int) {
	for _, c := range d.chunks {
		n += c.bytes()
	}
	return n
}

// edit is a record that comes, or with gone a key that goes.
type edit struct {
	record
	gone bool
}

// With is the directory without the keys in gone and with records, in the place of those with the same key.
func (d *Directory) With(gone []Key, records []record) *Directory {
	edits := make([]edit, 0, len(gone)+len(records))
	for _, k := range gone {
		edits = append(edits, edit{record{Key: k}, true})
	}
	for _, r := range records {
		edits = append(edits, edit{r, false})
	}
	if len(edits) == 0 {
		return d
	}
	// Stable: what comes stands behind what goes from the same place, and wins.
	slices.SortStableFunc(edits, func(a, b edit) int { return a.compare(b.Key) })
	out := make([]*chunk, 0, len(d.chunks)+len(edits)/chunkSize+1)
	for i := 0; i < len(d.chunks) || len(edits) > 0; i++ {
		mine := edits
		if i+1 < len(d.chunks) {
			next := d.chunks[i+1].keys[0]
			n, _ := slices.BinarySearchFunc(edits, next, func(e edit, k Key) int { return e.compare(k) })
			mine = edits[:n]
		}
		edits = edits[len(mine):]
		var old *chunk
		if i < len(d.chunks) {
			old = d.chunks[i]
		}
		if len(mine) == 0 {
			out = append(out, old)
			continue
		}
		out = append(out, merge(old, mine)...)
	}
	return &Directory{chunks: out}
}

// merge is a chunk after edits, cut into several when it becomes too long.
func merge(old *chunk, edits []edit) []*chunk {
	var all []record
	if old != nil {
		all = old.records()
	}
	merged := make([]record, 0, len(all)+len(edits))
	for len(edits) > 0 {
		e := edits[0]
		n, found := slices.BinarySearchFunc(all, e.Key, func(r record, k Key) int { return r.compare(k) })
		merged = append(merged, all[:n]...)
		if all = all[n:]; found {
			all = all[1:]
		}
		for edits = edits[1:]; len(edits) > 0 && edits[0].Key == e.Key; edits = edits[1:] {
			e = edits[0]
		}
		if !e.gone {
			merged = append(merged, e.record)
		}
	}
	merged = append(merged, all...)
	if len(merged) == 0 {
		return nil
	}
	if len(merged) <= chunkSize*3/2 {
		return []*chunk{newChunk(merged)}
	}
	var out []*chunk
	parts := (len(merged) + chunkSize - 1) / chunkSize
	for i := range parts {
		out = append(out, newChunk(merged[len(merged)*i/parts:len(merged)*(i+1)/parts]))
	}
	return out
}

// First is how many records q selects, and the latest of them, at most limit.
func (d *Directory) First(q Query, limit int) (keys []Key, total int64) {
	chunks := q.within(d.chunks)
	look := q.search(chunks)
	found := make([]set, len(chunks)) // by chunk, where there is anything
	key, quick := look.quick()
	if quick {
		if total = d.count(key, chunks, look); limit == 0 {
			return nil, total
		}
	} else {
		// Each goroutine takes the next chunk, until none is left.
		var sum, next atomic.Int64
		var all sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), 4, 1+len(chunks)/8) {
			all.Go(func() {
				n := 0
				for i := next.Add(1) - 1; i < int64(len(chunks)); i = next.Add(1) - 1 {
					if s, some := chunks[i].selected(look); some > 0 {
						found[i] = s
						n += some
					}
				}
				sum.Add(int64(n))
			})
		}
		all.Wait()
		total = sum.Load()
	}
	for i, c := range slices.Backward(chunks) {
		if quick {
			found[i], _ = c.selected(look)
		}
		for n := range found[i].backward() {
			if len(keys) == limit {
				return keys, total
			}
			keys = append(keys, c.keys[n])
		}
	}
	return keys, total
}

// count counts what a quick query selects, once.
func (d *Directory) count(key quick, chunks []*chunk, q *search) (n int64) {
	if n, ok := d.counts.Load(key); ok {
		return n.(int64)
	}
	for _, c := range chunks {
		n += c.counted(q)
	}
	// There are few labels, but any number of times.
	if n > 0 && key.since == 0 {
		d.counts.Store(key, n)
	}
	return n
}

// After gives the records behind a key that q selects, at most limit, the latest first.
func (d *Directory) After(q Query, key Key, limit int) (keys []Key) {
	chunks := q.within(d.chunks)
	look := q.search(chunks)
	for _, c := range slices.Backward(chunks) {
		if c.keys[0].compare(key) >= 0 {
			continue
		}
		s, _ := c.selected(look)
		for i := range s.backward() {
			if len(keys) == limit {
				return keys
			}
			if c.keys[i].compare(key) < 0 {
				keys = append(keys, c.keys[i])
			}
		}
	}
	return keys
}

// within leaves out chunks that are too old for q.
func (q *Query) within(chunks []*chunk) []*chunk {
	n, _ := slices.BinarySearchFunc(chunks, q.Since, func(c *chunk, since int64) int {
		return cmp.Compare(c.keys[len(c.keys)-1].Created, since)
	})
	return chunks[n:]
}
