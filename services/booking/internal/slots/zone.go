package slots

import (
	"slices"
	"time"
)

// span is a stretch of real time in Unix seconds; end is not part of it.
type span struct{ start, end int64 }

// wall turns local times into instants. It holds the periods of constant offset of one zone that
// matter for the days it was made for.
type wall []period

type period struct {
	span
	offset int64
}

// newWall covers the days from and to and a day and a half around them.
func newWall(zone *time.Location, from, to Day) wall {
	const around = 36 * 60 * 60
	var w wall
	t, end := int64(from)*daySeconds-around, (int64(to)+1)*daySeconds+around
	for t < end {
		at := time.Unix(t, 0).In(zone)
		_, offset := at.Zone()
		p := period{span{t, end}, int64(offset)}
		if _, until := at.ZoneBounds(); !until.IsZero() {
			p.end = min(p.end, until.Unix())
		}
		// A change of name alone is no change of the clock.
		if n := len(w); n > 0 && w[n-1].offset == p.offset {
			w[n-1].end = p.end
		} else {
			w = append(w, p)
		}
		t = p.end
	}
	return w
}

// append adds the stretches during which the clock shows a time of the block on that day, in order.
// A block in a skipped hour adds none, one that is cut by a repeated hour adds two.
func (w wall) append(dst []span, d Day, b Block) []span {
	first := len(dst)
	for _, p := range w {
		s := span{
			max(int64(d)*daySeconds+int64(b.Start)*60-p.offset, p.start),
			min(int64(d)*daySeconds+int64(b.End)*60-p.offset, p.end),
		}
		if s.start >= s.end {
			continue
		}
		if n := len(dst); n > first && dst[n-1].end == s.start {
			dst[n-1].end = s.end
		} else {
			dst = append(dst, s)
		}
	}
	return dst
}

// join sorts spans and joins those that touch or overlap. It reuses its argument.
func join(spans []span) []span {
	sortSpans(spans)
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func sortSpans(spans []span) {
	byStart := func(a, b span) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	}
	// They nearly always come in order.
	if !slices.IsSortedFunc(spans, byStart) {
		slices.SortFunc(spans, byStart)
	}
}

// Bounds returns the first instant of the day from and the end of the last instant of the day to. Both
// are the same instant when the zone skips the whole period.
func Bounds(zone *time.Location, from, to Day) (start, end time.Time) {
	w := newWall(zone, from, to)
	begin, finish := int64(from)*daySeconds, (int64(to)+1)*daySeconds
	for _, p := range w {
		if begin-p.offset < p.end {
			start = time.Unix(max(begin-p.offset, p.start), 0).UTC()
			break
		}
	}
	for _, p := range slices.Backward(w) {
		if finish-p.offset > p.start {
			end = time.Unix(min(finish-p.offset, p.end), 0).UTC()
			break
		}
	}
	return start, end
}
