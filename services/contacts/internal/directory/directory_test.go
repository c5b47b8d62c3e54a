package directory

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func id(n int) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// selects is what a query means, record by record.
func selects(q Query, r record) bool {
	for _, l := range q.Has {
		if !slices.Contains(r.Labels, l) {
			return false
		}
	}
	for _, l := range q.Lacks {
		if slices.Contains(r.Labels, l) {
			return false
		}
	}
	if r.Created < q.Since {
		return false
	}
	if len(q.Words) == 0 && q.Instead == "" {
		return true
	}
	words := len(q.Words) > 0
	for _, w := range q.Words {
		words = words && strings.Contains(r.Text, w)
	}
	return words || q.Instead != "" && strings.Contains(r.Text, q.Instead)
}

func TestWhatIsFoundAndCountedIsWhatTheQueryMeansWhateverCameAndWent(t *testing.T) {
	label := rapid.SampledFrom([]Label{{Status, "lead"}, {Status, "customer"}, {owner, "7"}, {Tag, "VIP"}, {Tag, "lead"}, {Trashed, ""}})
	word := rapid.SampledFrom([]string{"a", "an", "ann", "na a", "0", "12", "x@", "anna anna", "zzz", "%", ";", "é", "%;", ""})
	rapid.Check(t, func(t *rapid.T) {
		d := &Directory{}
		kept := map[Key]record{}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			var gone []Key
			var records []record
			seed := rapid.Uint64().Draw(t, "seed")
			random := rand.New(rand.NewPCG(seed, 1))
			for range rapid.SampledFrom([]int{0, 1, 3, 700, 4000}).Draw(t, "size") {
				// Times and ids that meet again and again.
				k := Key{int64(random.IntN(50)), id(random.IntN(60))}
				if random.IntN(3) == 0 {
					gone = append(gone, k)
					continue
				}
				r := record{Key: k, Text: strings.Repeat("ann", random.IntN(3)) + []string{"", "a a", "12 x@y", "0", "é %", ";"}[random.IntN(6)]}
				for range random.IntN(3) {
					r.Labels = append(r.Labels, []Label{{Status, "lead"}, {owner, "7"}, {Tag, "VIP"}, {Tag, "lead"}, {Trashed, ""}}[random.IntN(5)])
				}
				records = append(records, r)
			}
			d = d.With(gone, records)
			for _, k := range gone {
				delete(kept, k)
			}
			for _, r := range records {
				kept[r.Key] = r
			}
		}
		q := Query{Has: rapid.SliceOfN(label, 0, 2).Draw(t, "has"), Lacks: rapid.SliceOfN(label, 0, 1).Draw(t, "lacks"),
			Words: rapid.SliceOfN(word, 0, 2).Draw(t, "words"), Since: int64(rapid.IntRange(0, 55).Draw(t, "since"))}
		if strings.Join(q.Words, "") != "" && rapid.Bool().Draw(t, "instead") {
			q.Instead = word.Filter(func(w string) bool { return w != "" }).Draw(t, "instead of the words")
		}
		want := []Key{}
		for k, r := range kept {
			if selects(q, r) {
				want = append(want, k)
			}
		}
		slices.SortFunc(want, func(a, b Key) int { return b.compare(a) })
		limit := rapid.SampledFrom([]int{0, 1, 7, 10000}).Draw(t, "page")
		page, total := d.First(q, limit)
		require.EqualValues(t, len(want), total)
		got := append([]Key{}, page...)
		for len(page) == limit && limit > 0 {
			page = d.After(q, page[limit-1], limit)
			got = append(got, page...)
		}
		if limit == 0 {
			want = []Key{}
		}
		require.Equal(t, want, got)
	})
}

func TestADirectoryStaysAsItWas(t *testing.T) {
	all := []*Directory{{}}
	for i := range 3000 {
		all = append(all, all[i].With(nil, []record{{Key: Key{int64(i), id(i)}, Text: "anna"}}))
	}
	for i, d := range all {
		_, n := d.First(Query{Words: []string{"nn"}}, 0)
		require.EqualValues(t, i, n)
	}
	require.Greater(t, size(all[3000]), 3000*len("anna"))
	require.Same(t, all[3000], all[3000].With(nil, nil))
}

// size is how many bytes a directory holds, roughly.
func size(d *Directory) (n int) {
	for _, c := range d.chunks {
		n += len(c.text) + len(c.keys)*(24+4) + len(c.marks)*8 + len(c.labels)*(len(c.keys)/8+100)
	}
	return n
}

func million() *Directory {
	d := &Directory{}
	records := make([]record, 0, 10000)
	for i := range 1_000_000 {
		records = append(records, record{Key: Key{int64(i), id(i)},
			Text: fmt.Sprintf("%s %s %06x person%d@%s +324%08d", []string{"anna", "jan", "marie", "lukas", "emma"}[i%5], []string{"peeters", "maes", "van den berg", "de smet"}[i%4],
				i*7919%(1<<24), i, []string{"example.com", "mail.example", "post.example"}[i%3], i*7919%100000000),
			Labels: []Label{{Status, []string{"lead", "customer", "inactive"}[i%3]}, {Marketing, "none"}, {Source, []string{"web", "fair", "phone"}[i%3]},
				{owner, fmt.Sprint(i % 8)}, {Tag, fmt.Sprint("Tag ", i%50)}}})
		if len(records) == cap(records) {
			d = d.With(nil, records)
			records = records[:0]
		}
	}
	return d
}

func BenchmarkAMillion(b *testing.B) {
	d := million()
	b.Log(size(d)>>20, "MiB")
	for _, word := range []string{"a", "e", "@", "z", "an", "example.com", "person77777@", "xyzzy", "0470 12", "32470123"} {
		b.Run("count "+word, func(b *testing.B) {
			for b.Loop() {
				d.First(Query{Words: strings.Fields(word), Lacks: []Label{{Trashed, ""}}}, 21)
			}
		})
	}
	b.Run("count all", func(b *testing.B) {
		for b.Loop() {
			d.First(Query{Lacks: []Label{{Trashed, ""}}}, 0)
		}
	})
	b.Run("count tag", func(b *testing.B) {
		for b.Loop() {
			d.First(Query{Has: []Label{{Tag, "Tag 7"}}, Lacks: []Label{{Trashed, ""}}}, 21)
		}
	})
	b.Run("add one", func(b *testing.B) {
		i := 0
		for b.Loop() {
			d = d.With(nil, []record{{Key: Key{2_000_000, id(i)}, Text: "anna", Labels: []Label{{Status, "lead"}}}})
			i++
		}
	})
}
