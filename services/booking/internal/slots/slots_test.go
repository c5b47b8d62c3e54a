package slots

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func day(t testing.TB, s string) Day {
	t.Helper()
	d, err := parseDay(s)
	require.NoError(t, err)
	return d
}

// everyDay reads "09:00-12:00 13:00-17:00" as the hours of all weekdays.
func everyDay(t testing.TB, text string) (w Week) {
	t.Helper()
	for i := range w {
		w[i] = blocks(t, text)
	}
	return w
}

func blocks(t testing.TB, text string) (out []Block) {
	t.Helper()
	for _, pair := range strings.Fields(text) {
		start, end, _ := strings.Cut(pair, "-")
		b, err := ParseBlock(start, end)
		require.NoError(t, err)
		out = append(out, b)
	}
	return out
}

// local writes the starts as the clock on the wall shows them.
func local(slots []Slot, z *time.Location) string {
	var out []string
	for _, s := range slots {
		out = append(out, s.Start.In(z).Format("02T15:04Z07:00"))
	}
	return strings.Join(out, " ")
}

var longAgo = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

func TestClocksThatChange(t *testing.T) {
	for _, c := range []struct {
		name, zone, from, to, hours string
		rule                        Rule
		want                        string
	}{
		{"Brussels skips two o'clock", "Europe/Brussels", "2026-03-29", "2026-03-29", "00:00-05:00", Rule{Duration: 60},
			"29T00:00+01:00 29T01:00+01:00 29T03:00+02:00 29T04:00+02:00"},
		{"an appointment runs across the skipped hour", "Europe/Brussels", "2026-03-29", "2026-03-29", "01:00-04:00", Rule{Duration: 90, Step: 30},
			"29T01:00+01:00 29T01:30+01:00"},
		{"hours inside the skipped hour are none", "Europe/Brussels", "2026-03-29", "2026-03-29", "02:00-03:00", Rule{Duration: 5},
			""},
		{"blocks on both sides of the skipped hour touch", "Europe/Brussels", "2026-03-29", "2026-03-29", "01:30-02:00 03:00-03:30", Rule{Duration: 60},
			"29T01:30+01:00"},
		{"Brussels has two o'clock twice", "Europe/Brussels", "2026-10-25", "2026-10-25", "01:00-04:00", Rule{Duration: 60},
			"25T01:00+02:00 25T02:00+02:00 25T02:00+01:00 25T03:00+01:00"},
		{"hours that end inside the repeated hour are kept both times", "Europe/Brussels", "2026-10-25", "2026-10-25", "01:30-02:30", Rule{Duration: 30},
			"25T01:30+02:00 25T02:00+02:00 25T02:00+01:00"},
		{"the working day is the same wall time on both sides", "Europe/Brussels", "2026-10-24", "2026-10-26", "09:00-10:00", Rule{Duration: 60},
			"24T09:00+02:00 25T09:00+01:00 26T09:00+01:00"},
		{"New York springs forward", "America/New_York", "2026-03-08", "2026-03-08", "01:00-04:00", Rule{Duration: 60},
			"08T01:00-05:00 08T03:00-04:00"},
		{"New York falls back", "America/New_York", "2026-11-01", "2026-11-01", "00:30-02:30", Rule{Duration: 60},
			"01T00:30-04:00 01T01:30-04:00 01T01:30-05:00"},
		{"Lord Howe goes back by half an hour", "Australia/Lord_Howe", "2026-04-05", "2026-04-05", "01:00-03:00", Rule{Duration: 30},
			"05T01:00+11:00 05T01:30+11:00 05T01:30+10:30 05T02:00+10:30 05T02:30+10:30"},
		{"Lord Howe goes forward by half an hour", "Australia/Lord_Howe", "2026-10-04", "2026-10-04", "01:00-03:30", Rule{Duration: 60},
			"04T01:00+10:30 04T02:30+11:00"},
		{"Apia has no 30 December 2011", "Pacific/Apia", "2011-12-29", "2011-12-31", "00:00-02:00", Rule{Duration: 60},
			"29T00:00-10:00 29T01:00-10:00 31T00:00+14:00 31T01:00+14:00"},
		{"an appointment runs over the day that Apia skips", "Pacific/Apia", "2011-12-29", "2011-12-31", "23:30-24:00 00:00-00:30", Rule{Duration: 60},
			"29T23:30-10:00 31T23:30+14:00"},
		{"Kathmandu is a quarter off", "Asia/Kathmandu", "2026-06-01", "2026-06-01", "09:00-10:00", Rule{Duration: 30},
			"01T09:00+05:45 01T09:30+05:45"},
		{"Sao Paulo's day began at one", "America/Sao_Paulo", "2018-11-04", "2018-11-04", "00:00-03:00", Rule{Duration: 60},
			"04T01:00-02:00 04T02:00-02:00"},
		{"Sao Paulo's last hour came again", "America/Sao_Paulo", "2018-02-17", "2018-02-17", "22:00-24:00", Rule{Duration: 60},
			"17T22:00-02:00 17T23:00-02:00 17T23:00-03:00"},
		{"St John's went back over midnight", "America/St_Johns", "2010-11-06", "2010-11-06", "23:00-24:00", Rule{Duration: 30},
			"06T23:00-02:30 06T23:30-02:30 06T23:01-03:30"},
		{"a month ends and a leap day comes", "UTC", "2028-02-28", "2028-03-01", "12:00-13:00", Rule{Duration: 60},
			"28T12:00Z 29T12:00Z 01T12:00Z"},
		{"a year ends", "Europe/Brussels", "2026-12-31", "2027-01-01", "12:00-13:00", Rule{Duration: 60},
			"31T12:00+01:00 01T12:00+01:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := zone(t, c.zone)
			p := Person{ID: 1, Hours: everyDay(t, "00:00-24:00")}
			for i := range p.Hours {
				p.Hours[i] = merge(blocks(t, c.hours))
			}
			got := List(Business{Zone: z}, c.rule, []Person{p}, day(t, c.from), day(t, c.to), longAgo)
			require.Equal(t, c.want, local(got, z))
		})
	}
}

