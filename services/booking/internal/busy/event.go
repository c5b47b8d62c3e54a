package busy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/address"
)

// event is a VEVENT, as far as it decides what is taken.
type event struct {
	line     int
	uid      string
	sequence int
	start    moment
	length   duration
	takes    bool
	rules    []rule
	more     []period // RDATE
	except   []moment // EXDATE
	// replaces is the occurrence that this one stands for, and with following all behind it too; nil for an event of its own.
	replaces  *moment
	following bool
}

// event reads a component; nil for one of our own. The error is a Problem.
func (r *reader) event(c component) (*event, error) {
	e := &event{line: c.line}
	if l, ok := c.of("UID"); ok {
		e.uid = strings.TrimSpace(l.value)
	}
	if r.Own != nil && e.uid != "" && r.Own(e.uid) {
		return nil, nil
	}
	e.takes = r.takes(c)
	l, ok := c.of("DTSTART")
	if !ok {
		return nil, Problem{c.line, "the event has no beginning (DTSTART)"}
	}
	var err error
	if e.start, err = r.moment(l); err != nil {
		return nil, err
	}
	if e.length, err = r.lengthOf(c, e.start); err != nil {
		return nil, err
	}
	if l, ok := c.of("SEQUENCE"); ok {
		e.sequence, _ = strconv.Atoi(strings.TrimSpace(l.value)) // a text that is no number counts as 0
	}
	if l, ok := c.of("RECURRENCE-ID"); ok {
		m, err := r.moment(l)
		if err != nil {
			return nil, err
		}
		e.replaces, e.following = &m, strings.EqualFold(l.params["RANGE"], "THISANDFUTURE")
		return e, nil // it is one occurrence, whatever else it says
	}
	for _, l := range c.lines {
		switch l.name {
		case "RRULE":
			rule, err := parseRule(l, e.start.wall, e.onClock)
			if err != nil {
				return nil, err
			}
			e.rules = append(e.rules, rule)
		case "RDATE":
			times, err := r.moments(l)
			if err != nil {
				return nil, err
			}
			e.more = append(e.more, times...)
		case "EXDATE":
			times, err := r.moments(l)
			if err != nil {
				return nil, err
			}
			for _, t := range times {
				e.except = append(e.except, t.moment)
			}
		}
	}
	return e, nil
}

// onClock is what the clock of the event shows at a moment. Whole days know no hours.
func (e *event) onClock(utc time.Time) time.Time {
	if e.start.day {
		return utc
	}
	return e.start.zone.wall(utc)
}

// lengthOf is how long an event takes: until its end, or for a duration, or a whole day; else no time at all.
func (r *reader) lengthOf(c component, start moment) (duration, error) {
	if l, ok := c.of("DTEND"); ok {
		end, err := r.moment(l)
		if err != nil {
			return duration{}, err
		}
		var d duration
		switch {
		case start.day && end.day:
			d.days = max(1, int(end.wall.Sub(start.wall)/(24*time.Hour))) // some write the day itself as its end
			if end.wall.Before(start.wall) {
				d.days = -1
			}
		case sameZone(start.zone, end.zone) && start.day == end.day:
			d.exact = end.wall.Sub(start.wall)
		default:
			d.exact = end.utc().Sub(start.utc())
		}
		if d.days < 0 || d.exact < 0 {
			return d, Problem{l.n, "the event ends before it begins"}
		}
		if d.days > longestDays || d.exact > longestDays*24*time.Hour {
			return d, Problem{l.n, "the event is longer than ten years"}
		}
		return d, nil
	}
	if l, ok := c.of("DURATION"); ok {
		d, ok := parseDuration(strings.ToUpper(strings.TrimSpace(l.value)))
		if !ok {
			return d, Problem{l.n, "DURATION cannot be read"}
		}
		return d, nil
	}
	if start.day {
		return duration{days: 1}, nil
	}
	return duration{}, nil
}

// takes reports whether an event takes time: it is not cancelled, the person has not declined it, and it is not shown as free.
func (r *reader) takes(c component) bool {
	var busy bool
	transparency, hasTransparency := c.of("TRANSP")
	switch status, _ := c.of("X-MICROSOFT-CDO-BUSYSTATUS"); {
	case hasTransparency: // it counts where the two contradict each other
		busy = !strings.EqualFold(strings.TrimSpace(transparency.value), "TRANSPARENT")
	default:
		busy = !slices.Contains([]string{"FREE", "WORKINGELSEWHERE"}, strings.ToUpper(strings.TrimSpace(status.value)))
	}
	if status, _ := c.of("STATUS"); strings.EqualFold(strings.TrimSpace(status.value), "CANCELLED") {
		return false
	}
	return busy && !slices.ContainsFunc(c.lines, func(l line) bool {
		return l.name == "ATTENDEE" && strings.EqualFold(l.params["PARTSTAT"], "DECLINED") && r.isPerson(l.value)
	})
}

func (r *reader) isPerson(attendee string) bool {
	at := strings.TrimSpace(attendee)
	if scheme, rest, ok := strings.Cut(at, ":"); ok && strings.EqualFold(scheme, "mailto") {
		at = rest
	}
	return slices.ContainsFunc(r.Addresses, func(own string) bool { return own != "" && address.Key(own) == address.Key(at) })
}
