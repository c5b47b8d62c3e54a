package booking

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// open are the statuses that take time.
const open = `('pending', 'confirmed', 'pending_payment')`

// agenda is everything that decides which times of some people are free.
type agenda struct {
	business slots.Business
	people   []slots.Person
	settings Settings
	// held is the calendar of the only candidate, when it is held already.
	held *calendar
}

// longest is how far beyond a period an appointment can reach into it: a day of length, a day of buffer
// and, around a change of clocks, a few hours.
const longest = 51 * time.Hour

// readAgenda loads the time of users from from to to. The appointment except, if any, takes no time.
func (s *service) readAgenda(ctx context.Context, tx *db.Tx, users []int64, from, to slots.Day, except uuid.UUID) (*agenda, error) {
	b := &pgx.Batch{}
	a := s.queueAgenda(b, users, from, to)
	a.queueSettings(b)
	a.queueHours(b)
	a.queueBusy(b, users, from, to, except)
	return a, tx.SendBatch(ctx, b).Close()
}

// queueAgenda is readAgenda as a part of a batch, without the settings, the hours and the time that appointments take; the
// agenda is there once the batch is closed.
func (s *service) queueAgenda(b *pgx.Batch, users []int64, from, to slots.Day) *agenda {
	a := &agenda{business: slots.Business{Zone: s.Config.Zone}, people: make([]slots.Person, len(users))}
	for i, id := range users {
		a.people[i].ID = id
	}
	queueExceptions(b, users, from, to, func(user *int64, e slots.Exception) {
		if user == nil {
			a.business.Closures = append(a.business.Closures, e)
		} else {
			p := a.person(*user)
			p.Exceptions = append(p.Exceptions, e)
		}
	})
	return a
}

func (a *agenda) person(id int64) *slots.Person {
	return &a.people[slices.IndexFunc(a.people, func(p slots.Person) bool { return p.ID == id })]
}

func (a *agenda) queueSettings(b *pgx.Batch) {
	b.Queue(`select ` + settingsColumns + ` from settings`).Query(func(rows pgx.Rows) (err error) {
		a.settings, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Settings])
		return err
	})
}

func (a *agenda) queueHours(b *pgx.Batch) {
	users := make([]int64, len(a.people))
	for i, p := range a.people {
		users[i] = p.ID
	}
	b.Queue(`select user_id, hours from staff where user_id = any($1) and hours <> '{}'`, users).Query(func(rows pgx.Rows) error {
		var id int64
		var hours []byte
		_, err := pgx.ForEachRow(rows, []any{&id, &hours}, func() error { return json.Unmarshal(hours, &a.person(id).Hours) })
		return err
	})
}

func (a *agenda) queueBusy(b *pgx.Batch, users []int64, from, to slots.Day, except uuid.UUID) {
	begin, end := slots.Bounds(a.business.Zone, from, to)
	b.Queue(selectBusy, users, begin.Add(-longest), end.Add(longest), except).Query(func(rows pgx.Rows) error {
		return collectBusy(rows, func(id int64, t slots.Busy) {
			p := a.person(id)
			p.Busy = append(p.Busy, t)
		})
	})
}

func collectBusy(rows pgx.Rows, take func(user int64, t slots.Busy)) error {
	var id int64
	var t slots.Busy
	_, err := pgx.ForEachRow(rows, []any{&id, &t.Start, &t.End, &t.Before, &t.After}, func() error {
		take(id, t)
		return nil
	})
	return err
}

// queueExceptions reads what changes the hours of users from from to to: closures (user nil), time off, extra hours.
func queueExceptions(b *pgx.Batch, users []int64, from, to slots.Day, take func(user *int64, e slots.Exception)) {
	b.Queue(selectExceptions+`(user_id is null or user_id = any($1)) and date_to >= $2::text::date - 2 and date_from <= $3::text::date + 4`,
		users, from.String(), to.String()).Query(func(rows pgx.Rows) error { return collectExceptions(rows, take) })
}

const selectExceptions = `select user_id, date_from - date '1970-01-01', date_to - date '1970-01-01', start_min, end_min, extra from exception where `

func collectExceptions(rows pgx.Rows, take func(user *int64, e slots.Exception)) error {
	var user *int64
	var e slots.Exception
	_, err := pgx.ForEachRow(rows, []any{&user, &e.From, &e.To, &e.Block.Start, &e.Block.End, &e.Extra}, func() error {
		take(user, e)
		return nil
	})
	return err
}

const selectBusy = `select user_id, starts_at, ends_at, buffer_before, buffer_after from appointment
	where user_id = any($1) and status in ` + open + ` and starts_at >= $2 and starts_at < $3 and id <> $4`

// staffOf lists the people who do a service and are on the team; under own visibility only the caller.
func (s *service) staffOf(tx *db.Tx, bookable BookableService) []int64 {
	return slices.DeleteFunc(slices.Clone(bookable.Staff), func(id int64) bool {
		return !s.Identity.OnTeam(id) || tx.Who.Own && id != tx.Who.UserID
	})
}

// rule is what is offered of a service: to visitors with notice and horizon, to the team without.
func (t Terms) rule(s Settings, public bool) slots.Rule {
	r := slots.Rule{Duration: t.DurationMin, Before: t.BufferBefore, After: t.BufferAfter, Step: s.SlotStep}
	if public {
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
