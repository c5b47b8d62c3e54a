package slots

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The oracle knows one thing: what the clock on the wall shows at each minute. It walks through the
// period minute by minute and shares no code with the package but its types.
type oracle struct {
	b       Business
	minutes []reading
	first   int64
}

type reading struct {
	day    string
	minute int
}

func newOracle(b Business, from, to Day) oracle {
	o := oracle{b: b, first: int64(from-2) * 86400}
	for t := o.first; t < int64(to+5)*86400; t += 60 {
		local := time.Unix(t, 0).In(b.Zone)
		o.minutes = append(o.minutes, reading{local.Format("2006-01-02"), local.Hour()*60 + local.Minute()})
	}
	return o
}

func (r reading) in(day string, b Block) bool {
	return r.day == day && r.minute >= b.Start && r.minute < b.End
}

func (o oracle) open(p Person, at int) (open bool) {
	r := o.minutes[at]
	for _, e := range append(append([]Exception{}, o.b.Closures...), p.Exceptions...) {
		if r.day >= e.From.String() && r.day <= e.To.String() && r.in(r.day, e.Block) {
			if !e.Extra {
				return false
			}
			open = true
		}
	}
	day, _ := time.Parse("2006-01-02", r.day)
	for _, b := range p.Hours[(int(day.Weekday())+6)%7] {
		open = open || r.in(r.day, b)
	}
	return open
}

// onGrid walks back from a minute to the first of each block that it is in.
func (o oracle) onGrid(r Rule, p Person, at int) bool {
	step := r.Step
	if step == 0 {
		step = r.Duration
	}
	now := o.minutes[at]
	day, _ := time.Parse("2006-01-02", now.day)
	blocks := append([]Block{}, p.Hours[(int(day.Weekday())+6)%7]...)
	for _, e := range append(append([]Exception{}, o.b.Closures...), p.Exceptions...) {
		if e.Extra && now.day >= e.From.String() && now.day <= e.To.String() {
			blocks = append(blocks, e.Block)
		}
	}
	for _, b := range blocks {
		if !now.in(now.day, b) {
			continue
		}
		start := at
		for o.minutes[start-1].in(now.day, b) {
			start--
		}
		if (at-start)%step == 0 {
			return true
		}
	}
	return false
}

func (o oracle) free(r Rule, p Person, at int, now time.Time) bool {
	start := time.Unix(o.first+int64(at)*60, 0)
	end := start.Add(time.Duration(r.Duration) * time.Minute)
	if start.Before(now.Add(time.Duration(r.Notice) * time.Minute)) {
		return false
	}
	if r.Horizon > 0 && start.After(now.In(o.b.Zone).AddDate(0, 0, r.Horizon)) {
		return false
	}
	if !o.onGrid(r, p, at) {
		return false
	}
	for m := at; m < at+r.Duration; m++ {
		if !o.open(p, m) {
			return false
		}
	}
	for _, a := range p.Busy {
		before := time.Duration(max(r.Before, a.After)) * time.Minute
		after := time.Duration(max(r.After, a.Before)) * time.Minute
		if start.Before(a.End.Add(before)) && a.Start.Before(end.Add(after)) {
			return false
		}
	}
	for _, e := range p.Elsewhere {
		if start.Unix() < e.End+int64(r.Before)*60 && e.Start < end.Unix()+int64(r.After)*60 {
			return false
		}
	}
	return true
}

// moments are days around which clocks do something, and a dull one.
var moments = []struct{ zone, day string }{
	{"Europe/Brussels", "2026-03-29"}, {"Europe/Brussels", "2026-10-25"}, {"Europe/Brussels", "2027-02-28"},
	{"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"},
	{"Australia/Lord_Howe", "2026-04-05"}, {"Australia/Lord_Howe", "2026-10-04"},
	{"Pacific/Apia", "2011-12-30"}, {"Asia/Kathmandu", "2026-12-31"}, {"America/St_Johns", "2010-11-07"},
	{"America/Sao_Paulo", "2018-11-04"}, {"America/Sao_Paulo", "2018-02-18"}, {"Asia/Beirut", "2026-03-29"},
	{"Africa/Casablanca", "2026-02-15"}, {"Antarctica/Troll", "2026-03-29"}, {"Pacific/Kwajalein", "1993-08-21"},
	{"America/Havana", "2026-11-01"}, {"UTC", "2028-02-29"},
}

