package directory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"frontdesk/libs/db"
)

// The whole directory is compared with the table once an hour: a part of it each time that the replica keeps up.
const compareEvery = time.Hour

// compared is d with the records behind a key, of that many chunks, as tx sees them. d must be as tx sees it, so that every
// difference is an error. It says how many there were and where the next part begins.
func (d *Directory) compared(ctx context.Context, tx *db.Tx, after Key, chunks int) (repaired *Directory, differences int, next Key, err error) {
	held, next, more := d.part(after, chunks)
	var w db.Where
	w.And("(created_at, id) > (?, ?)", time.UnixMicro(after.Created).UTC(), after.ID)
	if more {
		w.And("(created_at, id) <= (?, ?)", time.UnixMicro(next.Created).UTC(), next.ID)
	}
	rows, err := tx.Query(ctx, `select `+contactColumns+` from contact where `+w.String()+` order by created_at, id`, w.Args...)
	if err != nil {
		return nil, 0, next, err
	}
	e := editor{to: d}
	err = eachRecord(rows, func(r record) {
		for len(held) > 0 && held[0].compare(r.Key) < 0 {
			e.drop(held[0].Key)
			held = held[1:]
		}
		if len(held) > 0 && held[0].Key == r.Key {
			same := held[0].Text == r.Text && slices.Equal(sorted(held[0].Labels), sorted(r.Labels))
			if held = held[1:]; same {
				return
			}
		}
		e.put(r)
	})
	for _, r := range held {
		e.drop(r.Key)
	}
	return e.done(), e.n, next, err
}

// sorted is labels in one order, each once.
func sorted(labels []Label) []Label {
	slices.SortFunc(labels, func(a, b Label) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value)) })
	return slices.Compact(labels)
}

// part is the records behind a key, as many as stand in that many chunks. next is the last of their keys, or first when
// there are no more.
func (d *Directory) part(after Key, chunks int) (records []record, next Key, more bool) {
	i, _ := slices.BinarySearchFunc(d.chunks, after, func(c *chunk, after Key) int {
		return cmp.Or(c.keys[len(c.keys)-1].compare(after), -1)
	})
	part := d.chunks[i:min(i+chunks, len(d.chunks))]
	for _, c := range part {
		records = append(records, c.records()...)
	}
	begin, found := slices.BinarySearchFunc(records, after, func(r record, k Key) int { return r.compare(k) })
	if found {
		begin++
	}
	if i+chunks >= len(d.chunks) {
		return records[begin:], first, false
	}
	return records[begin:], records[len(records)-1].Key, true
}
