package busy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var brussels = func() *time.Location {
	l, err := time.LoadLocation("Europe/Brussels")
	if err != nil {
		panic(err)
	}
	return l
}()

// march is a window around the night of 29 March 2026, in which clocks go forward.
var march = Options{Zone: brussels, From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Addresses: []string{"ada@example.com"}}

// calendar is a file with events; | ends a line.
func calendar(parts ...string) []byte {
	return []byte(strings.ReplaceAll("BEGIN:VCALENDAR|VERSION:2.0|"+strings.Join(parts, "")+"END:VCALENDAR|", "|", "\r\n"))
}

func vevent(lines string) string { return "BEGIN:VEVENT|" + lines + "|END:VEVENT|" }

// times are those of a file, on the clock of Brussels.
func times(t testing.TB, file []byte) (all []string) {
	t.Helper()
	read, err := Read(file, march)
	require.NoError(t, err)
	require.Empty(t, read.Problems)
	for _, s := range read.Busy {
		all = append(all, s.Start.In(brussels).Format("0102 15:04")+" "+s.End.In(brussels).Format("0102 15:04"))
	}
	return all
}

func TestAnEventTakesItsTime(t *testing.T) {
	for what, c := range map[string]struct {
		lines string
		want  []string
	}{
		"in UTC":                          {"DTSTART:20260302T090000Z|DTEND:20260302T100000Z", []string{"0302 10:00 0302 11:00"}},
		"in a zone":                       {"DTSTART;TZID=America/New_York:20260302T090000|DTEND;TZID=America/New_York:20260302T100000", []string{"0302 15:00 0302 16:00"}},
		"by the clock of the business":    {"DTSTART:20260302T090000|DTEND:20260302T100000", []string{"0302 09:00 0302 10:00"}},
		"in a zone as Windows calls it":   {"DTSTART;TZID=W. Europe Standard Time:20260302T090000|DURATION:PT1H30M", []string{"0302 09:00 0302 10:30"}},
		"in a zone behind a path":         {"DTSTART;TZID=/freeassociation.sourceforge.net/Europe/London:20260302T090000|DURATION:PT1H", []string{"0302 10:00 0302 11:00"}},
		"in quotes":                       {`DTSTART;X="a;b:c";TZID="Europe/London":20260302T090000|DURATION:PT1H`, []string{"0302 10:00 0302 11:00"}},
		"from one zone to another":        {"DTSTART;TZID=Europe/London:20260302T090000|DTEND;TZID=Europe/Brussels:20260302T120000", []string{"0302 10:00 0302 12:00"}},
		"on a whole day":                  {"DTSTART;VALUE=DATE:20260302", []string{"0302 00:00 0303 00:00"}},
		"on a whole day that ends itself": {"DTSTART;VALUE=DATE:20260302|DTEND;VALUE=DATE:20260302", []string{"0302 00:00 0303 00:00"}},
		"over the night of the change":    {"DTSTART;VALUE=DATE:20260328|DTEND;VALUE=DATE:20260330", []string{"0328 00:00 0330 00:00"}},
		"over midnight":                   {"DTSTART:20260302T220000|DTEND:20260303T060000", []string{"0302 22:00 0303 06:00"}},
		"in the hour that is skipped":     {"DTSTART;TZID=Europe/Brussels:20260329T023000|DTEND;TZID=Europe/Brussels:20260329T040000", []string{"0329 03:30 0329 04:00"}},
		"for weeks":                       {"DTSTART;VALUE=DATE:20260302|DURATION:P1W", []string{"0302 00:00 0309 00:00"}},
		"each night, by the clock":        {"DTSTART;TZID=Europe/Brussels:20260328T220000|DTEND;TZID=Europe/Brussels:20260329T060000|RRULE:FREQ=DAILY;COUNT=2", []string{"0328 22:00 0329 06:00", "0329 22:00 0330 06:00"}},
		"for no time":                     {"DTSTART:20260302T090000Z", nil},
		"outside the days that matter":    {"DTSTART:20260102T090000Z|DURATION:PT1H", nil},
		"into the days that matter":       {"DTSTART:20260228T220000Z|DURATION:P2D", []string{"0228 23:00 0302 23:00"}},
		"tentatively":                     {"DTSTART:20260302T090000Z|DURATION:PT1H|STATUS:TENTATIVE", []string{"0302 10:00 0302 11:00"}},
		"although it is cancelled":        {"DTSTART:20260302T090000Z|DURATION:PT1H|STATUS:CANCELLED", nil},
		"although it is transparent":      {"DTSTART:20260302T090000Z|DURATION:PT1H|TRANSP:TRANSPARENT", nil},
		"although Outlook shows it free":  {"DTSTART:20260302T090000Z|DURATION:PT1H|X-MICROSOFT-CDO-BUSYSTATUS:FREE", nil},
		"elsewhere":                       {"DTSTART:20260302T090000Z|DURATION:PT1H|X-MICROSOFT-CDO-BUSYSTATUS:WORKINGELSEWHERE", nil},
		"out of the office":               {"DTSTART:20260302T090000Z|DURATION:PT1H|X-MICROSOFT-CDO-BUSYSTATUS:OOF", []string{"0302 10:00 0302 11:00"}},
		"where the two contradict":        {"DTSTART:20260302T090000Z|DURATION:PT1H|X-MICROSOFT-CDO-BUSYSTATUS:FREE|TRANSP:OPAQUE", []string{"0302 10:00 0302 11:00"}},
		"although the person declined":    {"DTSTART:20260302T090000Z|DURATION:PT1H|ATTENDEE;PARTSTAT=DECLINED:MAILTO:Ada@example.com", nil},
		"which somebody else declined":    {"DTSTART:20260302T090000Z|DURATION:PT1H|ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com", []string{"0302 10:00 0302 11:00"}},
		"beside a reminder in it":         {"DTSTART:20260302T090000Z|DURATION:PT1H|BEGIN:VALARM|DURATION:PT5H|TRIGGER:-PT1H|END:VALARM", []string{"0302 10:00 0302 11:00"}},
		"by a period of its own":          {"DTSTART:20260302T090000Z|DURATION:PT1H|RDATE;VALUE=PERIOD:20260303T090000Z/PT2H,20260304T090000Z/20260304T120000Z", []string{"0302 10:00 0302 11:00", "0303 10:00 0303 12:00", "0304 10:00 0304 13:00"}},
		"but not on a day taken out":      {"DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=DAILY;COUNT=3|EXDATE;VALUE=DATE:20260303", []string{"0302 10:00 0302 11:00", "0304 10:00 0304 11:00"}},
		"since long ago, by the minute":   {"DTSTART:19700101T000000Z|DURATION:PT1H|RRULE:FREQ=MINUTELY;INTERVAL=44640;UNTIL=20260401T000000Z", []string{"0310 01:00 0310 02:00"}},
	} {
		t.Run(what, func(t *testing.T) { require.Equal(t, c.want, times(t, calendar(vevent("UID:x|"+c.lines)))) })
	}
}