func TestTheGrid(t *testing.T) {
	for _, c := range []struct {
		name, hours string
		exceptions  []string // "closed 10:00-11:00", "extra 18:00-19:00"
		busy        []string
		rule        Rule
		want        string
	}{
		{"steps by the length when the step is 0", "09:00-12:00", nil, nil, Rule{Duration: 45},
			"09:00 09:45 10:30 11:15"},
		{"steps by the step", "09:00-10:30", nil, nil, Rule{Duration: 45, Step: 15},
			"09:00 09:15 09:30 09:45"},
		{"starts again at each block", "09:00-10:50 13:10-15:00", nil, nil, Rule{Duration: 50},
			"09:00 09:50 13:10 14:00"},
		{"lets an appointment run from one block into the next that touches it", "09:00-10:00 10:00-11:00", nil, nil, Rule{Duration: 90, Step: 30},
			"09:00 09:30"},
		{"is not moved by time off", "09:00-13:00", []string{"closed 09:30-10:15"}, nil, Rule{Duration: 60},
			"11:00 12:00"},
		{"starts at extra hours too", "09:00-10:00", []string{"extra 18:10-19:10"}, nil, Rule{Duration: 30},
			"09:00 09:30 18:10 18:40"},
		{"has each start once where blocks overlap", "09:00-11:00", []string{"extra 10:00-12:00"}, nil, Rule{Duration: 30},
			"09:00 09:30 10:00 10:30 11:00 11:30"},
		{"weaves the grids of blocks that overlap", "09:00-11:00", []string{"extra 10:20-12:00"}, nil, Rule{Duration: 60},
			"09:00 10:00 10:20"},
		{"closed beats extra", "09:00-10:00", []string{"extra 10:00-12:00", "closed 11:00-24:00"}, nil, Rule{Duration: 60},
			"09:00 10:00"},
		{"an appointment takes its time", "09:00-13:00", nil, []string{"10:00-11:00"}, Rule{Duration: 60},
			"09:00 11:00 12:00"},
		{"time between two appointments that is just enough is free", "09:00-13:00", nil, []string{"09:00-10:00", "11:00-13:00"}, Rule{Duration: 60},
			"10:00"},
		{"buffers are kept on both sides", "09:00-13:00", nil, []string{"10:30-11:00"}, Rule{Duration: 30, Before: 30, After: 30},
			"09:00 09:30 11:30 12:00 12:30"},
		{"buffers need no working time", "09:00-10:00", nil, nil, Rule{Duration: 60, Before: 120, After: 120},
			"09:00"},
		{"a block ends at midnight", "22:00-24:00", nil, nil, Rule{Duration: 60},
			"22:00 23:00"},
		{"nothing fits in a block that is too short", "09:00-09:59", nil, nil, Rule{Duration: 60},
			""},
		{"no length offers nothing", "09:00-17:00", nil, nil, Rule{},
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := zone(t, "Europe/Brussels")
			d := day(t, "2026-05-12")
			p := Person{ID: 7, Hours: everyDay(t, c.hours)}
			for _, text := range c.exceptions {
				kind, times, _ := strings.Cut(text, " ")
				p.Exceptions = append(p.Exceptions, Exception{From: d, To: d, Block: blocks(t, times)[0], Extra: kind == "extra"})
			}
			for _, b := range c.busy {
				block := blocks(t, b)[0]
				midnight := time.Date(2026, 5, 12, 0, 0, 0, 0, z)
				p.Busy = append(p.Busy, Busy{
					Start: midnight.Add(time.Duration(block.Start) * time.Minute),
					End:   midnight.Add(time.Duration(block.End) * time.Minute),
				})
			}
			var got []string
			for _, s := range List(Business{Zone: z}, c.rule, []Person{p}, d, d, longAgo) {
				got = append(got, s.Start.In(z).Format("15:04"))
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestTheLargerBufferCountsNotTheSum(t *testing.T) {
	b := Business{Zone: time.UTC}
	d := day(t, "2026-05-12")
	at := func(h, m int) time.Time { return time.Date(2026, 5, 12, h, m, 0, 0, time.UTC) }
	for _, c := range []struct{ after, before, wait int }{{10, 30, 30}, {30, 10, 30}, {0, 0, 0}, {20, 20, 20}, {0, 15, 15}, {15, 0, 15}} {
		p := Person{Hours: everyDay(t, "09:00-17:00"), Taken: Taken{Busy: []Busy{{Start: at(9, 0), End: at(10, 0), After: c.after}}}}
		slots := List(b, Rule{Duration: 30, Step: 5, Before: c.before}, []Person{p}, d, d, longAgo)
		require.Equal(t, at(10, c.wait), slots[0].Start, "%+v", c)
	}
}

func TestNoticeAndHorizonAreBoundariesThatCount(t *testing.T) {
	z := zone(t, "Europe/Brussels")
	b := Business{Zone: z}
	people := []Person{{ID: 1, Hours: everyDay(t, "09:00-12:00")}}
	from, to := day(t, "2026-10-24"), day(t, "2026-10-27")
	now := time.Date(2026, 10, 24, 10, 0, 0, 0, z)
	list := func(r Rule, now time.Time) string { return local(List(b, r, people, from, to, now), z) }

	// The clock goes back in between: one day on is the same time of the next day, 25 hours later.
	require.Equal(t, "24T11:00+02:00 25T09:00+01:00 25T10:00+01:00",
		list(Rule{Duration: 60, Notice: 60, Horizon: 1}, now))
	require.Equal(t, "25T09:00+01:00 25T10:00+01:00",
		list(Rule{Duration: 60, Notice: 60, Horizon: 1}, now.Add(time.Nanosecond)), "a moment late is late")
	require.Equal(t, "24T10:00+02:00 24T11:00+02:00 25T09:00+01:00 25T10:00+01:00 25T11:00+01:00 "+
		"26T09:00+01:00 26T10:00+01:00 26T11:00+01:00 27T09:00+01:00 27T10:00+01:00 27T11:00+01:00",
		list(Rule{Duration: 60}, now), "without notice and horizon only the past is left out")
}

func TestAStartIsExactToTheSecond(t *testing.T) {
	b := Business{Zone: time.UTC}
	p := Person{ID: 1, Hours: everyDay(t, "09:00-12:00")}
	at := time.Date(2026, 5, 12, 9, 0, 0, 0, time.UTC)
	r := Rule{Duration: 60}
	require.True(t, Free(b, r, p, at, longAgo))
	require.True(t, Free(b, r, p, at.In(zone(t, "Asia/Tokyo")), longAgo), "whatever zone it is written in")
	for _, off := range []time.Duration{time.Nanosecond, time.Second, time.Minute, -time.Minute} {
		require.False(t, Free(b, r, p, at.Add(off), longAgo), "%s", off)
	}
	require.False(t, Free(b, r, p, at, at.Add(time.Second)), "the past is not free")
}

func TestSlotsNameEveryoneWhoIsFree(t *testing.T) {
	b := Business{Zone: time.UTC, Closures: []Exception{{From: 20000, To: 20000, Block: Block{0, 540 + 30}}}}
	people := []Person{{ID: 3, Hours: everyDay(t, "09:00-11:00")}, {ID: 1, Hours: everyDay(t, "10:00-12:00")}}
	var got []string
	for _, s := range List(b, Rule{Duration: 60, Step: 30}, people, 20000, 20000, longAgo) {
		got = append(got, fmt.Sprint(s.Start.Format("15:04"), s.Staff))
	}
	require.Equal(t, []string{"09:30[3]", "10:00[3 1]", "10:30[1]", "11:00[1]"}, got)
	require.Empty(t, List(b, Rule{Duration: 60}, nil, 20000, 20000, longAgo))
	require.Empty(t, List(b, Rule{Duration: 60}, people, 20001, 20000, longAgo))
}

func TestAlternativesAreTheNearestFree(t *testing.T) {
	b := Business{Zone: time.UTC}
	at := func(h int) time.Time { return time.Date(2026, 5, 12, h, 0, 0, 0, time.UTC) }
	p := Person{ID: 1, Hours: everyDay(t, "09:00-17:00"), Taken: Taken{Busy: []Busy{{Start: at(12), End: at(13)}}}}
	var got []string
	for _, s := range Nearest(b, Rule{Duration: 60}, []Person{p}, at(12), DayOf(at(0), time.UTC), DayOf(at(0), time.UTC), longAgo, 5) {
		got = append(got, s.Start.Format("15"))
	}
	require.Equal(t, []string{"11", "13", "10", "14", "09"}, got)
	require.Len(t, Nearest(b, Rule{Duration: 60}, []Person{p}, at(12), DayOf(at(0), time.UTC), DayOf(at(0), time.UTC), longAgo, 50), 7)
}

func TestATimeTakenElsewhereIsNotOfferedButMayBeBookedOver(t *testing.T) {
	b := Business{Zone: time.UTC}
	at := func(h, m int) time.Time { return time.Date(2026, 5, 12, h, m, 0, 0, time.UTC) }
	r := Rule{Duration: 60, Step: 15, After: 15}
	p := Person{ID: 1, Hours: everyDay(t, "09:00-17:00"), Taken: Taken{Elsewhere: []Elsewhere{{at(12, 0).Unix(), at(13, 0).Unix()}}}}
	for start, free := range map[time.Time]bool{at(10, 45): true, at(11, 0): false, at(12, 15): false, at(13, 0): true} {
		require.Equal(t, free, Free(b, r, p, start, longAgo), start)
		require.True(t, Clear(r, p, start), start)
	}
	p.Busy = []Busy{{Start: at(12, 0), End: at(13, 0)}}
	require.False(t, Clear(r, p, at(12, 15)))
}

func TestWithoutAnyoneNamedTheLeastBusyPersonIsChosen(t *testing.T) {
	b := Business{Zone: zone(t, "Europe/Brussels")}
	at := func(d, h int) time.Time { return time.Date(2026, 5, d, h, 0, 0, 0, b.Zone) }
	busy := func(d, h, n int) Busy { return Busy{Start: at(d, h), End: at(d, h+n)} }

	require.Equal(t, -1, LeastBusy(b, nil, at(12, 9)))
	require.Equal(t, 1, LeastBusy(b, []Person{
		{ID: 1, Taken: Taken{Busy: []Busy{busy(12, 9, 1)}}},
		{ID: 2, Taken: Taken{Busy: []Busy{busy(13, 9, 8), busy(14, 9, 8)}}},
	}, at(12, 15)), "the day counts first")
	require.Equal(t, 0, LeastBusy(b, []Person{
		{ID: 1, Taken: Taken{Busy: []Busy{busy(13, 9, 1)}}},
		{ID: 2, Taken: Taken{Busy: []Busy{busy(13, 9, 2)}}},
	}, at(12, 15)), "then all that is known")

	elsewhere := []Elsewhere{{at(12, 9).Unix(), at(12, 17).Unix()}}
	require.Equal(t, 0, LeastBusy(b, []Person{{ID: 1, Taken: Taken{Elsewhere: elsewhere}}, {ID: 2, Taken: Taken{Busy: []Busy{busy(12, 9, 1)}}}}, at(12, 18)), "what is done elsewhere is no workload")

	turns := map[int]int{}
	for h := range 300 {
		turns[LeastBusy(b, []Person{{ID: 1}, {ID: 2}, {ID: 3}}, at(1, h))]++
	}
	for i := range 3 {
		require.Greater(t, turns[i], 60, "equals take turns: %v", turns)
	}
}

func TestAnExceptionTouchesTheAppointmentsItCovers(t *testing.T) {
	z := zone(t, "Europe/Brussels")
	d := day(t, "2026-10-25")
	e := Exception{From: d, To: d + 2, Block: Block{9 * 60, 10 * 60}}
	at := func(day, h, m int) time.Time { return time.Date(2026, 10, day, h, m, 0, 0, z) }
	require.True(t, e.Touches(z, at(25, 9, 30), at(25, 9, 45)))
	require.True(t, e.Touches(z, at(27, 8, 0), at(27, 9, 1)))
	require.True(t, e.Touches(z, at(20, 0, 0), at(30, 0, 0)))
	require.False(t, e.Touches(z, at(25, 10, 0), at(25, 11, 0)), "the end is not covered")
	require.False(t, e.Touches(z, at(26, 8, 0), at(26, 9, 0)))
	require.False(t, e.Touches(z, at(28, 9, 0), at(28, 10, 0)))
	require.False(t, e.Touches(z, at(24, 9, 0), at(24, 10, 0)))
}

func TestBoundsAreTheEdgesOfLocalDays(t *testing.T) {
	for _, c := range []struct{ zone, from, to, start, end string }{
		{"Europe/Brussels", "2026-03-29", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Europe/Brussels", "2026-10-25", "2026-10-26", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Pacific/Kiritimati", "2026-01-01", "2026-01-01", "2025-12-31T10:00:00Z", "2026-01-01T10:00:00Z"},
	} {
		start, end := Bounds(zone(t, c.zone), day(t, c.from), day(t, c.to))
		require.Equal(t, c.start, start.Format(time.RFC3339), c.zone)
		require.Equal(t, c.end, end.Format(time.RFC3339), c.zone)
	}
}

// A month for twenty people with five hundred appointments each, in the finest grid and the usual one.
func BenchmarkListMonth(b *testing.B) {
	z := zone(b, "Europe/Brussels")
	from := day(b, "2026-10-01")
	people := make([]Person, 20)
	n := 0
	for i := range people {
		p := Person{ID: int64(i + 1), Hours: everyDay(b, "09:00-12:00 13:00-18:00"),
			Exceptions: []Exception{{From: from + 5, To: from + 6, Block: AllDay}, {From: from + 9, To: from + 9, Block: Block{1140, 1320}, Extra: true}}}
		for j := range 500 {
			start := time.Unix(int64(from)*86400, 0).Add(time.Duration(6*60+j/16*1440+j%16*40+i) * time.Minute)
			p.Busy = append(p.Busy, Busy{Start: start, End: start.Add(25 * time.Minute), Before: 5, After: 5})
			n++
		}
		people[i] = p
	}
	require.Equal(b, 10_000, n)
	business := Business{Zone: z, Closures: []Exception{{From: from + 12, To: from + 12, Block: AllDay}}}
	for _, step := range []int{5, 15, 30} {
		b.Run(fmt.Sprintf("step=%d", step), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				List(business, Rule{Duration: 15, Before: 5, After: 5, Step: step}, people, from, from+30, longAgo)
			}
		})
	}
}
