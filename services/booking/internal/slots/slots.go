package slots

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Rule says which times of a service are offered. All but Horizon are minutes.
type Rule struct {
	// Duration is the length of the appointment, at least 1.
	Duration int
	// Before and After are the service's buffers, kept against other appointments only.
	Before, After int
	// Step lies between two starts; 0 means Duration. Starts are counted in elapsed minutes from the
	// start of each block of weekly or extra hours; time off does not move them.
	Step int
	// Notice is the least time between now and the start. The team's own slots leave it 0, and then
	// only the past is not offered.
	Notice int
	// Horizon is the greatest number of days between now and the start, to the same time of the last
	// day; 0 is no limit, which the team's own slots have.
	Horizon int
}

// Slot is a free time and the people who are free for it, in the order they were given in.
type Slot struct {
	Start, End time.Time
	Staff      []int64
}

// List returns the free slots that start on the local days from to to, both included, in order and in
// UTC.
func List(b Business, r Rule, people []Person, from, to Day, now time.Time) []Slot {
	if from > to || r.Duration < 1 {
		return nil
	}
	q := newQuery(b, r, from, to, now)
	starts := make([][]int64, len(people))
	total := 0
	for i, p := range people {
		starts[i] = q.starts(p)
		total += len(starts[i])
	}

	var out []Slot
	staff := make([]int64, 0, total)
	for {
		next := int64(math.MaxInt64)
		for _, s := range starts {
			if len(s) > 0 && s[0] < next {
				next = s[0]
			}
		}
		if next == math.MaxInt64 {
			return out
		}
		first := len(staff)
		for i, s := range starts {
			if len(s) > 0 && s[0] == next {
				staff = append(staff, people[i].ID) //nolint:gosec // starts has one entry for each of people
				starts[i] = s[1:]
			}
		}
		out = append(out, Slot{
			Start: time.Unix(next, 0).UTC(),
			End:   time.Unix(next+q.duration, 0).UTC(),
			Staff: staff[first:len(staff):len(staff)],
		})
	}
}

// Free reports whether List would offer the start for the person. It is what decides a booking.
func Free(b Business, r Rule, p Person, start, now time.Time) bool {
	if r.Duration < 1 || start.Nanosecond() != 0 {
		return false
	}
	day := DayOf(start, b.Zone)
	q := newQuery(b, r, day, day, now)
	_, found := slices.BinarySearch(q.starts(p), start.Unix())
	return found
}

// Clear reports whether an appointment of the rule's length and buffers at start keeps clear of the
// person's other appointments, whatever the hours, the grid, what is taken elsewhere and the time now. It is the
// rule for what the team books outside hours.
func Clear(r Rule, p Person, start time.Time) bool {
	at := start.Unix()
	for _, s := range blockedStarts(r, p.Busy) {
		if s.start < at && at < s.end {
			return false
		}
	}
	return true
}

// Nearest returns at most n of the slots that List offers from from to to, those closest to the wanted
// start first; of two as close, the earlier.
func Nearest(b Business, r Rule, people []Person, wanted time.Time, from, to Day, now time.Time, n int) []Slot {
	all := List(b, r, people, from, to, now)
	slices.SortStableFunc(all, func(x, y Slot) int {
		return cmp.Compare(x.Start.Sub(wanted).Abs(), y.Start.Sub(wanted).Abs())
	})
	return all[:min(n, len(all))]
}

// query is one question about one period.
type query struct {
	business Business
	rule     Rule
	from, to Day
	// days is how many days after to an appointment that starts on to can still last.
	days             Day
	wall             wall
	earliest, latest int64
	duration, step   int64
	scratch          scratch
	work             []span
	pieces           []span
}

func newQuery(b Business, r Rule, from, to Day, now time.Time) *query {
	q := &query{business: b, rule: r, from: from, to: to}
	q.duration = int64(r.Duration) * 60
	q.step = int64(r.Step) * 60
	if q.step <= 0 {
		q.step = q.duration
	}
	q.days = Day(r.Duration/dayMinutes) + 2
	q.wall = newWall(b.Zone, from-1, to+q.days)
	earliest := now.Add(time.Duration(r.Notice) * time.Minute)
	q.earliest = earliest.Unix()
	if earliest.Nanosecond() > 0 {
		q.earliest++
	}
	q.latest = math.MaxInt64
	if r.Horizon > 0 {
		q.latest = now.In(b.Zone).AddDate(0, 0, r.Horizon).Unix()
	}
	return q
}

// starts is the predicate: every start of the period at which the person can take an appointment of
// the rule, in order. It is the only place that decides.
func (q *query) starts(p Person) []int64 {
	q.work, q.pieces = q.work[:0], q.pieces[:0]
	// The day before counts too: where a clock is put back over midnight its last hour comes again.
	for d := q.from - 1; d <= q.to+q.days; d++ {
		q.scratch.load(q.business, p, d)
		for _, block := range q.scratch.left {
			q.work = q.wall.append(q.work, d, block)
		}
		if d < q.from || d > q.to {
			continue
		}
		for _, block := range q.scratch.blocks {
			q.pieces = q.wall.append(q.pieces, d, block)
		}
	}
	q.work = join(q.work)
	sortSpans(q.pieces)
	taken := blockedStarts(q.rule, p.Busy)
	before, after := int64(q.rule.Before)*60, int64(q.rule.After)*60

	var out []int64
	overlapping := false
	var covered int64 = math.MinInt64
	work, busy, elsewhere := q.work, taken, p.Elsewhere
	for _, piece := range q.pieces {
		if piece.start < covered {
			// The grids of two blocks interleave; start looking again from the beginning.
			overlapping = true
			work, busy, elsewhere = q.work, taken, p.Elsewhere
		}
		covered = max(covered, piece.end)
		for t := piece.start; t < piece.end; t += q.step {
			if t < q.earliest {
				t += (q.earliest - t - 1) / q.step * q.step
				continue
			}
			for len(work) > 0 && work[0].end <= t {
				work = work[1:]
			}
			if len(work) == 0 || t > q.latest {
				break
			}
			if t < work[0].start || t+q.duration > work[0].end {
				continue
			}
			for len(busy) > 0 && busy[0].end <= t {
				busy = busy[1:]
			}
			if len(busy) > 0 && busy[0].start < t {
				continue
			}
			// These are not joined: the first that ends after t is the one that begins first, which is enough.
			for len(elsewhere) > 0 && elsewhere[0].End+before <= t {
				elsewhere = elsewhere[1:]
			}
			if len(elsewhere) > 0 && elsewhere[0].Start < t+q.duration+after {
				continue
			}
			out = append(out, t)
		}
	}
	if overlapping {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

// blockedStarts returns, in order and joined, the stretches inside which no appointment of the rule
// can start because of the others. Their ends are free.
func blockedStarts(r Rule, busy []Busy) []span {
	out := make([]span, len(busy))
	for i, a := range busy {
		out[i] = span{
			a.Start.Unix() - int64(max(r.After, a.Before)+r.Duration)*60,
			a.End.Unix() + int64(max(r.Before, a.After))*60,
		}
	}
	sortSpans(out)
	joined := out[:0]
	for _, s := range out {
		// Two stretches that only touch leave the moment between them free.
		if n := len(joined); n > 0 && s.start < joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}
