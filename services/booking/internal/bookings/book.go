package bookings

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/life"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/times"
)

type newAppointment struct {
	Contact      uuid.UUID        `json:"contact" required:"true" doc:"The id of the contact."`
	Service      uuid.UUID        `json:"service" required:"true" doc:"The id of the service."`
	Staff        opt.Value[int64] `json:"staff,omitzero" nullable:"true" minimum:"1" doc:"Null or left out: the least busy person who is free."`
	StartsAt     time.Time        `json:"starts_at" required:"true" doc:"A start that the free times list, unless outside_hours is true."`
	Notes        string           `json:"notes" maxLength:"2000" doc:"The internal note."`
	DurationMin  int              `json:"duration_min" minimum:"1" maximum:"1440" doc:"How long it takes, in minutes; as the service says when left out."`
	OutsideHours bool             `json:"outside_hours" doc:"Book outside working hours, off the grid or in the past; never over another appointment."`
	LocationType string           `json:"location_type" enum:"in_person,client,phone,online" doc:"Where it takes place; as the service says when left out."`
	Location     string           `json:"location" maxLength:"255" doc:"The address or other words about the place."`
	MeetingURL   string           `json:"meeting_url" maxLength:"2048" doc:"The link of an online meeting; empty for none."`
	Status       string           `json:"status" enum:"confirmed,pending" doc:"pending waits for somebody to confirm it."`
}

func (r *Room) bookAppointment(ctx context.Context, tx *db.Tx, in newAppointment) (appointments.Appointment, error) {
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return appointments.Appointment{}, err
	}
	client, err := r.clients.Hold(ctx, tx, in.Contact)
	if err != nil {
		return appointments.Appointment{}, err
	}
	bookable, err := services.Get(ctx, tx, op.ByID{ID: in.Service})
	if err != nil {
		return appointments.Appointment{}, err
	}
	if bookable.Archived {
		return appointments.Appointment{}, fault.NotFound("service")
	}
	p := appointments.Place{Kind: in.LocationType, Location: in.Location, MeetingURL: in.MeetingURL}
	if p.Kind == "" {
		p.Kind = bookable.LocationType
	}
	if p, err = p.Checked(); err != nil {
		return appointments.Appointment{}, err
	}
	users, err := r.times.Candidates(tx, bookable, in.Staff.Or(0))
	if err != nil {
		return appointments.Appointment{}, err
	}
	w := times.Wish{Want: times.Want{Terms: bookable.Terms(), Length: in.DurationMin, Users: users, Offered: times.ToTeamOr(in.OutsideHours), Linked: p.Reachable("") != nil}, Start: in.StartsAt.UTC()}
	who, settings, err := r.times.Take(ctx, tx, w)
	if err != nil {
		return appointments.Appointment{}, err
	}
	a, err := r.appointments.Insert(ctx, tx, who, appointments.Record{ID: db.NewID(), ServiceID: bookable.ID, Terms: w.Terms, StartsAt: w.Start, EndsAt: w.Start.Add(time.Duration(cmp.Or(in.DurationMin, w.Terms.DurationMin)) * time.Minute), ContactID: in.Contact, Client: client,
		Place: p, Notes: in.Notes, Source: tx.Who.Channel, Status: cmp.Or(in.Status, appointments.StatusConfirmed)})
	if err != nil {
		return appointments.Appointment{}, err
	}
	return a.Whole(), r.life.Publish(ctx, tx, a, a, proto.KindAppointmentBooked, settings, a.Change(proto.KindAppointmentBooked, nil))
}

type movedAppointment struct {
	ID           uuid.UUID `json:"id"`
	StartsAt     time.Time `json:"starts_at" required:"true" doc:"The new begin."`
	Staff        int64     `json:"staff" minimum:"1" doc:"Left out: the same person if free then, else anybody who is."`
	DurationMin  int       `json:"duration_min" minimum:"1" maximum:"1440" doc:"How long it takes from now on, in minutes; as long as before when left out."`
	OutsideHours bool      `json:"outside_hours" doc:"true also takes a time outside of working hours."`
}

