package booking

import (
	"fmt"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/slots"
)

const maxDays = 62

// firstDay and lastDay bound the days that anybody can ask for; later years have five digits.
var (
	firstDay, _ = slots.ParseDay("1970-01-01")
	lastDay, _  = slots.ParseDay("2199-12-31")
)

// notInCalendar is a day beyond firstDay or lastDay.
func notInCalendar() fault.Problem {
	return fault.NewProblem("out_of_range", "must be between "+firstDay.String()+" and "+lastDay.String(), "min", firstDay.String(), "max", lastDay.String())
}

// before is the problem of a period whose end lies before its start, which is the parameter that it names.
func before(start string) fault.Problem {
	return fault.NewProblem("before", "must not be before "+start, "other", start)
}

func parseDay(name, text string, found fault.Problems) slots.Day {
	day, err := slots.ParseDay(text)
	switch {
	case err != nil:
		found.Add(name, fault.Day())
	case day < firstDay || day > lastDay:
		found.Add(name, notInCalendar())
	}
	return day
}

// period reads local days from and to, both included. An end that is left out makes a period of days
// days; both left out start at first.
func period(from, to string, first slots.Day, days int) (a, b slots.Day, err error) {
	found := fault.Problems{}
	span := slots.Day(days - 1)
	a, b = first, first+span
	switch {
	case from != "" && to != "":
		a, b = parseDay("from", from, found), parseDay("to", to, found)
	case from != "":
		a = parseDay("from", from, found)
		b = a + span
	case to != "":
		b = parseDay("to", to, found)
		a = b - span
		// A period that ends soon starts where it would have without an end.
		if first <= b && first > a {
			a = first
		}
	}
	switch {
	case len(found) > 0:
	case b < a:
		found.Add("to", before("from"))
	case b-a >= maxDays:
		found.Add("to", fault.NewProblem("too_long", fmt.Sprintf("must be at most %d days from from, both included", maxDays), "max", maxDays))
	}
	return a, b, found.Err()
}

func (s *service) today(now time.Time) slots.Day { return slots.DayOf(now, s.Config.Zone) }

// checkStart refuses times that no calendar can show.
func checkStart(start time.Time) error {
	if start.Nanosecond() != 0 {
		return fault.Invalid("starts_at", fault.NewProblem("whole_second", "must be a whole second"))
	}
	if day := slots.DayOf(start, time.UTC); day <= firstDay || day >= lastDay {
		return fault.Invalid("starts_at", notInCalendar())
	}
	return nil
}
