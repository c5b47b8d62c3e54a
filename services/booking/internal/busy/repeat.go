package busy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// window is a stretch of a clock's time.
type window struct{ from, to time.Time }

// rule is an RRULE. It counts what the clock shows, so it knows no zones.
type rule struct {
	line   int
	option rrule.ROption
}

// parseRule reads a rule of an event that begins when its clock shows start. onClock is what the clock shows at a moment, for UNTIL.
func parseRule(l line, start time.Time, onClock func(time.Time) time.Time) (rule, error) {
	broken := Problem{l.n, "RRULE cannot be read"}
	var parts []string
	var until time.Time
	for part := range strings.SplitSeq(strings.ToUpper(strings.TrimSpace(l.value)), ";") {
		name, value, _ := strings.Cut(part, "=")
		switch {
		case part == "": // some end with a semicolon
		case name == "UNTIL":
			var err error
			switch {
			case len(value) == 8:
				if until, err = time.Parse("20060102", value); err == nil && start.Format("150405") != "000000" {
					until = until.Add(24*time.Hour - time.Second)
				}
			case strings.HasSuffix(value, "Z"):
				if until, err = time.Parse("20060102T150405Z", value); err == nil {
					until = onClock(until)
				}
			default:
				until, err = time.Parse("20060102T150405", value)
			}
			if err != nil {
				return rule{}, broken
			}
		case name == "BYEASTER": // no part of the format
			return rule{}, broken
		default:
			parts = append(parts, part)
		}
	}
	o, err := rrule.StrToROption(strings.Join(parts, ";"))
	if err != nil {
		return rule{}, broken
	}
	if o.Interval < 0 || o.Count < 0 {
		return rule{}, broken
	}
	o.Dtstart, o.Until = start, until
	if _, err := rrule.NewRRule(*o); err != nil {
		return rule{}, broken
	}
	return rule{l.n, *o}, nil
}

// ended reports whether nothing is left of the rule: it ends before its event begins.
func (r rule) ended() bool {
	return !r.option.Until.IsZero() && r.option.Until.Before(r.option.Dtstart)
}

// each calls f with what the clock shows at each occurrence within a window. The error is a Problem for a rule with too many.
func (r rule) each(w window, f func(wall time.Time)) (err error) {
	defer func() {
		if recover() != nil {
			err = Problem{r.line, "RRULE cannot be read"}
		}
	}()
	o := r.option
	o.Dtstart = r.near(w.from)
	if o.Until.IsZero() || o.Until.After(w.to) {
		o.Until = w.to
	}
	rr, err := rrule.NewRRule(o)
	if err != nil {
		return Problem{r.line, "RRULE cannot be read"}
	}
	next := rr.Iterator()
	for range mostSteps {
		wall, ok := next()
		if !ok || wall.After(w.to) {
			return nil
		}
		if !wall.Before(w.from) {
			f(wall)
		}
	}
	return Problem{r.line, "the event repeats too often to be read"}
}

// near is the beginning of the rule, or a later one with the same occurrences from a time on. A rule that counts its occurrences has to be gone
// through from its beginning; months and years are few.
func (r rule) near(from time.Time) time.Time {
	start := r.option.Dtstart
	unit := map[rrule.Frequency]time.Duration{rrule.WEEKLY: 7 * 24 * time.Hour, rrule.DAILY: 24 * time.Hour, rrule.HOURLY: time.Hour, rrule.MINUTELY: time.Minute, rrule.SECONDLY: time.Second}[r.option.Freq]
	if r.option.Count > 0 || unit == 0 {
		return start
	}
	step := unit * time.Duration(max(1, r.option.Interval))
	// Seconds in between count too, where days are filtered by position: two whole steps are left.
	if n := from.Sub(start)/step - 2; n > 0 && from.Sub(start) < 1<<62 {
		return start.Add(from.Sub(start).Truncate(step) - 2*step)
	}
	return start
}

// series is an event with what replaces its occurrences.
type series struct {
	main   *event // nil if the file has only replacements
	others []*event
}

func (s series) first() *event {
	if s.main != nil {
		return s.main
	}
	return s.others[0]
}

