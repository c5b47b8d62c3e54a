package calendar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// exception is time off or extra hours of a person, or a closure of the whole business (no user). It holds on
// each day of its period, all day when start and end are null.
type exception struct {
	ID           uuid.UUID              `json:"id" format:"uuid" doc:"The id of the record."`
	UserID       *int64                 `json:"user_id" doc:"The user id of the person; null for the whole business."`
	DateFrom     string                 `json:"date_from" format:"date" doc:"The first day."`
	DateTo       string                 `json:"date_to" format:"date" doc:"The last day."`
	Start        *string                `json:"start" doc:"The time of day at which it begins; null for whole days."`
	End          *string                `json:"end" doc:"The time of day at which it ends; null for whole days."`
	Type         string                 `json:"type" doc:"closed, or extra for extra hours."`
	Label        string                 `json:"label" doc:"What the team reads."`
	Appointments []appointments.Touched `json:"appointments" doc:"Appointments that still take time inside it."`

	rule slots.Exception
}

type exceptionFields struct {
	DateFrom string            `json:"date_from" required:"true" format:"date" doc:"The first day."`
	DateTo   string            `json:"date_to" format:"date" doc:"date_from when left out."`
	Start    opt.Value[string] `json:"start,omitzero" nullable:"true" doc:"HH:MM; null for the whole day."`
	End      opt.Value[string] `json:"end,omitzero" nullable:"true" doc:"HH:MM, at most 24:00; null for the whole day."`
	Type     string            `json:"type" enum:"closed,extra" doc:"closed when left out."`
	Label    string            `json:"label" maxLength:"190" doc:"What the team reads."`
}

// read checks the fields and makes the exception of a person, or of everybody.
func (in exceptionFields) read(user *int64) (exception, error) {
	e := exception{ID: db.NewID(), UserID: user, DateFrom: in.DateFrom, DateTo: in.DateTo, Type: in.Type, Label: strings.TrimSpace(in.Label), Appointments: []appointments.Touched{}}
	if e.DateTo == "" {
		e.DateTo = e.DateFrom
	}
	if e.Type == "" {
		e.Type = "closed"
	}
	found := fault.Problems{}
	found.Add("label", form.OneLine(e.Label, 190))
	e.rule = slots.Exception{From: slots.ReadDay("date_from", e.DateFrom, found), To: slots.ReadDay("date_to", e.DateTo, found), Block: slots.AllDay, Extra: e.Type == "extra"}
	if e.rule.To < e.rule.From {
		found.Add("date_to", slots.Before("date_from"))
	}
	start, end := in.Start.Or(""), in.End.Or("")
	switch {
	case start == "" && end == "":
		if e.rule.Extra {
			found.Add("start", requiredFor("extra hours"))
			found.Add("end", requiredFor("extra hours"))
		}
	case start == "":
		found.Add("start", requiredFor("an end"))
	case end == "":
		found.Add("end", requiredFor("a start"))
	default:
		e.rule.Block = slots.Block{Start: parseClock("start", start, found), End: parseClock("end", end, found)}
		if e.rule.Block.Start >= e.rule.Block.End {
			found.Add("end", fault.NewProblem("before", "must be after start", "other", "start"))
		}
		e.Start, e.End = &start, &end
	}
	if e.rule.Extra && user == nil {
		found.Add("user_id", requiredFor("extra hours"))
	}
	return e, found.Err()
}

func requiredFor(what string) fault.Problem {
	return fault.NewProblem("required", "is required for "+what)
}

// parseClock reads HH:MM as minutes after midnight.
func parseClock(name, text string, found fault.Problems) int {
	minutes, err := slots.ParseClock(text)
	if err != nil {
		found.Add(name, fault.Format("clock", "a time of day written as HH:MM,", "09:30"))
	}
	return minutes
}

func (r *Room) insertException(ctx context.Context, tx *db.Tx, e exception) (exception, error) {
	_, err := tx.Exec(ctx, `insert into exception (id, user_id, date_from, date_to, start_min, end_min, all_day, extra, label, created_at)
		values (@id, @user, @from::text::date, @to::text::date, @start, @end, @all_day, @extra, @label, @now)`, db.Args{
		"id": e.ID, "user": e.UserID, "from": e.DateFrom, "to": e.DateTo, "start": e.rule.Block.Start, "end": e.rule.Block.End,
		"all_day": e.Start == nil, "extra": e.rule.Extra, "label": e.Label, "now": tx.Now})
	if err != nil {
		return e, err
	}
	all := []exception{e}
	err = r.addTouched(ctx, tx, all)
	return all[0], err
}

