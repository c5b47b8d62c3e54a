package booking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/services/booking/internal/slots"
)

// catalog is what decides which times visitors are offered, beside the appointments. Every change of it counts its
// revision up.
type catalog struct {
	revision int64
	settings Settings
	services []BookableService // that visitors can book, in their order
	forms    forms
	staff    map[int64]staffRow
	exceptions
}

const catalogIsNewest = db.Assumption("the remembered catalog is the newest")

// lockCatalog keeps visitors' bookings from the catalog until the transaction ends. Whoever changes the catalog while holding a calendar
// calls it before: a visitor's booking that holds the catalog waits for calendars.
func lockCatalog(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `select from catalog for update`)
	return err
}

// newestCatalog is the catalog that this replica remembers, under the assumption that nothing has changed. A transaction
// that found the assumption wrong reads the catalog anew and keeps it from changing until its end, so that it needs no
// third run.
func (s *service) newestCatalog(ctx context.Context, tx *db.Tx) (*catalog, error) {
	if c := s.catalog.Load(); c != nil && tx.Trusts(catalogIsNewest) {
		tx.Assume(catalogIsNewest, `(select revision from catalog) = $1`, c.revision)
		return c, nil
	}
	if _, err := tx.Exec(ctx, `select from catalog for share`); err != nil {
		return nil, fmt.Errorf("lock the catalog: %w", err)
	}
	return s.readCatalog(ctx, tx)
}

// shownCatalog is newestCatalog for reading: it keeps no change waiting.
func (s *service) shownCatalog(ctx context.Context, tx *db.Tx) (*catalog, error) {
	if c := s.catalog.Load(); c != nil && tx.Trusts(catalogIsNewest) {
		tx.Assume(catalogIsNewest, `(select revision from catalog) = $1`, c.revision)
		return c, nil
	}
	return s.readCatalog(ctx, tx)
}

// readCatalog reads the catalog in one batch. The replica remembers it once the transaction has committed. Without a
// lock or a snapshot, what it holds is at least as new as its revision.
func (s *service) readCatalog(ctx context.Context, tx *db.Tx) (*catalog, error) {
	c := catalog{staff: map[int64]staffRow{}}
	b := &pgx.Batch{}
	b.Queue(`select revision from catalog`).QueryRow(func(row pgx.Row) error { return row.Scan(&c.revision) })
	queueSettings(b, &c.settings)
	queueOffer(b, &c.services, &c.forms)
	queueStaff(b, c.staff, "")
	queueComingExceptions(b, &c.exceptions, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	tx.AfterCommit(func() { s.catalog.Store(&c) })
	return &c, nil
}

// service is the service with this id; false when visitors cannot book it.
func (c *catalog) service(id uuid.UUID) (BookableService, bool) {
	i := slices.IndexFunc(c.services, func(b BookableService) bool { return b.ID == id })
	if i < 0 {
		return BookableService{}, false
	}
	return c.services[i], true
}

// consents is the version of the consents that the details step of a service asks for.
func (c *catalog) consents(b BookableService) string {
	asks, _ := c.forms.of(b, c.settings)
	return form.ConsentVersion(asks.Elements)
}

// reach is how many days beside its own a time may depend on.
const reach = 4

// agenda is the time of users around a day, as the catalog has it, less what takes time.
func (c *catalog) agenda(zone *time.Location, users []int64, day slots.Day, busy map[int64][]slots.Busy) agenda {
	near := func(all []slots.Exception) (out []slots.Exception) {
		for _, e := range all {
			if e.To >= day-reach && e.From <= day+reach {
				out = append(out, e)
			}
		}
		return out
	}
	around := exceptions{closures: near(c.closures), of: map[int64][]slots.Exception{}}
	for _, id := range users {
		around.of[id] = near(c.exceptions.of[id])
	}
	return newAgenda(zone, c.settings, users, c.staff, around, busy)
}
