package slots

import (
	"fmt"
	"time"

	"frontdesk/libs/fault"
)

// MaxDays is how long a period can be.
const MaxDays = 62

// FirstDay and LastDay bound the days that anybody can ask for; later years have five digits.
var (
	FirstDay, _ = parseDay("1970-01-01")
	LastDay, _  = parseDay("2199-12-31")
)

// notInCalendar is a day beyond FirstDay or LastDay.
func notInCalendar() fault.Problem {
	return fault.NewProblem("out_of_range", "must be between "+FirstDay.String()+" and "+LastDay.String(), "min", FirstDay.String(), "max", LastDay.String())
}

// Before is the problem of a period whose end lies before its start, which is the parameter that it names.
func Before(start string) fault.Problem {
	return fault.NewProblem("before", "must not be before "+start, "other", start)
}

// ReadDay reads the day of the parameter name, and adds to found what is wrong with it.
func ReadDay(name, text string, found fault.Problems) Day {
	day, err := parseDay(text)
	switch {
	case err != nil:
		found.Add(name, fault.Day())
	case day < FirstDay || day > LastDay:
		found.Add(name, notInCalendar())
	}
	return day
}

// Period reads local days from and to, both included. An end that is left out makes a period of days
// days; both left out start at first.
func Period(from, to string, first Day, days int) (a, b Day, err error) {
	found := fault.Problems{}
	span := Day(days - 1)
	a, b = first, first+span
	switch {
	case from != "" && to != "":
		a, b = ReadDay("from", from, found), ReadDay("to", to, found)
	case from != "":
		a = ReadDay("from", from, found)
		b = a + span
	case to != "":
		b = ReadDay("to", to, found)
		a = b - span
		// A period that ends soon starts where it would have without an end.
		if first <= b && first > a {
			a = first
		}
	}
	switch {
	case len(found) > 0:
	case b < a:
		found.Add("to", Before("from"))
	case b-a >= MaxDays:
		found.Add("to", fault.NewProblem("too_long", fmt.Sprintf("must be at most %d days from from, both included", MaxDays), "max", MaxDays))
	}
	return a, b, found.Err()
}

// CheckStart refuses times that no calendar can show.
func CheckStart(start time.Time) error {
	if start.Nanosecond() != 0 {
		return fault.Invalid("starts_at", fault.NewProblem("whole_second", "must be a whole second"))
	}
	if day := DayOf(start, time.UTC); day <= FirstDay || day >= LastDay {
		return fault.Invalid("starts_at", notInCalendar())
	}
	return nil
}