type ofStaff struct {
	User int64 `json:"user" minimum:"1"`
}

type newException struct {
	User int64 `json:"user" minimum:"1"`
	exceptionFields
}

func (r *Room) addException(ctx context.Context, tx *db.Tx, in newException) (exception, error) {
	e, err := in.read(&in.User)
	if err != nil {
		return e, err
	}
	if _, err := r.staff.Member(ctx, tx, in.User); err != nil {
		return e, err
	}
	if err := staff.MayChange(tx, in.User); err != nil {
		return e, err
	}
	return r.insertException(ctx, tx, e)
}

type newClosure struct {
	exceptionFields
	UserID opt.Value[int64] `json:"user_id,omitzero" nullable:"true" minimum:"1" doc:"Whose time; null or left out closes the whole business."`
}

func (r *Room) addClosure(ctx context.Context, tx *db.Tx, in newClosure) (exception, error) {
	if in.UserID.Given() {
		return r.addException(ctx, tx, newException{in.UserID.V, in.exceptionFields})
	}
	e, err := in.read(nil)
	if err != nil {
		return e, err
	}
	if !staff.IsManager(tx) {
		return e, fault.Forbidden(auth.ManageCRM)
	}
	return r.insertException(ctx, tx, e)
}

func (r *Room) removeException(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	var user *int64
	err := tx.QueryRow(ctx, `select user_id from exception where id = $1 for update`, in.ID).Scan(&user)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && user != nil && tx.Who.Own && *user != tx.Who.UserID {
		return op.None{}, fault.NotFound("time off")
	}
	if err != nil {
		return op.None{}, err
	}
	if user == nil && !staff.IsManager(tx) {
		return op.None{}, fault.Forbidden(auth.ManageCRM)
	}
	if user != nil {
		if err := staff.MayChange(tx, *user); err != nil {
			return op.None{}, err
		}
	}
	gone, err := r.queryExceptions(ctx, tx, `where id = $1`, in.ID)
	if err != nil {
		return op.None{}, err
	}
	for _, e := range gone.Items {
		tx.TakeBack("add-time-off", map[string]any{"user_id": e.UserID, "date_from": e.DateFrom, "date_to": e.DateTo, "start": e.Start, "end": e.End, "type": e.Type, "label": e.Label})
	}
	_, err = tx.Exec(ctx, `delete from exception where id = $1`, in.ID)
	return op.None{}, err
}

func (r *Room) listExceptions(ctx context.Context, tx *db.Tx, in ofStaff) (db.List[exception], error) {
	if _, err := r.staff.Member(ctx, tx, in.User); err != nil {
		return db.List[exception]{}, err
	}
	return r.queryExceptions(ctx, tx, `where user_id = $1`, in.User)
}

func (r *Room) listClosures(ctx context.Context, tx *db.Tx, _ op.None) (db.List[exception], error) {
	return r.queryExceptions(ctx, tx, `where user_id is null`)
}

type findExceptions struct {
	From  string `json:"from,omitempty" format:"date" doc:"First local day; Monday of this week when both are left out."`
	To    string `json:"to,omitempty" format:"date" doc:"Last local day, at most 62 days later."`
	Staff int64  `json:"staff,omitempty" minimum:"1" doc:"Only the time of this person, and closures."`
}

// findExceptions lists closures, time off and extra hours that touch a period, by their first day. Who sees only their own records
// gets closures and what is theirs.
func (r *Room) findExceptions(ctx context.Context, tx *db.Tx, in findExceptions) (db.List[exception], error) {
	today := slots.DayOf(tx.Now, r.Config.Zone)
	from, to, err := slots.Period(in.From, in.To, today-slots.Day(today.Weekday()-1), 7)
	if err != nil {
		return db.List[exception]{}, err
	}
	return r.queryExceptions(ctx, tx, `where date_from <= $2::text::date and date_to >= $1::text::date
		and (user_id is null or ($3::bigint = 0 or user_id = $3) and ($4::bigint = 0 or user_id = $4))`, from.String(), to.String(), tx.Who.OwnUser(), in.Staff)
}

