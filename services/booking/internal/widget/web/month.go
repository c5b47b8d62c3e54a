package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"frontdesk/libs/web"
)

const dayLayout = "2006-01-02"

// month is a month of free times in a page.
type month struct {
	Name, Previous, Next string // Previous and Next as YYYY-MM, "" when there is nothing to go to
	Weekdays             []weekday
	Weeks                [][]day
	Chosen               *day
	Times                []slot
	Free                 bool
	// NextFree is the first free day after an empty month, as far as is looked.
	NextFree *time.Time
	// Now holds the free times as they came, when this is the present month.
	Now *freeTimes
}

type weekday struct{ Short, Long string }

type day struct {
	Number            int
	Value             string // YYYY-MM-DD, "" outside the month
	Date              time.Time
	Free              int
	IsChosen, IsToday bool
}

// ask gives the free times from one local day to another.
type ask func(from, to time.Time) (freeTimes, error)

// slots asks for those of a service.
func (p *pages) slots(r *http.Request, service string, person int64) ask {
	return func(from, to time.Time) (found freeTimes, err error) {
		q := url.Values{"service": {service}, "from": {from.Format(dayLayout)}, "to": {to.Format(dayLayout)}}
		if person > 0 {
			q.Set("staff", strconv.FormatInt(person, 10))
		}
		err = p.Call(r, http.MethodGet, "/booking/slots", q, nil, "", &found)
		return found, err
	}
}

// moves asks for those to which the same person can move an appointment. Its own time, which it can have too, is no move.
func (p *pages) moves(r *http.Request, m managed) ask {
	return func(from, to time.Time) (found freeTimes, err error) {
		body := map[string]any{"token": m.Token, "staff": m.Appointment.Staff.UserID, "from": from.Format(dayLayout), "to": to.Format(dayLayout)}
		err = p.Call(r, http.MethodPost, "/booking/manage/slots", nil, body, "", &found)
		found.Items = slices.DeleteFunc(found.Items, func(s slot) bool { return s.StartsAt.Equal(m.Appointment.StartsAt) })
		return found, err
	}
}

// horizon bounds how far ahead a month may be asked for.
const horizon = 25

// month reads the month that asked (YYYY-MM or a day) names, else this one, or the next one when this has no free time left.
func (p *pages) month(t *web.Reader, slots ask, asked string) (month, error) {
	today := dayIn(p.desk.Now(), p.Zone)
	this := today.AddDate(0, 0, 1-today.Day())
	first, chosen := this, ""
	if d, err := time.Parse(dayLayout, asked); err == nil {
		first, chosen = d.AddDate(0, 0, 1-d.Day()), asked
	} else if d, err := time.Parse("2006-01", asked); err == nil {
		first = d
	}
	if first.Before(this) || first.After(this.AddDate(0, horizon, 0)) {
		first = this
	}
	m, err := p.readMonth(t, slots, first, today, chosen)
	if err == nil && !m.Free && asked == "" && m.NextFree != nil {
		return p.readMonth(t, slots, m.NextFree.AddDate(0, 0, 1-m.NextFree.Day()), today, "")
	}
	return m, err
}

func (p *pages) readMonth(t *web.Reader, slots ask, first, today time.Time, chosen string) (month, error) {
	last := first.AddDate(0, 1, -1)
	from := first
	if from.Before(today) {
		from = today
	}
	found, err := slots(from, last)
	if err != nil {
		return month{}, err
	}
	m := month{Name: t.Month(first), Free: len(found.Items) > 0}
	if !first.After(today) {
		m.Now = &found
	}
	if first.After(today) {
		m.Previous = first.AddDate(0, -1, 0).Format("2006-01")
	}
	if next := first.AddDate(0, 1, 0); next.Before(today.AddDate(0, horizon, 0)) {
		m.Next = next.Format("2006-01")
	}
	for i := range 7 {
		m.Weekdays = append(m.Weekdays, weekday{t.ShortWeekday(i), t.Weekday(i)})
	}
	byDay := map[string][]slot{}
	for _, s := range found.Items {
		d := s.StartsAt.In(p.Zone).Format(dayLayout)
		byDay[d] = append(byDay[d], s)
	}
	if len(byDay[chosen]) == 0 && m.Free {
		chosen = found.Items[0].StartsAt.In(p.Zone).Format(dayLayout)
	}
	m.Times = byDay[chosen]
	for week := first.AddDate(0, 0, -((int(first.Weekday()) + 6) % 7)); !week.After(last); week = week.AddDate(0, 0, 7) {
		var days []day
		for i := range 7 {
			date := week.AddDate(0, 0, i)
			if date.Before(first) || date.After(last) {
				days = append(days, day{})
				continue
			}
			value := date.Format(dayLayout)
			d := day{Number: date.Day(), Value: value, Date: noon(date, p.Zone), Free: len(byDay[value]), IsChosen: m.Free && value == chosen, IsToday: date.Equal(today)}
			if d.IsChosen {
				m.Chosen = &d
			}
			days = append(days, d)
		}
		m.Weeks = append(m.Weeks, days)
	}
	if !m.Free {
		later, err := slots(last.AddDate(0, 0, 1), last.AddDate(0, 0, 60))
		if err != nil {
			return m, err
		}
		if len(later.Items) > 0 {
			next := dayIn(later.Items[0].StartsAt, p.Zone)
			m.NextFree = &next
		}
	}
	return m, nil
}

// dayIn is the calendar day of a moment in a zone, as midnight UTC.
func dayIn(m time.Time, zone *time.Location) time.Time {
	m = m.In(zone)
	return time.Date(m.Year(), m.Month(), m.Day(), 0, 0, 0, 0, time.UTC)
}

// noon of a calendar day in the business's zone: a moment that is that day whatever the clocks do.
func noon(date time.Time, zone *time.Location) time.Time {
	return time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, zone)
}
