package booking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/booking/internal/slots"
)

// Exception is time off or extra hours of a person, or a closure of the whole business (no user). It holds on
// each day of its period, all day when start and end are null.
type Exception struct {
	ID           uuid.UUID `json:"id" format:"uuid"`
	UserID       *int64    `json:"user_id"`
	DateFrom     string    `json:"date_from" format:"date"`
	DateTo       string    `json:"date_to" format:"date"`
	Start        *string   `json:"start"`
	End          *string   `json:"end"`
	Type         string    `json:"type"`
	Label        string    `json:"label"`
	Appointments []Touched `json:"appointments" doc:"Appointments that still take time inside it."`

	rule slots.Exception
}

// Touched is an appointment that an exception falls on.
type Touched struct {
	ID       uuid.UUID `json:"id" format:"uuid"`
	StartsAt time.Time `json:"starts_at"`
}

type exceptionFields struct {
	DateFrom string            `json:"date_from" required:"true" format:"date"`
	DateTo   string            `json:"date_to" format:"date" doc:"date_from when left out."`
	Start    opt.Value[string] `json:"start,omitzero" doc:"HH:MM; null for the whole day."`
	End      opt.Value[string] `json:"end,omitzero" doc:"HH:MM, at most 24:00; null for the whole day."`
	Type     string            `json:"type" enum:"closed,extra" doc:"closed when left out."`
	Label    string            `json:"label" maxLength:"190"`
}

// read checks the fields and makes the exception of a person, or of everybody.
func (in exceptionFields) read(user *int64) (Exception, error) {
	e := Exception{ID: db.NewID(), UserID: user, DateFrom: in.DateFrom, DateTo: in.DateTo, Type: in.Type, Label: strings.TrimSpace(in.Label), Appointments: []Touched{}}
	if e.DateTo == "" {
		e.DateTo = e.DateFrom
	}
	if e.Type == "" {
		e.Type = "closed"
	}
	params := map[string]string{}
	e.rule = slots.Exception{From: parseDay("date_from", e.DateFrom, params), To: parseDay("date_to", e.DateTo, params), Block: slots.AllDay, Extra: e.Type == "extra"}
	if e.rule.To < e.rule.From {
		params["date_to"] = "must not be before date_from"
	}
	start, end := in.Start.Or(""), in.End.Or("")
	switch {
	case start == "" && end == "":
		if e.rule.Extra {
			params["start"], params["end"] = "is required for extra hours", "is required for extra hours"
		}
	case start == "":
		params["start"] = "is required when end is given"
	case end == "":
		params["end"] = "is required when start is given"
	default:
		block, err := slots.ParseBlock(start, end)
		if err != nil {
			params["end"] = "must make a time of day with start: " + err.Error()
		}
		e.rule.Block = block
		e.Start, e.End = &start, &end
	}
	if e.rule.Extra && user == nil {
		params["user_id"] = "is required for extra hours"
	}
	if len(params) > 0 {
		return e, fault.Params(params)
	}
	return e, nil
}

func (s *service) insertException(ctx context.Context, tx *db.Tx, e Exception) (Exception, error) {
	_, err := tx.Exec(ctx, `insert into exception (id, user_id, date_from, date_to, start_min, end_min, all_day, extra, label, created_at)
		values ($1, $2, $3::text::date, $4::text::date, $5, $6, $7, $8, $9, $10)`,
		e.ID, e.UserID, e.DateFrom, e.DateTo, e.rule.Block.Start, e.rule.Block.End, e.Start == nil, e.rule.Extra, e.Label, tx.Now)
	if err != nil {
		return e, err
	}
	all := []Exception{e}
	err = s.addTouched(ctx, tx, all)
	return all[0], err
}

type newException struct {
	User int64 `json:"user" minimum:"1"`
	exceptionFields
}

func (s *service) addException(ctx context.Context, tx *db.Tx, in newException) (Exception, error) {
	e, err := in.read(&in.User)
	if err != nil {
		return e, err
	}
	if _, err := s.member(ctx, tx, in.User); err != nil {
		return e, err
	}
	if err := mayChange(tx, in.User); err != nil {
		return e, err
	}
	return s.insertException(ctx, tx, e)
}

