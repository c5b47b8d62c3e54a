package slots

import "time"

// Business is what holds for everyone: the zone of all local times, and the closures of the whole
// business (exceptions without a person).
type Business struct {
	Zone     *time.Location
	Closures []Exception
}

// Person is one staff member's time.
type Person struct {
	ID         int64
	Hours      Week
	Exceptions []Exception
	Taken
}

// Taken is the time of somebody that is taken: all that can touch the period asked about, which is within a day and the longest buffer of it.
type Taken struct {
	// Busy holds the appointments, in any order.
	Busy []Busy
	// Elsewhere holds what calendars of other programs take, in the order of the begins. The team may book over it, and it is nobody's workload.
	Elsewhere []Elsewhere
}

// Elsewhere is a time that is no appointment, in seconds since 1970.
type Elsewhere struct{ Start, End int64 }

// Exception takes time off, or adds hours when Extra. It holds on each day from From to To, during
// Block (AllDay for the whole day). What is closed stays closed whatever extra hours say.
type Exception struct {
	From, To Day
	Block    Block
	Extra    bool
}

// Touches reports whether the exception covers any moment of an appointment.
func (e Exception) Touches(zone *time.Location, start, end time.Time) bool {
	// An hour that repeats around midnight can bring a day back.
	from, to := max(e.From, DayOf(start, zone)-1), min(e.To, DayOf(end, zone)+1)
	if from > to {
		return false
	}
	w := newWall(zone, from, to)
	for d := from; d <= to; d++ {
		for _, s := range w.append(nil, d, e.Block) {
			if s.start < end.Unix() && start.Unix() < s.end {
				return true
			}
		}
	}
	return false
}

// Busy is the time of an appointment, or one taken elsewhere, without its buffers, and the minutes to be kept free around it.
// Between two appointments the larger of the two buffers that face each other is kept.
type Busy struct {
	Start, End    time.Time
	Before, After int
}

// WorkingHours returns the hours of a person on a day as [start, end] pairs of HH:MM: weekly and extra
// hours, less time off and closures, joined where they touch. It is never nil.
func WorkingHours(b Business, p Person, d Day) [][2]string {
	var s scratch
	s.load(b, p, d)
	out := make([][2]string, len(s.left))
	for i, block := range s.left {
		out[i] = block.Strings()
	}
	return out
}

// scratch holds the blocks of one day of one person, and is used again for the next.
type scratch struct {
	// blocks are the weekly and extra hours as given, left is what remains of them after time off.
	blocks, left []Block
	open, closed []Block
}

func (s *scratch) load(b Business, p Person, d Day) {
	s.blocks = append(s.blocks[:0], p.Hours[d.Weekday()-1]...)
	s.closed = s.closed[:0]
	for _, exceptions := range [2][]Exception{b.Closures, p.Exceptions} {
		for _, e := range exceptions {
			switch {
			case d < e.From || d > e.To:
			case e.Extra:
				s.blocks = append(s.blocks, e.Block)
			default:
				s.closed = append(s.closed, e.Block)
			}
		}
	}
	s.open = merge(append(s.open[:0], s.blocks...))
	s.left = subtract(s.left[:0], s.open, merge(s.closed))
}
