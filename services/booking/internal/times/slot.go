package times

import (
	"context"
	"slices"
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

// CheckToken returns the version of the consents that a visitor saw when the token was made. The error is svc_invalid_token.
func (r *Room) CheckToken(service uuid.UUID, token string) (seen string, err error) {
	return r.timeToken.Check(tokenSubject(service), token, r.DB.Now())
}

func tokenSubject(service uuid.UUID) string { return "booking/" + service.String() }

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

// ToMove is the search for another time of an appointment, by the terms that it keeps. With nobody named (0) whoever has it keeps it
// where that is possible, else it is anybody's who does the service. The errors are those of Candidates, and svc_conflict with the reason
// staff_left if who has it is named and gone.
func (r *Room) ToMove(ctx context.Context, tx *db.Tx, a appointments.Record, named int64, to Audience) (Want, error) {
	w := Want{Terms: a.Terms, Users: []int64{a.UserID}, Offered: to,
		Linked: to != ToVisitors && a.Place.Reachable("") != nil, Moving: Moving{a.ID, a.UserID}}
	w.Terms.DurationMin = int(a.EndsAt.Sub(a.StartsAt) / time.Minute)
	there := r.Identity.OnTeam(a.UserID)
	if named == a.UserID {
		if !there {
			return w, staffLeft()
		}
		return w, nil
	}
	bookable, err := services.Get(ctx, tx, op.ByID{ID: a.ServiceID})
	if err != nil {
		return w, err
	}
	users, err := r.Candidates(tx, bookable, named)
	if err != nil {
		return w, err
	}
	if named != 0 || !there {
		w.Users = nil
	}
	for _, user := range users {
		if user != a.UserID {
			w.Users = append(w.Users, user)
		}
	}
	return w, nil
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
	for _, t := range slots.List(a.Business, RuleOf(w.Terms, a.Settings, w.Offered), w.able(a), first, last, tx.Now) {
		out.Items = append(out.Items, slot{t.Start, t.End, t.Staff})
	}
	return out, nil
}

// NotTheirs refuses a person who does not do the service.
func NotTheirs() error {
	return fault.Invalid("staff", fault.NewProblem("not_their_service", "must be somebody who does this service"))
}

// Candidates are the people who may take an appointment of s: those who do it, or the one who was named
// (0 for anyone). The error is svc_not_found for who is not on the team, svc_invalid_param for who does not do it.
func (r *Room) Candidates(tx *db.Tx, bookable services.BookableService, named int64) ([]int64, error) {
	users := r.staffOf(tx, bookable)
	if named == 0 {
		return users, nil
	}
	if tx.Who.Own && named != tx.Who.UserID || !r.Identity.OnTeam(named) {
		return nil, fault.NotFound("staff member")
	}
	if !slices.Contains(users, named) {
		return nil, NotTheirs()
	}
	return []int64{named}, nil
}