type newClosure struct {
	exceptionFields
	UserID opt.Value[int64] `json:"user_id,omitzero" minimum:"1" doc:"Whose time; null or left out closes the whole business."`
}

func (s *service) addClosure(ctx context.Context, tx *db.Tx, in newClosure) (Exception, error) {
	if in.UserID.Given() {
		return s.addException(ctx, tx, newException{in.UserID.V, in.exceptionFields})
	}
	e, err := in.read(nil)
	if err != nil {
		return e, err
	}
	if !isManager(tx) {
		return e, fault.Forbidden(auth.ManageCRM)
	}
	return s.insertException(ctx, tx, e)
}

func (s *service) removeException(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	var user *int64
	err := tx.QueryRow(ctx, `select user_id from exception where id = $1 for update`, in.ID).Scan(&user)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && user != nil && tx.Who.Own && *user != tx.Who.UserID {
		return op.None{}, fault.NotFound("time off")
	}
	if err != nil {
		return op.None{}, err
	}
	if user == nil && !isManager(tx) {
		return op.None{}, fault.Forbidden(auth.ManageCRM)
	}
	if user != nil {
		if err := mayChange(tx, *user); err != nil {
			return op.None{}, err
		}
	}
	_, err = tx.Exec(ctx, `delete from exception where id = $1`, in.ID)
	return op.None{}, err
}

func (s *service) listExceptions(ctx context.Context, tx *db.Tx, in ofStaff) (db.List[Exception], error) {
	if _, err := s.member(ctx, tx, in.User); err != nil {
		return db.List[Exception]{}, err
	}
	return s.queryExceptions(ctx, tx, `where user_id = $1`, in.User)
}

func (s *service) listClosures(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Exception], error) {
	return s.queryExceptions(ctx, tx, `where user_id is null`)
}

func (s *service) queryExceptions(ctx context.Context, tx *db.Tx, where string, args ...any) (db.List[Exception], error) {
	rows, err := tx.Query(ctx, `select id, user_id, date_from - date '1970-01-01', date_to - date '1970-01-01', start_min, end_min, all_day, extra, label
		from exception `+where+` order by date_from, start_min, id`, args...)
	if err != nil {
		return db.List[Exception]{}, err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Exception, err error) {
		var allDay bool
		r := &e.rule
		err = row.Scan(&e.ID, &e.UserID, &r.From, &r.To, &r.Block.Start, &r.Block.End, &allDay, &r.Extra, &e.Label)
		e.DateFrom, e.DateTo, e.Type, e.Appointments = r.From.String(), r.To.String(), "closed", []Touched{}
		if r.Extra {
			e.Type = "extra"
		}
		if !allDay {
			times := r.Block.Strings()
			e.Start, e.End = &times[0], &times[1]
		}
		return e, err
	})
	if err != nil {
		return db.List[Exception]{}, err
	}
	return db.All(all), s.addTouched(ctx, tx, all)
}

// addTouched finds the appointments inside each exception that the caller may see.
func (s *service) addTouched(ctx context.Context, tx *db.Tx, all []Exception) error {
	ids := make([]uuid.UUID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	rows, err := tx.Query(ctx, `select e.id, a.id, a.starts_at, a.ends_at from exception e
		join appointment a on (e.user_id is null or a.user_id = e.user_id) and a.status in `+open+`
			and a.starts_at < e.date_to + 2 and a.starts_at > e.date_from - 3
		where e.id = any($1) and ($2::bigint = 0 or a.user_id = $2) order by a.starts_at, a.id`, ids, ownUser(tx))
	if err != nil {
		return err
	}
	var exception uuid.UUID
	var t Touched
	var end time.Time
	_, err = pgx.ForEachRow(rows, []any{&exception, &t.ID, &t.StartsAt, &end}, func() error {
		e := &all[slices.Index(ids, exception)]
		if e.rule.Touches(s.Config.Zone, t.StartsAt, end) {
			e.Appointments = append(e.Appointments, t)
		}
		return nil
	})
	return err
}
