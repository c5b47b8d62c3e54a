package slots

import (
	"fmt"
	"time"
)

// Day is a local calendar day, counted from 1970-01-01.
type Day int

const daySeconds = 24 * 60 * 60

// parseDay reads YYYY-MM-DD.
func parseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day written as YYYY-MM-DD", s)
	}
	return DayOf(t, time.UTC), nil
}

// DayOf returns the day that t falls on in the zone.
func DayOf(t time.Time, zone *time.Location) Day {
	t = t.In(zone)
	y, m, d := t.Date()
	return Day(floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), daySeconds))
}

// String writes YYYY-MM-DD.
func (d Day) String() string { return d.utc().Format(time.DateOnly) }

// MarshalText writes YYYY-MM-DD.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads YYYY-MM-DD.
func (d *Day) UnmarshalText(b []byte) (err error) {
	*d, err = parseDay(string(b))
	return err
}

// Weekday is the ISO number of the day in its week, from 1 for Monday to 7 for Sunday.
func (d Day) Weekday() int {
	// 1970-01-01 was a Thursday.
	return int(((int64(d)+3)%7+7)%7) + 1
}

// utc is the midnight in UTC that carries the same date.
func (d Day) utc() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
