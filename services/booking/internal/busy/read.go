package busy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say whose calendar it is, and which days matter.
type Options struct {
	// Zone is the business's: floating times and whole days are its own.
	Zone *time.Location
	// From and To bound what is read: events that touch the time between.
	From, To time.Time
	// Addresses are the person's: an event that one of them declined takes no time.
	Addresses []string
	// Own reports whether an event with this UID is our own appointment. With nil no event is.
	Own func(uid string) bool
	// Within bounds how long the reading takes; 0 does not. Events behind that are left out, and a problem says so.
	Within time.Duration
}

// Span is a time that is taken. End is not part of it.
type Span struct{ Start, End time.Time }

// Calendar is what a file takes.
type Calendar struct {
	// Busy are the times, in order; those that touch or overlap are one.
	Busy []Span
	// Events is how many occurrences of events they are made of.
	Events int
	// Problems are what was left out, in the order of the file.
	Problems []Problem
}

// Problem is an event that could not be read, by the line that is to blame.
type Problem struct {
	Line   int
	Reason string
}

func (p Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Reason) }

const (
	// mostBytes is the largest file that is read.
	mostBytes = 20 << 20
	// mostTimes bounds the occurrences of a file, mostSteps what is tried of one rule to find them.
	mostTimes, mostSteps = 100_000, 50_000
)

// Errors of files that are not read at all.
var (
	ErrTooLarge   = errors.New("the calendar has more than 20 MB")
	errNoCalendar = errors.New("this is no calendar: it does not begin with BEGIN:VCALENDAR")
	errCutOff     = errors.New("the calendar ends in the middle")
	ErrTooMany    = errors.New("the calendar has too many times")
)

// Read returns the times that a file takes. An event that is broken is left out and named. The error is for a file that is read not at all, and says why.
func Read(file []byte, o Options) (Calendar, error) {
	if len(file) > mostBytes {
		return Calendar{}, ErrTooLarge
	}
	began := time.Now()
	r := reader{Options: o, zones: map[string]zone{}, names: map[string]zone{}}
	if err := r.read(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))); err != nil {
		return Calendar{}, err
	}
	for _, s := range r.series() {
		if o.Within > 0 && time.Since(began) > o.Within {
			r.problem(s.first().line, "reading the calendar takes too long; this event and others are left out")
			break
		}
		r.expand(s)
		if len(r.found) > mostTimes {
			return Calendar{}, ErrTooMany
		}
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	return Calendar{Busy: Join(r.found), Events: len(r.found), Problems: r.problems}, nil
}

type reader struct {
	Options
	events   []*event
	zones    map[string]zone // that the file defines, by TZID
	names    map[string]zone // that were looked up, nil for none
	found    []Span
	problems []Problem
}

func (r *reader) problem(line int, reason string) {
	r.problems = append(r.problems, Problem{line, reason})
}

// component is what stands between a BEGIN and its END. Lines of parts inside it are theirs.
type component struct {
	line  int
	name  string
	lines []line
	parts []component
}

// of returns the first line of a name.
func (c component) of(name string) (line, bool) {
	i := slices.IndexFunc(c.lines, func(l line) bool { return l.name == name })
	if i < 0 {
		return line{}, false
	}
	return c.lines[i], true
}

// deepest is how deep components may stand inside each other.
const deepest = 8

// read takes a file apart. Zones come before events, whatever their order in the file.
func (r *reader) read(file []byte) error {
	l := lines{file: file}
	first, ok := l.next()
	if !ok || first.name != "BEGIN" || !strings.EqualFold(first.value, "VCALENDAR") {
		return errNoCalendar
	}
	open := []component{{line: first.n, name: "VCALENDAR"}}
	var events, zones []component
	for len(l.file) > 0 {
		at, ok := l.next()
		if !ok {
			break
		}
		value := strings.ToUpper(strings.TrimSpace(at.value))
		switch {
		case at.name == "BEGIN":
			if len(open) > deepest {
				return errNoCalendar
			}
			open = append(open, component{line: at.n, name: value})
		case at.name == "END" && len(open) > 0:
			done := open[len(open)-1]
			open = open[:len(open)-1]
			switch {
			case done.name == "VEVENT":
				events = append(events, done)
			case done.name == "VTIMEZONE":
				zones = append(zones, done)
			case len(open) > 1: // parts of a zone or an event
				parent := &open[len(open)-1]
				parent.parts = append(parent.parts, done)
			}
		case len(open) > 1 && wanted[at.name]:
			top := &open[len(open)-1]
			top.lines = append(top.lines, at)
		}
	}
	if len(open) > 0 {
		return errCutOff
	}
	for _, z := range zones {
		r.define(z)
	}
	for _, c := range events {
		if e, err := r.event(c); err != nil {
			p, _ := errors.AsType[Problem](err)
			r.problem(p.Line, p.Reason)
		} else if e != nil {
			r.events = append(r.events, e)
		}
	}
	return nil
}

// wanted are the properties that decide something.
var wanted = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`UID DTSTART DTEND DURATION RRULE RDATE EXDATE RECURRENCE-ID SEQUENCE STATUS TRANSP ATTENDEE X-MICROSOFT-CDO-BUSYSTATUS
		TZID TZOFFSETFROM TZOFFSETTO X-LIC-LOCATION`) {
		all[name] = true
	}
	return all
}()

// Join sorts times; those that touch or overlap become one. It changes all.
func Join(all []Span) []Span {
	slices.SortFunc(all, func(a, b Span) int { return a.Start.Compare(b.Start) })
	var out []Span
	for _, s := range all {
		if n := len(out); n > 0 && !s.Start.After(out[n-1].End) {
			if s.End.After(out[n-1].End) {
				out[n-1].End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	return out
}