func TestOneOccurrenceIsAnotherEvent(t *testing.T) {
	weekly := vevent("UID:x|DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=WEEKLY;COUNT=4")
	for what, c := range map[string]struct {
		others string
		want   []string
	}{
		"that is moved":                {vevent("UID:x|RECURRENCE-ID:20260309T090000Z|DTSTART:20260310T090000Z|DURATION:PT2H"), []string{"0302 10:00 0302 11:00", "0310 10:00 0310 12:00", "0316 10:00 0316 11:00", "0323 10:00 0323 11:00"}},
		"that is named in its zone":    {vevent("UID:x|RECURRENCE-ID;TZID=Europe/Brussels:20260309T100000|DTSTART:20260310T090000Z|DURATION:PT2H"), []string{"0302 10:00 0302 11:00", "0310 10:00 0310 12:00", "0316 10:00 0316 11:00", "0323 10:00 0323 11:00"}},
		"that is cancelled":            {vevent("UID:x|RECURRENCE-ID:20260309T090000Z|DTSTART:20260309T090000Z|DURATION:PT1H|STATUS:CANCELLED"), []string{"0302 10:00 0302 11:00", "0316 10:00 0316 11:00", "0323 10:00 0323 11:00"}},
		"and all behind it":            {vevent("UID:x|RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T090000Z|DTSTART:20260309T100000Z|DURATION:PT2H"), []string{"0302 10:00 0302 11:00", "0309 11:00 0309 13:00", "0316 11:00 0316 13:00", "0323 11:00 0323 13:00"}},
		"that comes in from elsewhere": {vevent("UID:x|RECURRENCE-ID:20260316T090000Z|DTSTART:20260402T090000Z|DURATION:PT1H"), []string{"0302 10:00 0302 11:00", "0309 10:00 0309 11:00", "0323 10:00 0323 11:00", "0402 11:00 0402 12:00"}},
		"in two versions": {vevent("UID:x|SEQUENCE:2|RECURRENCE-ID:20260309T090000Z|DTSTART:20260310T090000Z|DURATION:PT2H") + vevent("UID:x|SEQUENCE:1|RECURRENCE-ID:20260309T090000Z|DTSTART:20260311T090000Z|DURATION:PT2H"),
			[]string{"0302 10:00 0302 11:00", "0310 10:00 0310 12:00", "0316 10:00 0316 11:00", "0323 10:00 0323 11:00"}},
	} {
		t.Run(what, func(t *testing.T) {
			require.Equal(t, c.want, times(t, calendar(weekly, c.others)))
			require.Equal(t, c.want, times(t, calendar(c.others, weekly)), "whatever their order")
		})
	}
	require.Equal(t, []string{"0310 10:00 0310 12:00"}, times(t, calendar(vevent("UID:y|RECURRENCE-ID:20260309T090000Z|DTSTART:20260310T090000Z|DURATION:PT2H"))), "without the rest of the series")
}