func (r *Room) rescheduleAppointment(ctx context.Context, tx *db.Tx, in movedAppointment) (appointments.Appointment, error) {
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return appointments.Appointment{}, err
	}
	a, err := r.appointments.Lock(ctx, tx, in.ID)
	if err != nil {
		return appointments.Appointment{}, err
	}
	a, err = r.move(ctx, tx, a, in.StartsAt, in.Staff, in.DurationMin, times.ToTeamOr(in.OutsideHours))
	return a.Whole(), err
}

// move takes a locked appointment to another free time, and to another person when one is named (staff is not 0) or, with nobody named, when
// only others are free. It takes duration minutes then, as many as before when that is 0. It keeps the buffers and the status, and changes nothing
// when time, length and person are those it has. The errors are svc_invalid_status, and those of ToMove and Take.
func (r *Room) move(ctx context.Context, tx *db.Tx, a appointments.Record, start time.Time, staff int64, duration int, offered times.Audience) (appointments.Record, error) {
	if err := a.Must(appointments.Manageable...); err != nil {
		return a, err
	}
	length := a.EndsAt.Sub(a.StartsAt)
	if duration != 0 {
		length = time.Duration(duration) * time.Minute
	}
	if (staff == 0 || staff == a.UserID) && start.Equal(a.StartsAt) && length == a.EndsAt.Sub(a.StartsAt) {
		return a, nil
	}
	w, err := r.times.ToMove(ctx, tx, a, staff, offered)
	if err != nil {
		return a, err
	}
	w.Length = int(length / time.Minute)
	tx.TakeBack("reschedule-appointment", map[string]any{"id": a.ID, "starts_at": a.StartsAt.Format(time.RFC3339), "staff": a.UserID,
		"duration_min": int(a.EndsAt.Sub(a.StartsAt) / time.Minute), "outside_hours": true})
	who, settings, err := r.times.Take(ctx, tx, times.Wish{Want: w, Start: start.UTC()})
	if err != nil {
		return a, err
	}
	return r.life.Commit(ctx, tx, rescheduled(a, start.UTC(), length, who.UserID, settings, tx.Now), settings)
}

// rescheduled is the appointment at another time, of another length, with another person, or several of these. Reminders that went out come again only if the
// time moves by more than the hours of the first; a mail of its own says that only the person is another.
func rescheduled(a appointments.Record, start time.Time, length time.Duration, staff int64, s services.Settings, now time.Time) life.Change {
	c := life.Change{Was: a, Now: a, Kind: proto.KindAppointmentRescheduled, Mail: mails.HandedOver, Fields: []string{}, Extra: map[string]any{"from": movedFrom{a.StartsAt, a.EndsAt, a.Rest().Staff}}}
	if by := start.Sub(a.StartsAt); by != 0 {
		c.Mail, c.Fields = proto.KindAppointmentRescheduled, append(c.Fields, "starts_at")
		c.Now.StartsAt, c.Now.TimedAt = start, now
		if by.Abs() > time.Duration(s.ReminderHours)*time.Hour {
			c.Now.RemindedAt = nil
		} else if a.RemindedAt != nil {
			at := a.RemindedAt.Add(by)
			c.Now.RemindedAt = &at
		}
	}
	if end := start.Add(length); !end.Equal(a.EndsAt) {
		c.Mail, c.Fields = proto.KindAppointmentRescheduled, append(c.Fields, "ends_at")
		c.Now.EndsAt = end
	}
	if staff != a.UserID {
		c.Now.UserID = staff
		c.Fields = append(c.Fields, "staff")
	}
	return c
}

type movedFrom struct {
	StartsAt time.Time      `json:"starts_at"`
	EndsAt   time.Time      `json:"ends_at"`
	Staff    staff.StaffRef `json:"staff"`
}