func blockGen(t *rapid.T, label string) Block {
	unit := rapid.SampledFrom([]int{60, 30, 15, 5, 1}).Draw(t, label+" unit")
	n := dayMinutes / unit
	start := rapid.IntRange(0, n-1).Draw(t, label+" start")
	end := rapid.IntRange(start+1, n).Draw(t, label+" end")
	return Block{start * unit, end * unit}
}

func exceptionGen(t *rapid.T, around Day, label string) Exception {
	e := Exception{From: around + Day(rapid.IntRange(-1, 2).Draw(t, label+" from"))}
	e.To = e.From + Day(rapid.IntRange(0, 1).Draw(t, label+" days"))
	e.Extra = rapid.Bool().Draw(t, label+" extra")
	e.Block = AllDay
	if e.Extra || rapid.Bool().Draw(t, label+" timed") {
		e.Block = blockGen(t, label)
	}
	return e
}

func personGen(t *rapid.T, id int64, around Day) Person {
	p := Person{ID: id}
	full := rapid.IntRange(0, 3).Draw(t, "full") == 0
	for i := range p.Hours {
		if full {
			p.Hours[i] = []Block{AllDay}
			continue
		}
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			b := blockGen(t, "hours")
			clash := false
			for _, o := range p.Hours[i] {
				clash = clash || b.Start < o.End && o.Start < b.End
			}
			if !clash {
				p.Hours[i] = append(p.Hours[i], b)
			}
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "exceptions") {
		p.Exceptions = append(p.Exceptions, exceptionGen(t, around, "exception"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "busy") {
		start := int64(around)*86400 + int64(rapid.IntRange(-1440, 3*1440).Draw(t, "busy start"))*60
		p.Busy = append(p.Busy, Busy{
			Start:  time.Unix(start, 0),
			End:    time.Unix(start+60*int64(rapid.IntRange(1, 240).Draw(t, "busy length")), 0),
			Before: rapid.IntRange(0, 60).Draw(t, "busy before"),
			After:  rapid.IntRange(0, 60).Draw(t, "busy after"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "elsewhere") {
		start := int64(around)*86400 + int64(rapid.IntRange(-1440, 3*1440).Draw(t, "elsewhere start"))*60
		p.Elsewhere = append(p.Elsewhere, Elsewhere{start, start + 60*int64(rapid.IntRange(1, 1440).Draw(t, "elsewhere length"))})
	}
	slices.SortFunc(p.Elsewhere, func(a, b Elsewhere) int { return cmp.Compare(a.Start, b.Start) })
	return p
}

type question struct {
	b        Business
	r        Rule
	people   []Person
	from, to Day
	now      time.Time
}

func questionGen(t *rapid.T) question {
	m := rapid.SampledFrom(moments).Draw(t, "moment")
	zone, err := time.LoadLocation(m.zone)
	require.NoError(t, err)
	around, err := parseDay(m.day)
	require.NoError(t, err)
	q := question{b: Business{Zone: zone}}
	for range rapid.IntRange(0, 1).Draw(t, "closures") {
		e := exceptionGen(t, around, "closure")
		e.Extra = false
		q.b.Closures = append(q.b.Closures, e)
	}
	q.r = Rule{
		Duration: rapid.OneOf(rapid.IntRange(1, 180), rapid.SampledFrom([]int{5, 60, 1440})).Draw(t, "duration"),
		Before:   rapid.IntRange(0, 60).Draw(t, "before"),
		After:    rapid.IntRange(0, 60).Draw(t, "after"),
		Step:     rapid.SampledFrom([]int{0, 5, 15, 50, 60, 240}).Draw(t, "step"),
		Notice:   rapid.SampledFrom([]int{0, 0, 60, 1500}).Draw(t, "notice"),
		Horizon:  rapid.SampledFrom([]int{0, 1, 2, 30}).Draw(t, "horizon"),
	}
	q.from = around + Day(rapid.IntRange(-1, 0).Draw(t, "from"))
	q.to = q.from + Day(rapid.IntRange(0, 2).Draw(t, "days"))
	q.now = time.Unix(int64(around)*86400+int64(rapid.IntRange(-3*86400, 86400).Draw(t, "now")), 0)
	for id := range rapid.IntRange(1, 3).Draw(t, "people") {
		q.people = append(q.people, personGen(t, int64(id+1), around))
	}
	return q
}

func TestSlotsAreThoseOfTheMinuteByMinuteModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := questionGen(t)
		o := newOracle(q.b, q.from, q.to)
		want := map[int64][]int64{}
		for at, r := range o.minutes {
			if r.day < q.from.String() || r.day > q.to.String() {
				continue
			}
			for _, p := range q.people {
				if o.free(q.r, p, at, q.now) {
					start := o.first + int64(at)*60
					want[start] = append(want[start], p.ID)
				}
			}
		}

		got := map[int64][]int64{}
		last := time.Time{}
		for _, s := range List(q.b, q.r, q.people, q.from, q.to, q.now) {
			require.True(t, s.Start.After(last), "slots come in order, each once")
			require.Equal(t, time.Duration(q.r.Duration)*time.Minute, s.End.Sub(s.Start))
			require.Equal(t, time.UTC, s.Start.Location())
			last = s.Start
			got[s.Start.Unix()] = s.Staff
		}
		require.Equal(t, want, got)
	})
}

func TestASlotIsListedExactlyWhenItIsBookable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := questionGen(t)
		listed := map[int64]map[int64]bool{}
		for _, s := range List(q.b, q.r, q.people, q.from, q.to, q.now) {
			listed[s.Start.Unix()] = map[int64]bool{}
			for _, id := range s.Staff {
				listed[s.Start.Unix()][id] = true
			}
		}
		start, end := Bounds(q.b.Zone, q.from, q.to)
		check := func(at int64) {
			for _, p := range q.people {
				free := Free(q.b, q.r, p, time.Unix(at, 0), q.now)
				require.Equal(t, listed[at][p.ID], free, "%s for %d", time.Unix(at, 0).In(q.b.Zone), p.ID)
			}
		}
		for at := range listed {
			check(at)
		}
		if start.Before(end) {
			for range 50 {
				at := rapid.Int64Range(start.Unix(), end.Unix()-1).Draw(t, "at")
				// Where a clock is put back over midnight, an hour of the day before lies between two parts of a day.
				if day := DayOf(time.Unix(at, 0), q.b.Zone); q.from <= day && day <= q.to {
					check(at)
				}
			}
		}
	})
}

