package busy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// zone says how a clock on a wall goes. An hour that is skipped is counted on by the clock of before; of an hour that comes twice the first is meant.
type zone interface {
	utc(wall time.Time) time.Time
	wall(utc time.Time) time.Time
}

// located is a zone that has a name.
type located struct{ *time.Location }

func (z located) utc(wall time.Time) time.Time {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(z.Location).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := offset(wall.Add(-24*time.Hour)), offset(wall.Add(24*time.Hour))
	for _, o := range []time.Duration{before, after} {
		if at := wall.Add(-o); offset(at) == o {
			return at
		}
	}
	return wall.Add(-before)
}

func (z located) wall(utc time.Time) time.Time {
	_, seconds := utc.In(z.Location).Zone()
	return utc.UTC().Add(time.Duration(seconds) * time.Second)
}

// sameZone reports whether two zones are one, which may have been looked up twice.
func sameZone(a, b zone) bool {
	x, ok := a.(located)
	y, also := b.(located)
	return ok && also && x.String() == y.String() || a == b
}

// ruled is a zone that a file defines, by its changes in order.
type ruled struct{ changes []change }

// change is a moment at which clocks are set. onset is what they show before it.
type change struct {
	onset    time.Time
	from, to time.Duration
}

func (z *ruled) utc(wall time.Time) time.Time {
	for _, c := range slices.Backward(z.changes) {
		if wall.Before(c.onset) {
			continue
		}
		if wall.Before(c.onset.Add(c.to - c.from)) {
			return wall.Add(-c.from)
		}
		return wall.Add(-c.to)
	}
	return wall.Add(-z.changes[0].from)
}

func (z *ruled) wall(utc time.Time) time.Time {
	utc = utc.UTC()
	for _, c := range slices.Backward(z.changes) {
		if !utc.Before(c.onset.Add(-c.from)) {
			return utc.Add(c.to)
		}
	}
	return utc.Add(z.changes[0].from)
}

// zoneOf is the zone of a line's times: the one it names, else the business's.
func (r *reader) zoneOf(l line) (zone, error) {
	id := l.params["TZID"]
	if id == "" {
		return located{r.Zone}, nil
	}
	z, looked := r.names[id]
	if !looked {
		z = named(id)
		r.names[id] = z
	}
	if z != nil {
		return z, nil
	}
	if z := r.zones[id]; z != nil {
		return z, nil
	}
	return nil, Problem{l.n, "the time zone " + strconv.Quote(id) + " is not known, and the calendar does not define it"}
}

// named finds a zone by its IANA name, at whose front programs put a path of their own, or by its name in Windows; nil if it has none.
func named(id string) zone {
	id = strings.TrimSpace(id)
	if iana, ok := windows[id]; ok {
		id = iana
	}
	for rest := strings.Trim(id, "/"); rest != ""; {
		if l, err := time.LoadLocation(rest); err == nil && rest != "Local" {
			return located{l}
		}
		_, after, found := strings.Cut(rest, "/")
		if !found {
			break
		}
		rest = after
	}
	return nil
}

// define takes a zone from the file. A broken one is left out: events that need it say so.
func (r *reader) define(c component) {
	id, ok := c.of("TZID")
	if !ok {
		return
	}
	if l, ok := c.of("X-LIC-LOCATION"); ok {
		if z := named(l.value); z != nil {
			r.zones[id.value] = z
			return
		}
	}
	var all []change
	for _, part := range c.parts {
		changes, ok := r.changes(part)
		if !ok {
			return
		}
		all = append(all, changes...)
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b change) int { return a.onset.Add(-a.from).Compare(b.onset.Add(-b.from)) })
	r.zones[id.value] = &ruled{all}
}

// changes are those of a STANDARD or DAYLIGHT part: its first, and those in the years that matter.
func (r *reader) changes(c component) ([]change, bool) {
	start, hasStart := c.of("DTSTART")
	from, ok := offsetOf(c, "TZOFFSETFROM")
	to, also := offsetOf(c, "TZOFFSETTO")
	if !hasStart || !ok || !also {
		return nil, false
	}
	first, err := r.parse(start, start.value, located{time.UTC})
	if err != nil {
		return nil, false
	}
	all := []change{{first.wall, from, to}}
	span := window{r.From.AddDate(-2, 0, 0), r.To.AddDate(2, 0, 0)}
	for _, l := range c.lines {
		switch l.name {
		case "RRULE":
			rule, err := parseRule(l, first.wall, func(utc time.Time) time.Time { return utc.Add(from) })
			if err != nil || rule.each(span, func(wall time.Time) { all = append(all, change{wall, from, to}) }) != nil {
				return nil, false
			}
		case "RDATE":
			times, err := r.moments(l)
			if err != nil {
				return nil, false
			}
			for _, t := range times {
				all = append(all, change{t.moment.wall, from, to})
			}
		}
	}
	slices.SortFunc(all, func(a, b change) int { return a.onset.Compare(b.onset) })
	return slices.CompactFunc(all, func(a, b change) bool { return a.onset.Equal(b.onset) }), true
}

// offsetOf reads +HHMM or +HHMMSS.
func offsetOf(c component, name string) (time.Duration, bool) {
	l, _ := c.of(name)
	text := strings.TrimSpace(l.value)
	if len(text) != 5 && len(text) != 7 || !strings.ContainsAny(text[:1], "+-") {
		return 0, false
	}
	var parts [3]int
	for i := range (len(text) - 1) / 2 {
		n, err := strconv.Atoi(text[1+2*i : 3+2*i])
		if err != nil || n < 0 {
			return 0, false
		}
		parts[i] = n
	}
	offset := time.Duration(parts[0])*time.Hour + time.Duration(parts[1])*time.Minute + time.Duration(parts[2])*time.Second
	if text[0] == '-' {
		offset = -offset
	}
	return offset, cmp.Compare(offset.Abs(), 24*time.Hour) < 0
}
