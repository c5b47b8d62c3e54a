package booking

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// Calendar is a period of the team's time.
type Calendar struct {
	Timezone     string        `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Staff        []StaffDays   `json:"staff" doc:"The people, with their days."`
	Appointments []Appointment `json:"appointments" doc:"Those that are not cancelled or declined, by start."`
}

// StaffDays are the working hours of one person.
type StaffDays struct {
	UserID int64     `json:"user_id" doc:"The user id of the person."`
	Name   string    `json:"name" doc:"The name of the person."`
	Days   []WorkDay `json:"days" doc:"The days of the period."`
}

// WorkDay is what remains of a day's hours after time off and closures, with extra hours.
type WorkDay struct {
	Date  string      `json:"date" format:"date" doc:"The day, as YYYY-MM-DD."`
	Hours [][2]string `json:"hours" doc:"Spans of working time: [[\"09:00\", \"17:00\"]]."`
}

type findCalendar struct {
	From  string `json:"from,omitempty" format:"date" doc:"First local day; Monday of this week when both are left out."`
	To    string `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
	Staff int64  `json:"staff,omitempty" minimum:"1"`
}

func (s *service) calendar(ctx context.Context, tx *db.Tx, in findCalendar) (Calendar, error) {
	out := Calendar{Timezone: s.Config.Timezone, Staff: []StaffDays{}, Appointments: []Appointment{}}
	today := slots.DayOf(tx.Now, s.Config.Zone)
	from, to, err := slots.Period(in.From, in.To, today-slots.Day(today.Weekday()-1), 7)
	if err != nil {
		return out, err
	}
	begin, end := slots.Bounds(s.Config.Zone, from, to)
	found, err := s.queryAppointments(ctx, tx, `where a.starts_at < $2 and a.ends_at > $1 and a.starts_at > $1::timestamptz - interval '2 days'
		and a.status not in ('cancelled', 'declined') and ($3::bigint = 0 or a.user_id = $3) and ($4::bigint = 0 or a.user_id = $4) order by a.starts_at, a.id`,
		begin, end, tx.Who.OwnUser(), in.Staff)
	if err != nil {
		return out, err
	}
	out.Appointments = make([]Appointment, len(found))
	for i := range found {
		out.Appointments[i] = found[i].Appointment
	}
	people, err := s.team(ctx, tx)
	if err != nil {
		return out, err
	}
	if in.Staff != 0 {
		people = slices.DeleteFunc(people, func(p profile) bool { return p.UserID != in.Staff })
	}
	// Whoever has left is still in the calendar of the time before.
	for _, a := range found {
		if !slices.ContainsFunc(people, func(p profile) bool { return p.UserID == a.Staff.UserID }) {
			people = append(people, profile{UserID: a.Staff.UserID, Name: a.Staff.Name})
		}
	}
	users := make([]int64, len(people))
	for i, p := range people {
		users[i] = p.UserID
	}
	var around exceptions
	b := &pgx.Batch{}
	queueExceptionsOf(b, &around, users, from, to)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return out, err
	}
	business := slots.Business{Zone: s.Config.Zone, Closures: around.closures}
	for _, p := range people {
		person := slots.Person{ID: p.UserID, Hours: p.Week, Exceptions: around.of[p.UserID]}
		days := StaffDays{UserID: p.UserID, Name: p.Name, Days: make([]WorkDay, 0, to-from+1)}
		for day := from; day <= to; day++ {
			days.Days = append(days.Days, WorkDay{day.String(), slots.WorkingHours(business, person, day)})
		}
		out.Staff = append(out.Staff, days)
	}
	return out, nil
}