func TestTwoAcceptedBookingsKeepTheLargerBufferBetweenThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Business{Zone: time.UTC}
		p := Person{ID: 1}
		for i := range p.Hours {
			p.Hours[i] = []Block{AllDay}
		}
		now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		for range 20 {
			r := Rule{Duration: rapid.IntRange(5, 90).Draw(t, "duration"), Step: 5,
				Before: rapid.IntRange(0, 40).Draw(t, "before"), After: rapid.IntRange(0, 40).Draw(t, "after")}
			start := now.Add(time.Duration(rapid.IntRange(0, 288).Draw(t, "at")) * 5 * time.Minute)
			require.Equal(t, Free(b, r, p, start, now), Clear(r, p, start), "only other appointments are in the way")
			if Clear(r, p, start) {
				p.Busy = append(p.Busy, Busy{Start: start, End: start.Add(time.Duration(r.Duration) * time.Minute), Before: r.Before, After: r.After})
			}
		}
		for i, x := range p.Busy {
			for _, y := range p.Busy[i+1:] {
				if y.Start.Before(x.Start) {
					x, y = y, x
				}
				require.GreaterOrEqual(t, y.Start.Sub(x.End), time.Duration(max(x.After, y.Before))*time.Minute)
			}
		}
	})
}

func TestWorkingHoursAreTheOpenMinutesOfTheDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := Day(rapid.IntRange(0, 40000).Draw(t, "day"))
		b := Business{Zone: time.UTC, Closures: []Exception{{From: day, To: day, Block: blockGen(t, "closure")}}}
		p := personGen(t, 1, day)
		o := newOracle(b, day, day)
		var want [][2]string
		open := false
		for at, r := range o.minutes {
			if r.day != day.String() {
				continue
			}
			if now := o.open(p, at); now != open {
				if now {
					want = append(want, [2]string{formatClock(r.minute), "24:00"})
				} else {
					want[len(want)-1][1] = formatClock(r.minute)
				}
				open = now
			}
		}
		got := WorkingHours(b, p, day)
		require.NotNil(t, got)
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}
