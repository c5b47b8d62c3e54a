package slots

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

const (
	dayMinutes = 24 * 60
	// maxBlocks is the most blocks one weekday may have; more is a mistake, not a working day.
	maxBlocks = 48
)

// Block is a part of a day by the clock on the wall, in minutes after midnight; End is not part of it
// and may be 1440, midnight at the end of the day.
type Block struct{ Start, End int }

// AllDay is the block of a whole day.
var AllDay = Block{0, dayMinutes}

// ParseBlock reads two HH:MM times. The end may be 24:00 and must lie after the start.
func ParseBlock(start, end string) (Block, error) {
	s, err := ParseClock(start)
	if err != nil {
		return Block{}, err
	}
	e, err := ParseClock(end)
	if err != nil {
		return Block{}, err
	}
	if s >= e {
		return Block{}, fmt.Errorf("%s to %s does not end after its start", start, end)
	}
	return Block{s, e}, nil
}

// Strings writes the block as HH:MM times.
func (b Block) Strings() [2]string { return [2]string{formatClock(b.Start), formatClock(b.End)} }

// ParseClock reads HH:MM, from 00:00 to 24:00, as minutes after midnight.
func ParseClock(s string) (int, error) {
	if len(s) == 5 && s[2] == ':' {
		digit := func(i int) int { return int(s[i]) - '0' }
		ok := true
		for _, i := range [...]int{0, 1, 3, 4} {
			ok = ok && digit(i) >= 0 && digit(i) <= 9
		}
		h, m := digit(0)*10+digit(1), digit(3)*10+digit(4)
		if ok && m < 60 && h*60+m <= dayMinutes {
			return h*60 + m, nil
		}
	}
	return 0, fmt.Errorf("%q is not a time written as HH:MM", s)
}

func formatClock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

// Week is the weekly hours of a person: Week[0] holds Monday's blocks, Week[6] Sunday's, each in order
// and without overlap. In JSON it is an object with the keys 1 to 7, each a list of [start, end] pairs.
type Week [7][]Block

// parseWeek reads hours keyed by ISO weekday. Weekdays left out have no hours. Blocks may be given in
// any order and may touch; one that is backward, empty or over another is refused. The error names
// the weekday and is fit for the caller to see.
func parseWeek(hours map[string][][2]string) (Week, error) {
	var w Week
	keys := make([]string, 0, len(hours))
	for key := range hours {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		n, err := strconv.Atoi(key)
		if err != nil || n < 1 || n > 7 || len(key) != 1 {
			return Week{}, fmt.Errorf("%q is not a weekday from 1 (Monday) to 7 (Sunday)", key)
		}
		if len(hours[key]) > maxBlocks {
			return Week{}, fmt.Errorf("weekday %d has more than %d blocks", n, maxBlocks)
		}
		for _, pair := range hours[key] {
			b, err := ParseBlock(pair[0], pair[1])
			if err != nil {
				return Week{}, fmt.Errorf("weekday %d: %w", n, err)
			}
			w[n-1] = append(w[n-1], b)
		}
		slices.SortFunc(w[n-1], func(a, b Block) int { return a.Start - b.Start })
		for i, b := range w[n-1][min(1, len(w[n-1])):] {
			if before := w[n-1][i]; before.End > b.Start {
				return Week{}, fmt.Errorf("weekday %d: %s to %s overlaps %s to %s", n,
					formatClock(before.Start), formatClock(before.End), formatClock(b.Start), formatClock(b.End))
			}
		}
	}
	return w, nil
}

// Strings writes the hours with all keys from 1 to 7.
func (w Week) Strings() map[string][][2]string {
	out := make(map[string][][2]string, 7)
	for i, blocks := range w {
		pairs := make([][2]string, len(blocks))
		for j, b := range blocks {
			pairs[j] = b.Strings()
		}
		out[strconv.Itoa(i+1)] = pairs
	}
	return out
}

// With is the hours of w and of o together.
func (w Week) With(o Week) Week {
	for day := range w {
		w[day] = merge(slices.Concat(w[day], o[day]))
	}
	return w
}

// MarshalJSON writes the shape of Strings.
func (w Week) MarshalJSON() ([]byte, error) { return json.Marshal(w.Strings()) }

// UnmarshalJSON reads what ParseWeek takes.
func (w *Week) UnmarshalJSON(b []byte) error {
	// Lists, because JSON fills an array of two from one or three values without a word.
	var raw map[string][][]string
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	hours := make(map[string][][2]string, len(raw))
	for key, blocks := range raw {
		pairs := make([][2]string, 0, len(blocks))
		for _, pair := range blocks {
			if len(pair) != 2 {
				return fmt.Errorf("weekday %s: a block is a start and an end", key)
			}
			pairs = append(pairs, [2]string{pair[0], pair[1]})
		}
		hours[key] = pairs
	}
	week, err := parseWeek(hours)
	if err != nil {
		return err
	}
	*w = week
	return nil
}

// merge joins blocks that touch or overlap. It sorts and reuses its argument.
func merge(blocks []Block) []Block {
	slices.SortFunc(blocks, func(a, b Block) int { return a.Start - b.Start })
	out := blocks[:0]
	for _, b := range blocks {
		if n := len(out); n > 0 && b.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, b.End)
		} else {
			out = append(out, b)
		}
	}
	return out
}

// subtract appends to dst what is left of the merged blocks open outside the merged blocks closed.
func subtract(dst, open, closed []Block) []Block {
	for _, o := range open {
		for _, c := range closed {
			if c.End <= o.Start || c.Start >= o.End {
				continue
			}
			if c.Start > o.Start {
				dst = append(dst, Block{o.Start, c.Start})
			}
			o.Start = c.End
		}
		if o.Start < o.End {
			dst = append(dst, o)
		}
	}
	return dst
}
