package web

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// In is a moment on the business's clock.
func (t *Reader) In(m time.Time) time.Time { return m.In(t.zone) }

func (t *Reader) name(list string, i int) string {
	names := strings.Split(t.T(list), ",")
	if i >= len(names) {
		return ""
	}
	return names[i]
}

// Weekday is the name of a day of the week; 0 is Monday.
func (t *Reader) Weekday(i int) string { return t.name("weekdays", i) }

// ShortWeekday is its short name.
func (t *Reader) ShortWeekday(i int) string { return t.name("weekdays_short", i) }

// Date is the day of a moment: "Tuesday 24 November 2026".
func (t *Reader) Date(m time.Time) string {
	m = t.In(m)
	day := strconv.Itoa(m.Day())
	switch {
	case t.Language == "de":
		day += "."
	case t.Language == "fr" && m.Day() == 1:
		day = "1er"
	}
	weekday := t.Weekday((int(m.Weekday()) + 6) % 7)
	if t.Language == "de" {
		weekday += ","
	}
	return fmt.Sprintf("%s %s %s %d", weekday, day, t.name("months", int(m.Month())-1), m.Year())
}

// Day is a calendar day without a clock: the date as it stands in day.
func (t *Reader) Day(day time.Time) string {
	return t.Date(time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, t.zone))
}

// Month is the month of a day: "November 2026".
func (t *Reader) Month(day time.Time) string {
	return fmt.Sprintf("%s %d", t.name("months", int(day.Month())-1), day.Year())
}

// Clock is the time of a moment, "14:30" in every language.
func (t *Reader) Clock(m time.Time) string { return t.In(m).Format("15:04") }

// Stamp is a moment for the attribute datetime.
func (t *Reader) Stamp(m time.Time) string { return t.In(m).Format(time.RFC3339) }

// ZoneName is the city of the business's zone, by the name of the language where there is a text city_…: "Brussels", "Brüssel".
func (t *Reader) ZoneName() string {
	zone := t.zone.String()
	city := strings.ReplaceAll(zone[strings.LastIndexByte(zone, '/')+1:], "_", " ")
	return cmp.Or(t.texts["city_"+city], city)
}

// Duration is a number of minutes: "45 min", "1 h 30 min".
func (t *Reader) Duration(minutes int) string {
	h, m := minutes/60, minutes%60
	hours, rest := t.T("hours_short", "n", h), t.T("minutes_short", "n", m)
	switch {
	case h == 0:
		return rest
	case m == 0:
		return hours
	}
	return hours + " " + rest
}

// Wait is how long to wait, in whole seconds or minutes.
func (t *Reader) Wait(d time.Duration) string {
	if d <= 90*time.Second {
		return t.N("seconds", max(1, int(d.Seconds())))
	}
	return t.N("minutes", int((d+time.Minute-1)/time.Minute))
}

var symbols = map[string]string{"EUR": "€", "GBP": "£", "USD": "$"}

// Price is a decimal amount as people of the language write it.
func (t *Reader) Price(amount, currency string) string {
	whole, cents, _ := strings.Cut(amount, ".")
	grouped := ""
	for len(whole) > 3 {
		grouped, whole = "\x00"+whole[len(whole)-3:]+grouped, whole[:len(whole)-3]
	}
	whole += grouped
	if strings.Trim(cents, "0") == "" {
		cents = ""
	} else {
		cents = (cents + "0")[:2]
	}
	symbol := cmp.Or(symbols[currency], currency+"\u00a0")
	group, point := ".", ","
	switch t.Locale() {
	case "en-GB":
		group, point = ",", "."
	case "fr-FR", "fr-BE", "fr-CH":
		group = "\u202f"
	case "de-CH":
		group, point = "’", "."
	case "de-AT":
		group = "\u00a0"
	}
	n := strings.ReplaceAll(whole, "\x00", group)
	if cents != "" {
		n += point + cents
	}
	switch {
	case t.Language == "en" || t.Locale() == "de-CH" && symbols[currency] == "":
		return symbol + n
	case t.Language == "nl" || t.Locale() == "de-AT":
		return strings.TrimSuffix(symbol, "\u00a0") + "\u00a0" + n
	}
	return n + "\u00a0" + strings.TrimSuffix(symbol, "\u00a0")
}
