package times

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
)

// slot is a free time and the people who are free for it.
type slot struct {
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
	EndsAt   time.Time `json:"ends_at" doc:"When it ends."`
	Staff    []int64   `json:"staff" doc:"The user ids of those who are free then."`
}

// Slots are the free times of a period.
type Slots struct {
	Timezone string `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Items    []slot `json:"items" doc:"The free times."`
}

// publicSlots also carry the token that booking one of them needs.
type publicSlots struct {
	Slots
	Token string `json:"token" doc:"The time token that booking needs."`
}

// Days are the period of which free times are asked.
type Days struct {
	Staff int64  `json:"staff,omitempty" minimum:"1" doc:"The user id of the person; anybody when left out."`
	From  string `json:"from,omitempty" format:"date" doc:"First local day; today when left out."`
	To    string `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
}

type findTeamSlots struct {
	Service     uuid.UUID `json:"service,omitzero" doc:"The service that is to be booked."`
	Appointment uuid.UUID `json:"appointment,omitzero" doc:"The appointment that is to be moved, in place of a service: times by the terms that it was booked on, its own among them."`
	Days
}

func (r *Room) teamSlots(ctx context.Context, tx *db.Tx, in findTeamSlots) (Slots, error) {
	if (in.Service == uuid.Nil) == (in.Appointment == uuid.Nil) {
		return Slots{}, fault.Invalid("service", fault.NewProblem("one_of_two", "or appointment must be given, and not both", "other", "appointment"))
	}
	if in.Appointment != uuid.Nil {
		a, err := r.appointments.Find(ctx, tx, in.Appointment)
		if err != nil {
			return Slots{}, err
		}
		return r.ListMoves(ctx, tx, a, in.Days, ToTeam)
	}
	bookable, err := services.Get(ctx, tx, op.ByID{ID: in.Service})
	if err != nil {
		return Slots{}, err
	}
	return r.listNew(ctx, tx, bookable, in.Days, ToTeam)
}

type findSlots struct {
	Service uuid.UUID `json:"service" required:"true"`
	Days
}

func (r *Room) publicSlots(ctx context.Context, tx *db.Tx, in findSlots) (publicSlots, error) {
	c, err := r.shownCatalog(ctx, tx)
	if err != nil {
		return publicSlots{}, err
	}
	bookable, ok := c.Service(in.Service)
	if !ok {
		return publicSlots{}, fault.NotFound("service")
	}
	found, err := r.listNew(ctx, tx, bookable, in.Days, ToVisitors)
	return publicSlots{found, r.timeToken.Make(tokenSubject(bookable.ID), c.Consents(bookable), r.DB.Now())}, err
}

var searches = app.NewOutcomes("booking.searches", "{search}", "searches for free times, by outcome: found, or none in the whole period")

// listNew lists the times at which a service can be booked.
func (r *Room) listNew(ctx context.Context, tx *db.Tx, bookable services.BookableService, in Days, to Audience) (Slots, error) {
	w := Want{Terms: bookable.Terms(), Offered: to}
	users, err := r.Candidates(tx, bookable, in.Staff)
	if err != nil {
		return Slots{}, err
	}
	if !bookable.Archived {
		w.Users = users
	}
	return r.list(ctx, tx, w, in)
}

// ListMoves lists the times to which an appointment can be moved, with the people who can have it then, whoever has it now first. The
// errors are svc_invalid_status and those of ToMove.
func (r *Room) ListMoves(ctx context.Context, tx *db.Tx, a appointments.Record, in Days, to Audience) (Slots, error) {
	if err := a.Must(appointments.Manageable...); err != nil {
		return Slots{}, err
	}
	w, err := r.ToMove(ctx, tx, a, in.Staff, to)
	if err != nil {
		return Slots{}, err
	}
	return r.list(ctx, tx, w, in)
}

// list lists the times of a period at which w can be had.
func (r *Room) list(ctx context.Context, tx *db.Tx, w Want, in Days) (Slots, error) {
	out := Slots{Timezone: r.Config.Timezone, Items: []slot{}}
	first, last, err := slots.Period(in.From, in.To, slots.DayOf(tx.Now, r.Config.Zone), 14)
	if err != nil || len(w.Users) == 0 {
		return out, err
	}
	a, err := r.readAgenda(ctx, tx, reading{users: w.Users, from: first, to: last, except: w.Moving.ID})
	if err != nil {
		return out, err
	}
	tx.AfterCommit(func() {
		outcome := "none"
		if len(out.Items) > 0 {
			outcome = "found"
		}
		searches.Add(ctx, outcome, 1)
	})
	for _, t := range slots.List(a.Business, w.rule(a.Settings), w.able(a), first, last, tx.Now) {
		out.Items = append(out.Items, slot{t.Start, t.End, t.Staff})
	}
	return out, nil
}
