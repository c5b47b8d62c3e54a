package booking

import (
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

func parseDay(name, text string, params map[string]string) slots.Day {
	day, err := slots.ParseDay(text)
	switch {
	case err != nil:
		params[name] = "must be a day written as YYYY-MM-DD"
	case day < firstDay || day > lastDay:
		params[name] = "must be between " + firstDay.String() + " and " + lastDay.String()
	}
	return day
}

// period reads local days from and to, both included. An end that is left out makes a period of days
// days; both left out start at first.
func period(from, to string, first slots.Day, days int) (a, b slots.Day, err error) {
	params := map[string]string{}
	span := slots.Day(days - 1)
	a, b = first, first+span
	switch {
	case from != "" && to != "":
		a, b = parseDay("from", from, params), parseDay("to", to, params)
	case from != "":
		a = parseDay("from", from, params)
		b = a + span
	case to != "":
		b = parseDay("to", to, params)
		a = b - span
		// A period that ends soon starts where it would have without an end.
		if first <= b && first > a {
			a = first
		}
	}
	if len(params) > 0 {
		return 0, 0, fault.Params(params)
	}
	if b < a {
		return 0, 0, fault.Param("to", "must not be before from")
	}
	if b-a >= maxDays {
		return 0, 0, fault.Param("to", "must be at most %d days from from, both included", maxDays)
	}
	return a, b, nil
}

func (s *service) today(now time.Time) slots.Day { return slots.DayOf(now, s.Config.Zone) }

// checkStart refuses times that no calendar can show.
func checkStart(start time.Time) error {
	if start.Nanosecond() != 0 {
		return fault.Param("starts_at", "must be a whole second")
	}
	if day := slots.DayOf(start, time.UTC); day <= firstDay || day >= lastDay {
		return fault.Param("starts_at", "must be between %s and %s", firstDay, lastDay)
	}
	return nil
}
