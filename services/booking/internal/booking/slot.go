package booking

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/slots"
)

// Slot is a free time and the people who are free for it.
type Slot struct {
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
	EndsAt   time.Time `json:"ends_at" doc:"When it ends."`
	Staff    []int64   `json:"staff" doc:"The user ids of those who are free then."`
}

// Slots are the free times of a period.
type Slots struct {
	Timezone string `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Items    []Slot `json:"items" doc:"The free times."`
}

// PublicSlots also carry the token that booking one of them needs.
type PublicSlots struct {
	Slots
	Token string `json:"token" doc:"The time token that booking needs."`
}

type findSlots struct {
	Service uuid.UUID `json:"service" required:"true"`
	Staff   int64     `json:"staff,omitempty" minimum:"1"`
	From    string    `json:"from,omitempty" format:"date" doc:"First local day; today when left out."`
	To      string    `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
}

func (s *service) teamSlots(ctx context.Context, tx *db.Tx, in findSlots) (Slots, error) {
	bookable, err := getService(ctx, tx, op.ByID{ID: in.Service})
	if err != nil {
		return Slots{}, err
	}
	return s.findSlots(ctx, tx, in, bookable, toTeam)
}

func (s *service) publicSlots(ctx context.Context, tx *db.Tx, in findSlots) (PublicSlots, error) {
	c, err := s.shownCatalog(ctx, tx)
	if err != nil {
		return PublicSlots{}, err
	}
	bookable, ok := c.service(in.Service)
	if !ok {
		return PublicSlots{}, fault.NotFound("service")
	}
	found, err := s.findSlots(ctx, tx, in, bookable, toVisitors)
	return PublicSlots{found, s.timeToken.Make(tokenSubject(bookable.ID), c.consents(bookable), s.DB.Now())}, err
}

// checkToken returns the version of the consents that a visitor saw when the token was made. The error is svc_invalid_token.
func (s *service) checkToken(service uuid.UUID, token string) (seen string, err error) {
	return s.timeToken.Check(tokenSubject(service), token, s.DB.Now())
}

func tokenSubject(service uuid.UUID) string { return "booking/" + service.String() }

var searches = app.NewOutcomes("booking.searches", "{search}", "searches for free times, by outcome: found, or none in the whole period")

func (s *service) findSlots(ctx context.Context, tx *db.Tx, in findSlots, bookable BookableService, to audience) (Slots, error) {
	out := Slots{Timezone: s.Config.Timezone, Items: []Slot{}}
	first, last, err := slots.Period(in.From, in.To, slots.DayOf(tx.Now, s.Config.Zone), 14)
	if err != nil {
		return out, err
	}
	users, err := s.candidates(tx, bookable, in.Staff)
	if err != nil || len(users) == 0 || bookable.Archived {
		return out, err
	}
	a, err := s.readAgenda(ctx, tx, reading{users: users, from: first, to: last})
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
	for _, t := range slots.List(a.business, ruleOf(bookable.terms(), a.settings, to), a.people, first, last, tx.Now) {
		out.Items = append(out.Items, Slot{t.Start, t.End, t.Staff})
	}
	return out, nil
}

// notTheirs refuses a person who does not do the service.
func notTheirs() error {
	return fault.Invalid("staff", fault.NewProblem("not_their_service", "must be somebody who does this service"))
}

// candidates are the people who may take an appointment of s: those who do it, or the one who was named
// (0 for anyone).
func (s *service) candidates(tx *db.Tx, bookable BookableService, named int64) ([]int64, error) {
	users := s.staffOf(tx, bookable)
	if named == 0 {
		return users, nil
	}
	if tx.Who.Own && named != tx.Who.UserID {
		return nil, fault.NotFound("staff member")
	}
	if !slices.Contains(users, named) {
		return nil, notTheirs()
	}
	return []int64{named}, nil
}