func TestAZoneOfTheFileItselfIsUsed(t *testing.T) {
	office := "BEGIN:VTIMEZONE|TZID:Our office|BEGIN:STANDARD|DTSTART:16011028T030000|RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10|TZOFFSETFROM:+0200|TZOFFSETTO:+0100|END:STANDARD|" +
		"BEGIN:DAYLIGHT|DTSTART:16010325T020000|RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3|TZOFFSETFROM:+0100|TZOFFSETTO:+0200|END:DAYLIGHT|END:VTIMEZONE|"
	meeting := vevent("UID:x|DTSTART;TZID=Our office:20260326T090000|DTEND;TZID=Our office:20260326T100000|RRULE:FREQ=WEEKLY;COUNT=2")
	want := []string{"0326 09:00 0326 10:00", "0402 09:00 0402 10:00"}
	require.Equal(t, want, times(t, calendar(office, meeting)))
	require.Equal(t, want, times(t, calendar(meeting, office)))
	night := vevent("UID:x|DTSTART;TZID=Our office:20260329T023000|DURATION:PT1H")
	require.Equal(t, []string{"0329 03:30 0329 04:30"}, times(t, calendar(office, night)))
	named := "BEGIN:VTIMEZONE|TZID:Elsewhere|X-LIC-LOCATION:Europe/London|END:VTIMEZONE|"
	require.Equal(t, []string{"0326 10:00 0326 11:00"}, times(t, calendar(named, vevent("UID:x|DTSTART;TZID=Elsewhere:20260326T090000|DURATION:PT1H"))))
}

func TestOurOwnAppointmentsTakeNoTimeOfTheirOwn(t *testing.T) {
	o := march
	o.Own = func(uid string) bool { return strings.HasSuffix(uid, "@frontdesk") }
	read, err := Read(calendar(vevent("UID:1@frontdesk|DTSTART:20260302T090000Z|DURATION:PT1H"), vevent("UID:2@example.com|DTSTART:20260303T090000Z|DURATION:PT1H")), o)
	require.NoError(t, err)
	require.Len(t, read.Busy, 1)
	require.Equal(t, 1, read.Events)
}

func TestABrokenEventIsLeftOutAndNamedByItsLine(t *testing.T) {
	good := vevent("UID:good|DTSTART:20260302T090000Z|DURATION:PT1H")
	for lines, line := range map[string]int{
		"UID:x": 9, "UID:x|DTSTART:tomorrow|DURATION:PT1H": 11, "UID:x|DTSTART;TZID=Nowhere/Land:20260302T090000|DURATION:PT1H": 11, "UID:x|DTSTART:20260302T090000Z|DTEND:20260302T080000Z": 12,
		"UID:x|DTSTART:20260302T090000Z|DURATION:forever": 12, "UID:x|DTSTART:20260302T090000Z|DURATION:-PT1H": 12, "UID:x|DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=SOMETIMES": 13,
		"UID:x|DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=DAILY;UNTIL=never": 13, "UID:x|DTSTART:20260302T090000Z|DURATION:PT1H|EXDATE:20261399T000000Z": 13,
		"UID:x|DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=SECONDLY": 13, "UID:x|DTSTART:20260302T090000Z,20260303T090000Z": 11, "UID:x|DTSTART|DURATION:PT1H": 11,
		"UID:x|DTSTART:20260302T090000Z|DTEND:29990302T080000Z": 12, "UID:x|DTSTART:19700101T000000Z|DURATION:PT1H|RRULE:FREQ=SECONDLY;COUNT=999999999": 13,
	} {
		file := strings.Replace(string(calendar(good, vevent(lines))), "UID:good\r\n", "UID:go\r\n od\r\n", 1) // a folded line is one more
		read, err := Read([]byte(file), march)
		require.NoError(t, err)
		require.NotEmpty(t, read.Busy, lines)
		require.Len(t, read.Problems, 1, lines)
		require.Equal(t, line, read.Problems[0].Line, "%s: %v", lines, read.Problems)
		require.NotEmpty(t, read.Problems[0].Reason)
	}
}

