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

// open are the statuses of appointments that take time. The constraint appointment_overlap has the same ones.
const open = `('pending', 'confirmed', 'pending_payment')`

// takesTime is the condition that an appointment takes time at @now: while it is open, and to its end when it was completed
// before that.
const takesTime = `(status in ` + open + ` or status = 'completed' and ends_at > @now)`

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

// staffRow is a row of the table staff as far as booking needs it. Name and meeting link are those the person has chosen.
type staffRow struct {
	UserID     int64
	Name       string
	MeetingURL string
	Removed    bool
	Hours      slots.Week
}

const selectStaff = `select user_id, name, meeting_url, removed_at is not null as removed, hours from staff`

func collectStaff(rows pgx.Rows) (map[int64]staffRow, error) {
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[staffRow])
	byUser := make(map[int64]staffRow, len(all))
	for _, row := range all {
		byUser[row.UserID] = row
	}
	return byUser, err
}

// newAgenda makes the agenda of users from what was read.
func newAgenda(zone *time.Location, settings Settings, users []int64, staff map[int64]staffRow, e exceptions, busy map[int64][]slots.Busy) agenda {
	a := agenda{business: slots.Business{Zone: zone, Closures: e.closures}, settings: settings, people: make([]slots.Person, len(users)), staff: staff}
	for i, id := range users {
		a.people[i] = slots.Person{ID: id, Hours: staff[id].Hours, Exceptions: e.of[id], Busy: busy[id]}
	}
	return a
}

// longest is how far beyond a period an appointment can reach into it: a day of length, a day of buffer
// and, around a change of clocks, a few hours.
const longest = 51 * time.Hour

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
	var (
		settings Settings
		staff    map[int64]staffRow
		around   exceptions
		busy     map[int64][]slots.Busy
	)
	b := &pgx.Batch{}
	if r.hold {
		b.Queue(holdSavepoint)
		db.QueueLock(b, calendarLock, r.users[0])
	}
	b.Queue(selectSettings).Query(func(rows pgx.Rows) (err error) {
		settings, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Settings])
		return err
	})
	b.Queue(selectStaff+` where user_id = any($1)`, r.users).Query(func(rows pgx.Rows) (err error) {
		staff, err = collectStaff(rows)
		return err
	})
	b.Queue(selectExceptionsOf, r.users, r.from.String(), r.to.String()).Query(func(rows pgx.Rows) (err error) {
		around, err = collectExceptions(rows)
		return err
	})
	begin, end := s.busyWithin(r.from, r.to)
	b.Queue(selectBusy, pgx.NamedArgs{"users": r.users, "begin": begin, "end": end, "except": r.except, "now": tx.Now}).Query(func(rows pgx.Rows) (err error) {
		busy, err = collectBusy(rows)
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return agenda{}, fmt.Errorf("read the agenda of %d people: %w", len(r.users), err)
	}
	a := newAgenda(s.Config.Zone, settings, r.users, staff, around, busy)
	if r.hold {
		a.held = r.users[0]
	}
	return a, nil
}

// exceptions are what changes weekly hours: closures of the whole business, and the time off and extra hours of each person.
type exceptions struct {
	closures []slots.Exception
	of       map[int64][]slots.Exception
}

const (
	selectExceptions = `select user_id, date_from - date '1970-01-01', date_to - date '1970-01-01', start_min, end_min, extra from exception `
	// Those of the users $1 and of everybody that reach into the days from $2 to $3.
	selectExceptionsOf = selectExceptions + `where (user_id is null or user_id = any($1)) and date_to >= $2::text::date - 2 and date_from <= $3::text::date + 4`
)

func collectExceptions(rows pgx.Rows) (exceptions, error) {
	all := exceptions{of: map[int64][]slots.Exception{}}
	var user *int64
	var e slots.Exception
	_, err := pgx.ForEachRow(rows, []any{&user, &e.From, &e.To, &e.Block.Start, &e.Block.End, &e.Extra}, func() error {
		if user == nil {
			all.closures = append(all.closures, e)
		} else {
			all.of[*user] = append(all.of[*user], e)
		}
		return nil
	})
	return all, err
}

// selectBusy is the time that appointments of @users take which start from @begin to @end, without the appointment @except.
const selectBusy = `select user_id, starts_at, ends_at, buffer_before, buffer_after from appointment
	where user_id = any(@users) and ` + takesTime + ` and starts_at >= @begin and starts_at < @end and id <> @except`

func collectBusy(rows pgx.Rows) (map[int64][]slots.Busy, error) {
	busy := map[int64][]slots.Busy{}
	var id int64
	var t slots.Busy
	_, err := pgx.ForEachRow(rows, []any{&id, &t.Start, &t.End, &t.Before, &t.After}, func() error {
		busy[id] = append(busy[id], t)
		return nil
	})
	return busy, err
}

// busyWithin bounds the starts of the appointments that can touch a period of local days.
func (s *service) busyWithin(from, to slots.Day) (begin, end time.Time) {
	begin, end = slots.Bounds(s.Config.Zone, from, to)
	return begin.Add(-longest), end.Add(longest)
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

// rule returns the slots rule of a service for an audience.
func (t Terms) rule(s Settings, to audience) slots.Rule {
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
