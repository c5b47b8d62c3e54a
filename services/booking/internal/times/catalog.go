package times

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// Catalog is what decides which times visitors are offered, beside the appointments. Every change of it counts its
// revision up.
type Catalog struct {
	revision int64
	Settings services.Settings
	services []services.BookableService // that visitors can book, in their order
	Forms    services.Forms
	staff    map[int64]staff.Row
	calendar.Exceptions
	connected []int64 // who has connected a calendar of another program
}

const catalogIsNewest = db.Assumption("the remembered catalog is the newest")

// LockCatalog keeps visitors' bookings from the catalog until the transaction ends. Whoever changes the catalog while holding a calendar
// calls it before: a visitor's booking that holds the catalog waits for calendars.
func LockCatalog(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `select from catalog for update`)
	return err
}

// NewestCatalog is the catalog that this replica remembers, under the assumption that nothing has changed. A transaction
// that found the assumption wrong reads the catalog anew and keeps it from changing until its end, so that it needs no
// third run.
func (r *Room) NewestCatalog(ctx context.Context, tx *db.Tx) (*Catalog, error) {
	if c := r.catalog.Load(); c != nil && tx.Trusts(catalogIsNewest) {
		tx.Assume(catalogIsNewest, `(select revision from catalog) = $1`, c.revision)
		return c, nil
	}
	if _, err := tx.Exec(ctx, `select from catalog for share`); err != nil {
		return nil, fmt.Errorf("lock the catalog: %w", err)
	}
	return r.readCatalog(ctx, tx)
}

// shownCatalog is NewestCatalog for reading: it keeps no change waiting.
func (r *Room) shownCatalog(ctx context.Context, tx *db.Tx) (*Catalog, error) {
	if c := r.catalog.Load(); c != nil && tx.Trusts(catalogIsNewest) {
		tx.Assume(catalogIsNewest, `(select revision from catalog) = $1`, c.revision)
		return c, nil
	}
	return r.readCatalog(ctx, tx)
}

// readCatalog reads the catalog in one batch. The replica remembers it once the transaction has committed. Without a
// lock or a snapshot, what it holds is at least as new as its revision.
func (r *Room) readCatalog(ctx context.Context, tx *db.Tx) (*Catalog, error) {
	c := Catalog{staff: map[int64]staff.Row{}}
	b := &pgx.Batch{}
	b.Queue(`select revision from catalog`).QueryRow(func(row pgx.Row) error { return row.Scan(&c.revision) })
	services.QueueSettings(b, &c.Settings)
	services.QueueOffer(b, &c.services, &c.Forms)
	staff.Queue(b, c.staff, "")
	calendar.QueueComingExceptions(b, &c.Exceptions, tx.Now)
	b.Queue(`select coalesce(array_agg(distinct user_id), '{}') from external_calendar`).QueryRow(func(row pgx.Row) error { return row.Scan(&c.connected) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	tx.AfterCommit(func() { r.catalog.Store(&c) })
	return &c, nil
}

// Service is the service with this id; false when visitors cannot book it.
func (c *Catalog) Service(id uuid.UUID) (services.BookableService, bool) {
	i := slices.IndexFunc(c.services, func(b services.BookableService) bool { return b.ID == id })
	if i < 0 {
		return services.BookableService{}, false
	}
	return c.services[i], true
}

// Connected are those of users who have connected a calendar of another program.
func (c *Catalog) Connected(users []int64) (connected []int64) {
	for _, id := range users {
		if slices.Contains(c.connected, id) {
			connected = append(connected, id)
		}
	}
	return connected
}

// Consents is the version of the consents that the details step of a service asks for.
func (c *Catalog) Consents(b services.BookableService) string {
	asks, _ := c.Forms.Of(b, c.Settings)
	return form.ConsentVersion(asks.Elements)
}

// CheckToken returns the version of the consents that a visitor saw when the token was made. The error is svc_invalid_token.
func (r *Room) CheckToken(service uuid.UUID, token string) (seen string, err error) {
	return r.timeToken.Check(tokenSubject(service), token, r.DB.Now())
}

func tokenSubject(service uuid.UUID) string { return "booking/" + service.String() }

// publicService is a service as visitors see it.
type publicService struct {
	ID              uuid.UUID                       `json:"id" format:"uuid" doc:"The id of the record."`
	Name            string                          `json:"name" doc:"What visitors read."`
	Description     string                          `json:"description" doc:"What visitors read about it."`
	DurationMin     int                             `json:"duration_min" doc:"How long it takes, in minutes."`
	Price           *string                         `json:"price" doc:"The price; null for none."`
	LocationType    string                          `json:"location_type" doc:"Where it takes place."`
	LocationDetails string                          `json:"location_details" doc:"The address or other words about the place."`
	Confirmation    string                          `json:"confirmation" doc:"auto books at once, review waits for somebody to confirm."`
	Staff           []staff.StaffRef                `json:"staff" doc:"The people who offer it."`
	Form            opt.Value[services.DetailsForm] `json:"form" doc:"What the details step asks; null for name, address, phone number and a message."`
}

// publicServices is the list of them, and what the booking page says around it.
type publicServices struct {
	Items         []publicService `json:"items" doc:"The services that visitors can book."`
	NextCursor    *string         `json:"next_cursor" doc:"Always null: there is one page."`
	Total         int64           `json:"total" doc:"How many services there are."`
	Timezone      string          `json:"timezone" doc:"The IANA zone in which the business counts its days."`
	Currency      string          `json:"currency" doc:"The ISO code of the currency."`
	Business      string          `json:"business" doc:"The name of the business."`
	TermsText     string          `json:"terms_text" doc:"Words that visitors read before they book."`
	ClientChanges bool            `json:"client_changes" doc:"Visitors can move and cancel their appointments by the link of a mail."`
}

func (r *Room) publicServices(ctx context.Context, tx *db.Tx, _ op.None) (publicServices, error) {
	site := r.services.General()
	c, err := r.shownCatalog(ctx, tx)
	if err != nil {
		return publicServices{}, err
	}
	out := publicServices{Items: []publicService{}, Total: int64(len(c.services)), Timezone: r.Config.Timezone, Currency: site.Currency,
		Business: site.Business.Name, TermsText: c.Settings.TermsText, ClientChanges: c.Settings.ClientChanges}
	for _, b := range c.services {
		p := publicService{ID: b.ID, Name: b.Name, Description: b.Description, DurationMin: b.DurationMin, Price: b.Price, LocationType: b.LocationType,
			LocationDetails: b.LocationDetails, Confirmation: b.Confirmation, Staff: []staff.StaffRef{}}
		for _, user := range r.staffOf(tx, b) {
			p.Staff = append(p.Staff, r.staff.Ref(user, c.staff[user].Name))
		}
		if form, ok := c.Forms.Of(b, c.Settings); ok {
			p.Form = opt.Of(form)
		}
		out.Items = append(out.Items, p)
	}
	return out, nil
}
