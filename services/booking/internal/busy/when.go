package busy

import (
	"strconv"
	"strings"
	"time"
)

// moment is a time as a calendar writes it: what the clock of a zone shows. A whole day is midnight in the zone of the business.
type moment struct {
	wall time.Time // in UTC, whatever the zone
	day  bool
	zone zone
}

func (m moment) utc() time.Time { return m.zone.utc(m.wall) }

// in is the moment on the clock of another zone. A whole day stays what it is.
func (m moment) in(z zone) time.Time {
	if m.day || sameZone(m.zone, z) {
		return m.wall
	}
	return z.wall(m.utc())
}

// moments reads the values of a line such as DTSTART or EXDATE. A period, as RDATE may have it, ends with its length.
func (r *reader) moments(l line) (all []period, err error) {
	z, err := r.zoneOf(l)
	if err != nil {
		return nil, err
	}
	for value := range strings.SplitSeq(l.value, ",") {
		from, to, isPeriod := strings.Cut(value, "/")
		var p period
		if p.moment, err = r.parse(l, from, z); err != nil {
			return nil, err
		}
		switch {
		case !isPeriod:
		case strings.HasPrefix(to, "P"):
			length, ok := parseDuration(to)
			if !ok {
				return nil, Problem{l.n, l.name + " has a length that cannot be read"}
			}
			p.length = &length
		default:
			end, err := r.parse(l, to, z)
			if err != nil {
				return nil, err
			}
			p.length = &duration{exact: end.utc().Sub(p.utc())}
		}
		all = append(all, p)
	}
	return all, nil
}

// period is a moment, with a length of its own if it has one.
type period struct {
	moment
	length *duration
}

// moment is moments for a line with one value.
func (r *reader) moment(l line) (moment, error) {
	all, err := r.moments(l)
	if err != nil {
		return moment{}, err
	}
	if len(all) != 1 {
		return moment{}, Problem{l.n, l.name + " has several values"}
	}
	return all[0].moment, nil
}

func (r *reader) parse(l line, value string, z zone) (moment, error) {
	value = strings.TrimSpace(value)
	m := moment{zone: z}
	var err error
	switch {
	case len(value) == 8:
		m.day, m.zone = true, located{r.Zone}
		m.wall, err = time.Parse("20060102", value)
	case strings.HasSuffix(value, "Z"):
		m.zone = located{time.UTC}
		m.wall, err = time.Parse("20060102T150405Z", value)
	default:
		m.wall, err = time.Parse("20060102T150405", value)
	}
	if err != nil {
		return m, Problem{l.n, l.name + " is no date or time"}
	}
	return m, nil
}

// duration has days, which are as long as the clock says, and an exact part.
type duration struct {
	days  int
	exact time.Duration
}

// after returns what the clock of a zone shows when the duration is over, that began when it showed wall. Hours go by the clock too: an
// event from ten to six ends at six, also in the night in which clocks change.
func (d duration) after(wall time.Time) time.Time { return wall.AddDate(0, 0, d.days).Add(d.exact) }

// longest bounds a duration: nobody is busy for longer.
const longestDays = 3660

func parseDuration(text string) (d duration, ok bool) {
	text, negative := strings.CutPrefix(strings.TrimPrefix(text, "+"), "-")
	text, ok = strings.CutPrefix(text, "P")
	if !ok || negative || text == "" {
		return d, false
	}
	inTime := false
	for text != "" {
		if text[0] == 'T' && !inTime {
			inTime, text = true, text[1:]
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if end < 1 {
			return d, false
		}
		n, err := strconv.Atoi(text[:end])
		if err != nil || n > longestDays*24*60*60 {
			return d, false
		}
		switch unit := text[end]; {
		case unit == 'W' && !inTime:
			d.days += 7 * n
		case unit == 'D' && !inTime:
			d.days += n
		case unit == 'H' && inTime:
			d.exact += time.Duration(n) * time.Hour
		case unit == 'M' && inTime:
			d.exact += time.Duration(n) * time.Minute
		case unit == 'S' && inTime:
			d.exact += time.Duration(n) * time.Second
		default:
			return d, false
		}
		text = text[end+1:]
	}
	return d, d.days <= longestDays && d.exact <= longestDays*24*time.Hour
}
