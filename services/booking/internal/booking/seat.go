package booking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/slots"
)

// wish is a time that somebody wants.
type wish struct {
	terms Terms
	users []int64 // any of them will do
	start time.Time
	// public keeps notice and horizon; outside ignores hours, grid and the time now.
	public, outside bool
	// moving is the appointment that gives its own time up; nil for a new one.
	moving uuid.UUID
}

// seat finds the person who takes the appointment, the least busy of those who are free, and holds that
// person's calendar until the transaction ends. The error is svc_slot_taken with the nearest free times.
// agenda is that of the day.
func (d *desk) seat(ctx context.Context, tx *db.Tx, w wish, a *agenda) (int64, error) {
	rule := w.terms.rule(a.settings, w.public)
	free := func(p slots.Person) bool {
		if w.outside {
			return slots.Clear(rule, p, w.start)
		}
		return slots.Free(a.business, rule, p, w.start, tx.Now)
	}
	people := slices.DeleteFunc(a.people, func(p slots.Person) bool { return !free(p) })
	for len(people) > 0 {
		i := slots.LeastBusy(a.business, people, w.start)
		held, err := d.hold(ctx, tx, w, people[i], free)
		if err != nil || held {
			return people[i].ID, err
		}
		people = slices.Delete(people, i, i+1)
	}
	return 0, d.taken(ctx, tx, w, rule)
}

// hold locks a person's calendar and looks again. When the time is gone meanwhile it lets go at once,
// so that the next in line does not wait for this one's answer.
func (d *desk) hold(ctx context.Context, tx *db.Tx, w wish, p slots.Person, free func(slots.Person) bool) (bool, error) {
	begin := w.start.Add(-longest)
	end := w.start.Add(time.Duration(w.terms.DurationMin)*time.Minute + longest)
	p.Busy = nil
	var removed bool
	b := &pgx.Batch{}
	b.Queue(`savepoint calendar`)
	b.Queue(lockCalendar, p.ID)
	b.Queue(`select removed_at is not null from staff where user_id = $1`, p.ID).QueryRow(func(row pgx.Row) error { return row.Scan(&removed) })
	b.Queue(selectBusy, []int64{p.ID}, begin, end, w.moving).Query(func(rows pgx.Rows) error {
		var id int64
		var t slots.Busy
		_, err := pgx.ForEachRow(rows, []any{&id, &t.Start, &t.End, &t.Before, &t.After}, func() error {
			p.Busy = append(p.Busy, t)
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return false, err
	}
	if !removed && free(p) {
		return true, nil
	}
	_, err := tx.Exec(ctx, `rollback to savepoint calendar`)
	return false, err
}

const lockCalendar = `select pg_advisory_xact_lock(hashtextextended('booking.calendar', $1::bigint))`

// Alternative is a free time near one that was not.
type Alternative struct {
	StartsAt time.Time `json:"starts_at"`
	Staff    []int64   `json:"staff"`
}

// taken is svc_slot_taken with up to five free times. They are a hint: callers who lost the same time
// at once share them.
func (d *desk) taken(ctx context.Context, tx *db.Tx, w wish, rule slots.Rule) error {
	key := fmt.Sprint(w.users, rule, w.start.Unix(), w.moving)
	found, err, _ := d.alternatives.Do(key, func() (any, error) { return d.nearest(ctx, tx, w, rule) })
	if err != nil && ctx.Err() == nil {
		// Whoever worked them out has gone.
		found, err = d.nearest(ctx, tx, w, rule)
	}
	if err != nil {
		return err
	}
	return fault.SlotTaken(found)
}

func (d *desk) nearest(ctx context.Context, tx *db.Tx, w wish, rule slots.Rule) ([]Alternative, error) {
	out := []Alternative{}
	day := max(d.today(w.start), d.today(tx.Now))
	// Near days first: mostly they have what is needed.
	for _, reach := range []slots.Day{1, 14} {
		from, to := max(day-reach, d.today(tx.Now)), min(day+reach, lastDay)
		if from > to {
			break
		}
		a, err := d.readAgenda(ctx, tx, w.users, from, to, w.moving)
		if err != nil {
			return nil, err
		}
		near := slots.Nearest(a.business, rule, a.people, w.start, from, to, tx.Now, 5)
		out = out[:0]
		for _, t := range near {
			out = append(out, Alternative{t.Start, t.Staff})
		}
		if len(out) == 5 {
			break
		}
	}
	return out, nil
}