func TestWhatIsNoCalendarFails(t *testing.T) {
	for file, want := range map[string]error{
		"": errNoCalendar, "<!doctype html><title>Sign in</title>": errNoCalendar, "BEGIN:VEVENT\r\nEND:VEVENT\r\n": errNoCalendar,
		"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:x\r\n": errCutOff, strings.Repeat("x", mostBytes+1): ErrTooLarge,
		"BEGIN:VCALENDAR\r\n" + strings.Repeat("BEGIN:X\r\n", 100): errNoCalendar,
	} {
		_, err := Read([]byte(file), march)
		require.ErrorIs(t, err, want)
	}
	read, err := Read([]byte("\xef\xbb\xbfbegin:vcalendar\nend:vcalendar\n"), march)
	require.NoError(t, err)
	require.Empty(t, read.Busy)
}

func TestTooManyTimesFailAndEndSoon(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s", vevent(fmt.Sprintf("UID:%d|DTSTART:20260302T090000Z|DURATION:PT1M|RRULE:FREQ=MINUTELY;INTERVAL=15", i)))
	}
	_, err := Read(calendar(b.String()), march)
	require.ErrorIs(t, err, ErrTooMany)

	b.Reset()
	for i := range 20000 {
		fmt.Fprintf(&b, "%s", vevent(fmt.Sprintf("UID:%d|DTSTART:19700101T000000Z|DURATION:PT1M|RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", i)))
	}
	o := march
	o.Within = time.Millisecond
	read, err := Read(calendar(b.String()), o)
	require.NoError(t, err)
	require.Len(t, read.Problems, 1)
}

// Whatever the file is, it is read without harm; spans are in order and apart, and touch the days that matter.
func FuzzAnyFileIsRead(f *testing.F) {
	f.Add(calendar(vevent("UID:x|DTSTART;VALUE=DATE:20260302|RRULE:FREQ=MONTHLY;BYDAY=-1FR;BYSETPOS=1|EXDATE;VALUE=DATE:20260327")))
	f.Add([]byte("BEGIN:VCALENDAR\n \n:\n;\nBEGIN\nEND\nEND:VCALENDAR"))
	f.Fuzz(func(t *testing.T, file []byte) {
		o := march
		o.Within = time.Second
		read, err := Read(file, o)
		if err != nil {
			return
		}
		for i, s := range read.Busy {
			require.True(t, s.Start.Before(s.End) && s.Start.Before(o.To) && o.From.Before(s.End))
			require.True(t, i == 0 || read.Busy[i-1].End.Before(s.Start))
		}
	})
}

func TestTheOrderOfEventsAndTheFoldsOfLinesChangeNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	events := []string{vevent("UID:a|DTSTART:20260302T090000Z|DURATION:PT1H|RRULE:FREQ=WEEKLY"), vevent("UID:b|DTSTART;VALUE=DATE:20260310|RRULE:FREQ=MONTHLY"),
		vevent("UID:c|DTSTART;TZID=Europe/London:20260311T120000|DURATION:PT30M|RRULE:FREQ=DAILY;COUNT=9"), vevent("UID:a|RECURRENCE-ID:20260309T090000Z|DTSTART:20260310T090000Z|DURATION:PT2H")}
	want := times(t, calendar(events...))
	for range 50 {
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		file := calendar(events...)
		for range 20 {
			at := random.IntN(len(file)-40) + 20
			if file[at] > ' ' && file[at-1] > ' ' {
				file = append(append(append([]byte{}, file[:at]...), "\r\n "...), file[at:]...)
			}
		}
		require.Equal(t, want, times(t, file))
	}
}

func TestAProblemNamesItsLine(t *testing.T) {
	require.Equal(t, "line 3: x", Problem{3, "x"}.Error())
	p, ok := errors.AsType[Problem](error(Problem{3, "x"}))
	require.True(t, ok)
	require.Equal(t, 3, p.Line)
}

func BenchmarkTenThousandEvents(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		rule := ""
		if i%10 == 0 {
			rule = "|RRULE:FREQ=WEEKLY;BYDAY=MO,WE"
		}
		text.WriteString(vevent(fmt.Sprintf("UID:%d|DTSTART;TZID=Europe/Brussels:20%02d0302T090000|DURATION:PT1H|SUMMARY:x%s", i, i%27, rule)))
	}
	file := calendar(text.String())
	for b.Loop() {
		if _, err := Read(file, march); err != nil {
			b.Fatal(err)
		}
	}
}
