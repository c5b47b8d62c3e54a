package booking

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// catalog is what decides which times visitors are offered, beside the appointments. A replica keeps it: whoever
// uses it reads the revision, which every change of this counts up, in its own transaction behind the locks it
// needs, and starts over when that is another.
type catalog struct {
	offer
	revision   int64
	services   map[uuid.UUID]BookableService
	staff      map[int64]calendar // without what is busy
	closures   []slots.Exception
	exceptions map[int64][]slots.Exception
}

// newest is the catalog as this replica last read it.
func (s *service) newest(ctx context.Context, tx *db.Tx) (*catalog, error) {
	if k := s.catalog.Load(); k != nil {
		return k, nil
	}
	return s.readCatalog(ctx, tx)
}

// readCatalog reads it anew. What it holds is at least as new as its revision.
func (s *service) readCatalog(ctx context.Context, tx *db.Tx) (*catalog, error) {
	k := &catalog{services: map[uuid.UUID]BookableService{}, staff: map[int64]calendar{}, exceptions: map[int64][]slots.Exception{}}
	b := &pgx.Batch{}
	b.Queue(`select revision from catalog`).QueryRow(func(row pgx.Row) error { return row.Scan(&k.revision) })
	o := queueOffer(b, uuid.Nil)
	b.Queue(`select user_id, name, meeting_url, removed_at is not null, hours from staff`).Query(func(rows pgx.Rows) error {
		var c calendar
		_, err := pgx.ForEachRow(rows, []any{&c.user, &c.name, &c.meetingURL, &c.removed, &c.hours}, func() error {
			k.staff[c.user] = c
			c = calendar{}
			return nil
		})
		return err
	})
	b.Queue(selectExceptions + `date_to >= current_date - 4`).Query(func(rows pgx.Rows) error {
		return collectExceptions(rows, func(user *int64, e slots.Exception) {
			if user == nil {
				k.closures = append(k.closures, e)
			} else {
				k.exceptions[*user] = append(k.exceptions[*user], e)
			}
		})
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	k.offer = *o
	for _, bookable := range o.services {
		k.services[bookable.ID] = bookable
	}
	s.catalog.Store(k)
	return k, nil
}

// agenda is what k knows of people around a day.
func (k *catalog) agenda(zone *time.Location, users []int64, day slots.Day) *agenda {
	near := func(all []slots.Exception) (out []slots.Exception) {
		for _, e := range all {
			if e.To >= day-reach && e.From <= day+reach {
				out = append(out, e)
			}
		}
		return out
	}
	a := &agenda{business: slots.Business{Zone: zone, Closures: near(k.closures)}, settings: k.settings, people: make([]slots.Person, len(users))}
	for i, id := range users {
		a.people[i] = slots.Person{ID: id, Hours: k.staff[id].hours, Exceptions: near(k.exceptions[id])}
	}
	return a
}

// reach is how many days beside its own a time may depend on.
const reach = 4

// errStale says that a catalog was not the newest any more.
var errStale = errors.New("booking: the catalog has changed")

// current tells whether nothing changed since k was read.
func (k *catalog) current(ctx context.Context, tx *db.Tx) (bool, error) {
	var revision int64
	err := tx.QueryRow(ctx, `select revision from catalog`).Scan(&revision)
	return revision == k.revision, err
}