// series groups events by UID, in the order of the file. Of two that say the same the one with the higher SEQUENCE counts, else the later one.
func (r *reader) series() []series {
	var all []series
	at := map[string]int{}
	for _, e := range r.events {
		i, known := at[e.uid]
		if !known || e.uid == "" {
			at[e.uid] = len(all)
			i = len(all)
			all = append(all, series{})
		}
		s := &all[i]
		switch {
		case e.replaces == nil && (s.main == nil || s.main.sequence <= e.sequence):
			s.main = e
		case e.replaces != nil:
			same := slices.IndexFunc(s.others, func(o *event) bool { return o.replaces.utc().Equal(e.replaces.utc()) })
			switch {
			case same < 0:
				s.others = append(s.others, e)
			case s.others[same].sequence <= e.sequence:
				s.others[same] = e
			}
		}
	}
	return all
}

// expand adds the times that a series takes.
func (r *reader) expand(s series) {
	before := len(r.found)
	e := s.main
	if e == nil {
		for _, o := range s.others {
			r.take(o, o.start.wall, o.start.zone, o.length)
		}
		return
	}
	later := slices.DeleteFunc(slices.Clone(s.others), func(o *event) bool { return !o.following })
	slices.SortFunc(later, func(a, b *event) int { return a.replaces.utc().Compare(b.replaces.utc()) })
	w := r.windowOf(e, later)
	done, gone := clock{}, clock{}
	for _, m := range e.except {
		gone.add(m, e.start.zone)
	}
	for _, o := range s.others {
		// What was taken out stays so, also if it was moved before.
		if !gone.has(o.replaces.in(e.start.zone)) {
			r.take(o, o.start.wall, o.start.zone, o.length)
		}
	}
	for _, o := range s.others {
		gone.add(*o.replaces, e.start.zone)
	}
	occurs := func(wall time.Time, length *duration) {
		if done.has(wall) || gone.has(wall) || wall.Before(w.from) || wall.After(w.to) {
			return
		}
		done[wall.Unix()] = true
		like, begins := e, wall
		for _, o := range later {
			if at := o.replaces.in(e.start.zone); !wall.After(at) {
				break
			}
			like, begins = o, wall.Add(o.start.in(e.start.zone).Sub(o.replaces.in(e.start.zone)))
		}
		if length == nil {
			length = &like.length
		}
		r.take(like, begins, e.start.zone, *length)
	}
	if !slices.ContainsFunc(e.rules, rule.ended) {
		occurs(e.start.wall, nil)
	}
	for _, p := range e.more {
		occurs(p.in(e.start.zone), p.length)
	}
	for _, rule := range e.rules {
		if rule.ended() {
			continue
		}
		if err := rule.each(w, func(wall time.Time) { occurs(wall, nil) }); err != nil {
			p, _ := errors.AsType[Problem](err)
			r.problem(p.Line, p.Reason)
			r.found = r.found[:before] // a part of it would look like all
			return
		}
	}
}

// windowOf is the time on the clock of an event in which its occurrences have to be looked for: they last, and may have moved.
func (r *reader) windowOf(e *event, later []*event) window {
	slack := 48 * time.Hour
	for _, o := range append(later, e) {
		slack = max(slack, time.Duration(o.length.days+2)*24*time.Hour+o.length.exact)
		if o.replaces != nil {
			slack = max(slack, 48*time.Hour+o.start.in(e.start.zone).Sub(o.replaces.in(e.start.zone)).Abs()+time.Duration(o.length.days)*24*time.Hour+o.length.exact)
		}
	}
	return window{r.From.UTC().Add(-slack), r.To.UTC().Add(slack)}
}

// clock holds times that a clock shows. A whole day stands beside the times as its number, below every second that matters.
type clock map[int64]bool

const secondsOfDay = 24 * 60 * 60

func (c clock) add(m moment, z zone) {
	if m.day {
		c[-m.wall.Unix()/secondsOfDay-1] = true
		return
	}
	c[m.in(z).Unix()] = true
}

func (c clock) has(wall time.Time) bool {
	return c[wall.Unix()] || c[-wall.Unix()/secondsOfDay-1]
}

// take adds a time that begins when the clock of a zone shows wall, if the event takes time and it touches the days that matter.
func (r *reader) take(e *event, wall time.Time, z zone, length duration) {
	s := Span{z.utc(wall), z.utc(length.after(wall))}
	if !s.Start.Before(s.End) {
		s.End = s.Start.Add(length.after(wall).Sub(wall)) // it lies in an hour that is skipped
	}
	if e.takes && s.Start.Before(s.End) && s.Start.Before(r.To) && r.From.Before(s.End) && len(r.found) <= mostTimes {
		r.found = append(r.found, s)
	}
}
