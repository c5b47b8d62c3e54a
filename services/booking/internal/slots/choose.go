package slots

import "time"

// LeastBusy returns the person who should get an appointment at start that nobody in particular was
// asked for: the one with the least booked time on that local day, then the least in all that Busy
// holds, then each in turn from one start to the next. It returns the index in people, or -1 for none.
func LeastBusy(b Business, people []Person, start time.Time) int {
	if len(people) == 0 {
		return -1
	}
	day := DayOf(start, b.Zone)
	from, to := Bounds(b.Zone, day, day)
	// Who is first among equals is scattered over the starts (Fibonacci hashing), so that nobody always is.
	turn := int(uint64(start.Unix()) * 0x9E3779B97F4A7C15 >> 33 % uint64(len(people)))

	best, bestDay, bestAll := -1, time.Duration(0), time.Duration(0)
	for i := range people {
		at := (turn + i) % len(people)
		var onDay, all time.Duration
		for _, a := range people[at].Busy {
			all += a.End.Sub(a.Start)
			if s, e := latest(a.Start, from), earliest(a.End, to); s.Before(e) {
				onDay += e.Sub(s)
			}
		}
		if best < 0 || onDay < bestDay || onDay == bestDay && all < bestAll {
			best, bestDay, bestAll = at, onDay, all
		}
	}
	return best
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