func (r *Room) queryExceptions(ctx context.Context, tx *db.Tx, where string, args ...any) (db.List[exception], error) {
	rows, err := tx.Query(ctx, `select id, user_id, date_from - date '1970-01-01' as date_from, date_to - date '1970-01-01' as date_to, start_min, end_min,
		all_day, extra, label from exception `+where+` order by exception.date_from, start_min, id`, args...)
	if err != nil {
		return db.List[exception]{}, fmt.Errorf("query time off: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (exception, error) {
		read, err := pgx.RowToStructByName[struct {
			ID               uuid.UUID
			UserID           *int64
			DateFrom, DateTo slots.Day
			StartMin, EndMin int
			AllDay, Extra    bool
			Label            string
		}](row)
		e := exception{ID: read.ID, UserID: read.UserID, DateFrom: read.DateFrom.String(), DateTo: read.DateTo.String(), Type: "closed", Label: read.Label,
			Appointments: []appointments.Touched{}, rule: slots.Exception{From: read.DateFrom, To: read.DateTo, Block: slots.Block{Start: read.StartMin, End: read.EndMin}, Extra: read.Extra}}
		if read.Extra {
			e.Type = "extra"
		}
		if !read.AllDay {
			times := e.rule.Block.Strings()
			e.Start, e.End = &times[0], &times[1]
		}
		return e, err
	})
	if err != nil {
		return db.List[exception]{}, err
	}
	return db.All(all), r.addTouched(ctx, tx, all)
}

// addTouched finds the appointments inside each exception that the caller may see.
func (r *Room) addTouched(ctx context.Context, tx *db.Tx, all []exception) error {
	ids := make([]uuid.UUID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	rows, err := tx.Query(ctx, `select e.id, a.id, a.starts_at, a.ends_at from exception e
		join appointment a on (e.user_id is null or a.user_id = e.user_id) and a.status in `+appointments.Open+`
			and a.starts_at < e.date_to + 2 and a.starts_at > e.date_from - 3
		where e.id = any($1) and ($2::bigint = 0 or a.user_id = $2) order by a.starts_at, a.id`, ids, tx.Who.OwnUser())
	if err != nil {
		return err
	}
	var exception uuid.UUID
	var t appointments.Touched
	var end time.Time
	_, err = pgx.ForEachRow(rows, []any{&exception, &t.ID, &t.StartsAt, &end}, func() error {
		e := &all[slices.Index(ids, exception)]
		if e.rule.Touches(r.Config.Zone, t.StartsAt, end) {
			e.Appointments = append(e.Appointments, t)
		}
		return nil
	})
	return err
}

// Exceptions are what changes weekly hours: closures of the whole business, and the time off and extra hours of each person.
type Exceptions struct {
	Closures []slots.Exception
	Of       map[int64][]slots.Exception
}

// QueueExceptionsOf reads, with a batch, the exceptions of users and of everybody that reach into the days between.
func QueueExceptionsOf(b *pgx.Batch, to *Exceptions, users []int64, first, last slots.Day) {
	queueExceptions(b, to, `where (user_id is null or user_id = any($1)) and date_to >= $2::text::date - 2 and date_from <= $3::text::date + 4`,
		users, first.String(), last.String())
}

// QueueComingExceptions reads, with a batch, the exceptions of everybody that are not over.
func QueueComingExceptions(b *pgx.Batch, to *Exceptions, now time.Time) {
	queueExceptions(b, to, `where date_to >= $1::date - 4`, now)
}

func queueExceptions(b *pgx.Batch, to *Exceptions, where string, args ...any) {
	b.Queue(`select user_id, date_from - date '1970-01-01', date_to - date '1970-01-01', start_min, end_min, extra from exception `+where, args...).Query(func(rows pgx.Rows) error {
		to.Of = map[int64][]slots.Exception{}
		var user *int64
		var e slots.Exception
		_, err := pgx.ForEachRow(rows, []any{&user, &e.From, &e.To, &e.Block.Start, &e.Block.End, &e.Extra}, func() error {
			if user == nil {
				to.Closures = append(to.Closures, e)
			} else {
				to.Of[*user] = append(to.Of[*user], e)
			}
			return nil
		})
		return err
	})
}

// DeleteExceptions deletes the time off and extra hours of somebody who leaves.
func DeleteExceptions(ctx context.Context, tx *db.Tx, user int64) error {
	_, err := tx.Exec(ctx, `delete from exception where user_id = $1`, user)
	return err
}
