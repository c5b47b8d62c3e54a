package times

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
)

// Want is an appointment for which a time is looked for: on which terms, with any of some people, and for whom its times are offered.
type Want struct {
	Terms   services.Terms
	Length  int     // minutes that it takes, 0 for those of the terms; the grid of starts is that of the terms
	Users   []int64 // any of them will do
	Offered Audience
	Linked  bool // it is online without a link: only people who have one will do, and who has it already
	Moving  Moving
}

// Moving is the appointment that gives its own time up; the zero value for a new one.
type Moving struct {
	ID    uuid.UUID
	Staff int64 // keeps the appointment where that is possible
}

// Wish is a time that somebody wants.
type Wish struct {
	Want
	Start time.Time
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

// staffOf lists the people who do a service and are on the team; under own visibility only the caller.
func (r *Room) staffOf(tx *db.Tx, bookable services.BookableService) []int64 {
	return slices.DeleteFunc(slices.Clone(bookable.Staff), func(id int64) bool {
		return !r.Identity.OnTeam(id) || tx.Who.Own && id != tx.Who.UserID
	})
}

// NotTheirs refuses a person who does not do the service.
func NotTheirs() error {
	return fault.Invalid("staff", fault.NewProblem("not_their_service", "must be somebody who does this service"))
}

// ToMove is the search for another time of an appointment, by the terms that it keeps. With nobody named (0) whoever has it keeps it
// where that is possible, else it is anybody's who does the service. The errors are those of Candidates, and svc_conflict with the reason
// staff_left if who has it is named and gone.
func (r *Room) ToMove(ctx context.Context, tx *db.Tx, a appointments.Record, named int64, to Audience) (Want, error) {
	w := Want{Terms: a.Terms, Users: []int64{a.UserID}, Offered: to,
		Linked: to != ToVisitors && a.Place.Reachable("") != nil, Moving: Moving{a.ID, a.UserID}}
	w.Length = int(a.EndsAt.Sub(a.StartsAt) / time.Minute)
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

func staffLeft() error {
	return fault.Conflict("staff_left", "The person has left the team. Choose somebody else.")
}
