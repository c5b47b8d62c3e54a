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

type findSlots struct {
	Service uuid.UUID `json:"service" required:"true"`
	Staff   int64     `json:"staff,omitempty" minimum:"1"`
	From    string    `json:"from,omitempty" format:"date" doc:"First local day; today when left out."`
	To      string    `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
}

func (r *Room) teamSlots(ctx context.Context, tx *db.Tx, in findSlots) (Slots, error) {
	bookable, err := services.Get(ctx, tx, op.ByID{ID: in.Service})
	if err != nil {
		return Slots{}, err
	}
	return r.findSlots(ctx, tx, in, bookable, ToTeam)
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
	found, err := r.findSlots(ctx, tx, in, bookable, ToVisitors)
	return publicSlots{found, r.timeToken.Make(tokenSubject(bookable.ID), c.Consents(bookable), r.DB.Now())}, err
}

// CheckToken returns the version of the consents that a visitor saw when the token was made. The error is svc_invalid_token.
func (r *Room) CheckToken(service uuid.UUID, token string) (seen string, err error) {
	return r.timeToken.Check(tokenSubject(service), token, r.DB.Now())
}

func tokenSubject(service uuid.UUID) string { return "booking/" + service.String() }

var searches = app.NewOutcomes("booking.searches", "{search}", "searches for free times, by outcome: found, or none in the whole period")

func (r *Room) findSlots(ctx context.Context, tx *db.Tx, in findSlots, bookable services.BookableService, to Audience) (Slots, error) {
	out := Slots{Timezone: r.Config.Timezone, Items: []slot{}}
	first, last, err := slots.Period(in.From, in.To, slots.DayOf(tx.Now, r.Config.Zone), 14)
	if err != nil {
		return out, err
	}
	users, err := r.Candidates(tx, bookable, in.Staff)
	if err != nil || len(users) == 0 || bookable.Archived {
		return out, err
	}
	a, err := r.readAgenda(ctx, tx, reading{users: users, from: first, to: last})
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
	for _, t := range slots.List(a.Business, RuleOf(bookable.Terms(), a.Settings, to), a.People, first, last, tx.Now) {
		out.Items = append(out.Items, slot{t.Start, t.End, t.Staff})
	}
	return out, nil
}

// NotTheirs refuses a person who does not do the service.
func NotTheirs() error {
	return fault.Invalid("staff", fault.NewProblem("not_their_service", "must be somebody who does this service"))
}

// Candidates are the people who may take an appointment of s: those who do it, or the one who was named
// (0 for anyone).
func (r *Room) Candidates(tx *db.Tx, bookable services.BookableService, named int64) ([]int64, error) {
	users := r.staffOf(tx, bookable)
	if named == 0 {
		return users, nil
	}
	if tx.Who.Own && named != tx.Who.UserID {
		return nil, fault.NotFound("staff member")
	}
	if !slices.Contains(users, named) {
		return nil, NotTheirs()
	}
	return []int64{named}, nil
}
