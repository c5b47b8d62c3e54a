package times

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
)

// Agenda is everything that decides which times of some people are free.
type Agenda struct {
	Business slots.Business
	Settings services.Settings
	People   []slots.Person
	// Staff holds a row for each of people who has one, and may hold others.
	Staff map[int64]staff.Row
}

// NewAgenda makes the agenda of users from what was read.
func NewAgenda(zone *time.Location, settings services.Settings, users []int64, staff map[int64]staff.Row, e calendar.Exceptions, taken appointments.Taken) Agenda {
	a := Agenda{Business: slots.Business{Zone: zone, Closures: e.Closures}, Settings: settings, People: make([]slots.Person, len(users)), Staff: staff}
	for i, id := range users {
		a.People[i] = slots.Person{ID: id, Hours: staff[id].Hours, Exceptions: e.Of[id]}
		if t := taken[id]; t != nil {
			a.People[i].Taken = *t
		}
	}
	return a
}

// reading says whose time an agenda is about, and on which days. The appointment except, if any, takes no time.
type reading struct {
	users    []int64
	from, to slots.Day
	except   uuid.UUID
	// hold is the user whose calendar is held before anything is read; 0 for none.
	hold int64
}

// readAgenda reads an agenda in one batch.
func (r *Room) readAgenda(ctx context.Context, tx *db.Tx, of reading) (Agenda, error) {
	var settings services.Settings
	var around calendar.Exceptions
	rows, taken := map[int64]staff.Row{}, appointments.Taken{}
	b := &pgx.Batch{}
	if of.hold != 0 {
		queueHold(b, of.hold)
	}
	services.QueueSettings(b, &settings)
	staff.Queue(b, rows, `where user_id = any($1)`, of.users)
	calendar.QueueExceptionsOf(b, &around, of.users, of.from, of.to)
	appointments.QueueTaken(b, taken, r.Config.Zone, of.users, of.users, of.from, of.to, of.except)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return Agenda{}, fmt.Errorf("read the agenda of %d people: %w", len(of.users), err)
	}
	return NewAgenda(r.Config.Zone, settings, of.users, rows, around, taken), nil
}

// reach is how many days beside its own a time may depend on.
const reach = 4

// Agenda is the time of users around a day, as the catalog has it, less what takes time.
func (c *Catalog) Agenda(zone *time.Location, users []int64, day slots.Day, taken appointments.Taken) Agenda {
	near := func(all []slots.Exception) (out []slots.Exception) {
		for _, e := range all {
			if e.To >= day-reach && e.From <= day+reach {
				out = append(out, e)
			}
		}
		return out
	}
	around := calendar.Exceptions{Closures: near(c.Closures), Of: map[int64][]slots.Exception{}}
	for _, id := range users {
		around.Of[id] = near(c.Exceptions.Of[id])
	}
	return NewAgenda(zone, c.Settings, users, c.staff, around, taken)
}
