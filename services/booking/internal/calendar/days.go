package calendar

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/slots"
)

// calendarDay is how much there is on one day.
type calendarDay struct {
	Date         string                     `json:"date" format:"date" doc:"The day, as YYYY-MM-DD."`
	Total        int                        `json:"total" doc:"How many appointments begin on it."`
	Pending      int                        `json:"pending" doc:"Of all, those that wait for somebody to confirm them."`
	Appointments []appointments.Appointment `json:"appointments" doc:"The first of them, by start."`
}

// firstOfDay is how many appointments a day shows.
const firstOfDay = 4

// days counts appointments by the business's day on which they begin.
func (r *Room) days(ctx context.Context, tx *db.Tx, in findCalendar) (db.List[calendarDay], error) {
	none := db.List[calendarDay]{}
	from, to, err := r.period(tx, in)
	if err != nil {
		return none, err
	}
	begin, end := slots.Bounds(r.Config.Zone, from, to)
	rows, err := tx.Query(ctx, `select day::text, total, pending, id from (
			select id, starts_at, day, count(*) over (partition by day) as total, count(*) filter (where status = 'pending') over (partition by day) as pending,
				row_number() over (partition by day order by starts_at, id) as place
			from (select a.*, (a.starts_at at time zone @zone)::date as day from appointment a) a
			where a.starts_at >= @begin and a.starts_at < @end and a.status not in ('cancelled', 'declined')
				and (@own::bigint = 0 or a.user_id = @own) and (@staff::bigint = 0 or a.user_id = @staff) and (@service::uuid = @all::uuid or a.service_id = @service)
		) a where place <= @first order by starts_at, id`, db.Args{"zone": r.Config.Timezone, "begin": begin, "end": end, "own": tx.Who.OwnUser(), "staff": in.Staff,
		"service": in.Service, "all": uuid.Nil, "first": firstOfDay})
	if err != nil {
		return none, fmt.Errorf("count appointments by day: %w", err)
	}
	all := []calendarDay{}
	var ids []uuid.UUID
	of := map[uuid.UUID]int{}
	var day calendarDay
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&day.Date, &day.Total, &day.Pending, &id}, func() error {
		if len(all) == 0 || all[len(all)-1].Date != day.Date {
			all = append(all, day)
		}
		ids, of[id] = append(ids, id), len(all)-1
		return nil
	}); err != nil {
		return none, err
	}
	found, err := r.appointments.Query(ctx, tx, `where a.id = any($1) order by a.starts_at, a.id`, ids)
	for _, a := range found {
		d := &all[of[a.ID]]
		d.Appointments = append(d.Appointments, a.Rest())
	}
	return db.All(all), err
}
