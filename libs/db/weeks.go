package db

import (
	"cmp"
	"time"
)

// LastWeeks chooses the last weeks of the business, which begin on Monday; the present one is among them.
type LastWeeks struct {
	Weeks int `json:"weeks,omitempty" minimum:"1" maximum:"53" doc:"How many weeks, the present one being the last; 12 when left out."`
}

// In returns a table expression of the weeks in a zone, with the columns week (a date), begins and ends (exclusive).
func (q LastWeeks) In(w *Where, zone string, now time.Time) string {
	return w.Bind(`(select monday::date as week, monday at time zone z.name as begins, (monday + interval '7 days') at time zone z.name as ends
		from (select ?::text as name, ?::timestamptz as now) z,
		generate_series(date_trunc('week', z.now at time zone z.name) - make_interval(weeks => ?), date_trunc('week', z.now at time zone z.name), interval '7 days') monday)`,
		zone, now, cmp.Or(q.Weeks, 12)-1)
}
