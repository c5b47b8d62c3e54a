package calendar

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/busy"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// calendar is a period of the team's time.
type calendar struct {
	Timezone     string             `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Staff        []staffDays        `json:"staff" doc:"The people, with their days."`
	Appointments []shownAppointment `json:"appointments" doc:"Those that are not cancelled or declined, by start."`
}

// shownAppointment says of an appointment whether its person has something else then.
type shownAppointment struct {
	appointments.Appointment
	Conflict bool `json:"conflict" doc:"It is open, and the person's own calendar takes some of its time."`
}

// staffDays are the working hours of one person.
type staffDays struct {
	UserID int64     `json:"user_id" doc:"The user id of the person."`
	Name   string    `json:"name" doc:"The name of the person."`
	Days   []workDay `json:"days" doc:"The days of the period."`
	Busy   []taken   `json:"busy" doc:"Times of the period that the person's own calendars take, by start. No two touch."`
}

// taken is a time that is taken, for a reason that is not shown.
type taken struct {
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
	EndsAt   time.Time `json:"ends_at" doc:"When it ends."`
}

// workDay is what remains of a day's hours after time off and closures, with extra hours.
type workDay struct {
	Date  string      `json:"date" format:"date" doc:"The day, as YYYY-MM-DD."`
	Hours [][2]string `json:"hours" doc:"Spans of working time: [[\"09:00\", \"17:00\"]]."`
}

type findCalendar struct {
	From    string    `json:"from,omitempty" format:"date" doc:"First local day; Monday of this week when both are left out."`
	To      string    `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
	Staff   int64     `json:"staff,omitempty" minimum:"1"`
	Service uuid.UUID `json:"service,omitzero" doc:"Only appointments of this service."`
}

// period is the one that is asked for, this week when none is.
func (r *Room) period(tx *db.Tx, in findCalendar) (from, to slots.Day, err error) {
	today := slots.DayOf(tx.Now, r.Config.Zone)
	return slots.Period(in.From, in.To, today-slots.Day(today.Weekday()-1), 7)
}

func (r *Room) calendar(ctx context.Context, tx *db.Tx, in findCalendar) (calendar, error) {
	out := calendar{Timezone: r.Config.Timezone, Staff: []staffDays{}, Appointments: []shownAppointment{}}
	from, to, err := r.period(tx, in)
	if err != nil {
		return out, err
	}
	begin, end := slots.Bounds(r.Config.Zone, from, to)
	found, err := r.appointments.Query(ctx, tx, `where a.starts_at < $2 and a.ends_at > $1 and a.starts_at > $1::timestamptz - interval '2 days'
		and a.status not in ('cancelled', 'declined') and ($3::bigint = 0 or a.user_id = $3) and ($4::bigint = 0 or a.user_id = $4) and ($5::uuid = $6::uuid or a.service_id = $5) order by a.starts_at, a.id`,
		begin, end, tx.Who.OwnUser(), in.Staff, in.Service, uuid.Nil)
	if err != nil {
		return out, err
	}
	over, err := db.Column[uuid.UUID](ctx, tx, `select a.id from appointment a where a.starts_at < $2 and a.starts_at > $1::timestamptz - interval '2 days' and `+appointments.OverExternal, begin, end)
	if err != nil {
		return out, err
	}
	out.Appointments = make([]shownAppointment, len(found))
	for i := range found {
		out.Appointments[i] = shownAppointment{found[i].Rest(), slices.Contains(over, found[i].ID)}
	}
	people, err := r.staff.Team(ctx, tx)
	if err != nil {
		return out, err
	}
	if in.Staff != 0 {
		people = slices.DeleteFunc(people, func(p staff.Profile) bool { return p.UserID != in.Staff })
	}
	// Whoever has left is still in the calendar of the time before.
	for _, a := range found {
		if !slices.ContainsFunc(people, func(p staff.Profile) bool { return p.UserID == a.UserID }) {
			people = append(people, staff.Profile{UserID: a.UserID, Name: a.StaffName})
		}
	}
	users := make([]int64, len(people))
	for i, p := range people {
		users[i] = p.UserID
	}
	var around Exceptions
	elsewhere := map[int64][]busy.Span{}
	b := &pgx.Batch{}
	QueueExceptionsOf(b, &around, users, from, to)
	queueElsewhere(b, elsewhere, users, begin, end)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return out, err
	}
	business := slots.Business{Zone: r.Config.Zone, Closures: around.Closures}
	for _, p := range people {
		person := slots.Person{ID: p.UserID, Hours: p.Week, Exceptions: around.Of[p.UserID]}
		days := staffDays{UserID: p.UserID, Name: p.Name, Days: make([]workDay, 0, to-from+1), Busy: []taken{}}
		for _, t := range busy.Join(elsewhere[p.UserID]) {
			days.Busy = append(days.Busy, taken{t.Start, t.End})
		}
		for day := from; day <= to; day++ {
			days.Days = append(days.Days, workDay{day.String(), slots.WorkingHours(business, person, day)})
		}
		out.Staff = append(out.Staff, days)
	}
	return out, nil
}

// queueElsewhere reads, with a batch, what calendars of other programs take of a period, by user.
func queueElsewhere(b *pgx.Batch, found map[int64][]busy.Span, users []int64, begin, end time.Time) {
	b.Queue(`select user_id, greatest(starts_at, @begin), least(ends_at, @end) from external_time
		where user_id = any(@users) and starts_at > @begin::timestamptz - interval '24 hours' and starts_at < @end and ends_at > @begin`,
		db.Args{"users": users, "begin": begin, "end": end}).Query(func(rows pgx.Rows) error {
		var user int64
		var s busy.Span
		_, err := pgx.ForEachRow(rows, []any{&user, &s.Start, &s.End}, func() error {
			found[user] = append(found[user], busy.Span{Start: s.Start.UTC(), End: s.End.UTC()})
			return nil
		})
		return err
	})
}
