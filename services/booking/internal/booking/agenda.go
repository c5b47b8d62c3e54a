package booking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// agenda is everything that decides which times of some people are free.
type agenda struct {
	business slots.Business
	settings Settings
	people   []slots.Person
	// staff holds a row for each of people who has one, and may hold others.
	staff map[int64]staffRow
	// held is the user whose calendar was locked when the agenda was read; 0 if no calendar was.
	held int64
}

// newAgenda makes the agenda of users from what was read.
func newAgenda(zone *time.Location, settings Settings, users []int64, staff map[int64]staffRow, e exceptions, busy map[int64][]slots.Busy) agenda {
	a := agenda{business: slots.Business{Zone: zone, Closures: e.closures}, settings: settings, people: make([]slots.Person, len(users)), staff: staff}
	for i, id := range users {
		a.people[i] = slots.Person{ID: id, Hours: staff[id].Hours, Exceptions: e.of[id], Busy: busy[id]}
	}
	return a
}

// reading says whose time an agenda is about, and on which days. The appointment except, if any, takes no time.
type reading struct {
	users    []int64
	from, to slots.Day
	except   uuid.UUID
	// hold locks the calendar of the only user before anything is read, behind the savepoint that letGo returns to.
	hold bool
}

// readAgenda reads an agenda in one batch.
func (s *service) readAgenda(ctx context.Context, tx *db.Tx, r reading) (agenda, error) {
	var settings Settings
	var around exceptions
	staff, busy := map[int64]staffRow{}, map[int64][]slots.Busy{}
	b := &pgx.Batch{}
	if r.hold {
		b.Queue(holdSavepoint)
		db.QueueLock(b, calendarLock, r.users[0])
	}
	queueSettings(b, &settings)
	queueStaff(b, staff, `where user_id = any($1)`, r.users)
	queueExceptionsOf(b, &around, r.users, r.from, r.to)
	queueBusy(b, busy, s.Config.Zone, r.users, r.from, r.to, r.except, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return agenda{}, fmt.Errorf("read the agenda of %d people: %w", len(r.users), err)
	}
	a := newAgenda(s.Config.Zone, settings, r.users, staff, around, busy)
	if r.hold {
		a.held = r.users[0]
	}
	return a, nil
}

// staffOf lists the people who do a service and are on the team; under own visibility only the caller.
func (s *service) staffOf(tx *db.Tx, bookable BookableService) []int64 {
	return slices.DeleteFunc(slices.Clone(bookable.Staff), func(id int64) bool {
		return !s.Identity.OnTeam(id) || tx.Who.Own && id != tx.Who.UserID
	})
}

// audience says which times are offered.
type audience int

const (
	toVisitors   audience = iota // what is free, with notice and horizon
	toTeam                       // what is free
	outsideHours                 // what is clear of other appointments, whatever the hours, the grid and the time now
)

// toTeamOr returns the audience for the team: its own slots, or every time without a conflict if the request asks for that.
func toTeamOr(outside bool) audience {
	if outside {
		return outsideHours
	}
	return toTeam
}

// ruleOf returns the slots rule of a service for an audience.
func ruleOf(t Terms, s Settings, to audience) slots.Rule {
	r := slots.Rule{Duration: t.DurationMin, Before: t.BufferBefore, After: t.BufferAfter, Step: s.SlotStep}
	if to == toVisitors {
		r.Notice, r.Horizon = s.MinNoticeMin, s.MaxAdvanceDays
		if t.MinNoticeMin != nil {
			r.Notice = *t.MinNoticeMin
		}
		if t.MaxAdvanceDays != nil {
			r.Horizon = *t.MaxAdvanceDays
		}
	}
	return r
}
