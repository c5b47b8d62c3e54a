package booking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// PublicService is a service as visitors see it.
type PublicService struct {
	ID              uuid.UUID              `json:"id" format:"uuid"`
	Name            string                 `json:"name"`
	Description     string                 `json:"description"`
	DurationMin     int                    `json:"duration_min"`
	Price           *string                `json:"price"`
	LocationType    string                 `json:"location_type"`
	LocationDetails string                 `json:"location_details"`
	Confirmation    string                 `json:"confirmation"`
	Staff           []StaffRef             `json:"staff"`
	Form            opt.Value[DetailsForm] `json:"form" doc:"What the details step asks; null for name, address, phone number and a message."`
}

// PublicServices is the list of them, and what the booking page says around it.
type PublicServices struct {
	Items         []PublicService `json:"items"`
	NextCursor    *string         `json:"next_cursor"`
	Total         int64           `json:"total"`
	Timezone      string          `json:"timezone"`
	Currency      string          `json:"currency"`
	Business      string          `json:"business"`
	TermsText     string          `json:"terms_text"`
	ClientChanges bool            `json:"client_changes"`
}

// offer is what visitors can book, with what the details step needs.
type offer struct {
	services []BookableService
	settings Settings
	forms    forms
}

// readOffer reads what visitors may see: the service with this id, or all of them for none.
func readOffer(ctx context.Context, tx *db.Tx, service uuid.UUID) (*offer, error) {
	b := &pgx.Batch{}
	o := queueOffer(b, service)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return o, err
	}
	return o, missing(len(o.services) == 0 && service != uuid.Nil, "service")
}

func queueOffer(b *pgx.Batch, service uuid.UUID) *offer {
	o := &offer{forms: forms{}}
	b.Queue(selectServices+`where bookable_online and not archived and ($1 or id = $2) order by sort_order, lower(name), id`, service == uuid.Nil, service).
		Query(func(rows pgx.Rows) (err error) {
			o.services, err = collectServices(rows)
			return err
		})
	b.Queue(`select ` + settingsColumns + ` from settings`).Query(func(rows pgx.Rows) (err error) {
		o.settings, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Settings])
		return err
	})
	b.Queue(selectForms).Query(o.forms.collect)
	return o
}

func (s *service) publicServices(ctx context.Context, tx *db.Tx, _ op.None) (PublicServices, error) {
	site := s.site()
	out := PublicServices{Items: []PublicService{}, Timezone: s.Config.Timezone, Currency: site.Currency, Business: site.Business.Name}
	o, err := readOffer(ctx, tx, uuid.Nil)
	if err != nil {
		return out, err
	}
	out.TermsText, out.ClientChanges = o.settings.TermsText, o.settings.ClientChanges
	names, err := chosenNames(ctx, tx)
	if err != nil {
		return out, err
	}
	for _, bookable := range o.services {
		p := PublicService{ID: bookable.ID, Name: bookable.Name, Description: bookable.Description, DurationMin: bookable.DurationMin, Price: bookable.Price, LocationType: bookable.LocationType,
			LocationDetails: bookable.LocationDetails, Confirmation: bookable.Confirmation, Staff: []StaffRef{}}
		for _, user := range s.staffOf(tx, bookable) {
			p.Staff = append(p.Staff, StaffRef{user, s.staffName(user, names[user])})
		}
		if form, ok := o.forms.of(bookable, o.settings); ok {
			p.Form = opt.Of(form)
		}
		out.Items = append(out.Items, p)
	}
	out.Total = int64(len(out.Items))
	return out, nil
}

func chosenNames(ctx context.Context, tx *db.Tx) (map[int64]string, error) {
	rows, err := tx.Query(ctx, `select user_id, name from staff where name <> ''`)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	var id int64
	var name string
	_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil })
	return names, err
}

// siteInfo is what booking reads of the site's general settings.
type siteInfo struct {
	Business struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		Phone string `json:"phone"`
	} `json:"business"`
	Currency string `json:"currency"`
	Country  string `json:"country"`
	ReplyTo  string `json:"reply_to"`
}

func (s *service) site() siteInfo {
	var site siteInfo
	s.Site.Read("general", &site)
	if site.Business.Name == "" {
		site.Business.Name = "Frontdesk"
	}
	return site
}

type publicBooking struct {
	Service  uuid.UUID                  `json:"service" required:"true"`
	Staff    opt.Value[int64]           `json:"staff,omitzero" minimum:"1"`
	StartsAt time.Time                  `json:"starts_at" required:"true"`
	Values   map[string]json.RawMessage `json:"values" doc:"Answers of the details step by element id or target."`
	Location string                     `json:"location" maxLength:"255" doc:"The client's address, for services at the client's."`
	Token    string                     `json:"token" maxLength:"200" doc:"The time token that came with the free times."`
	HpURL    string                     `json:"hp_url" maxLength:"2048" doc:"Stays empty: people do not see it."`
	Page     string                     `json:"page" maxLength:"2048" doc:"Address of the page that the visitor books on."`
}

// PublicAppointment is an appointment as its client sees it.
type PublicAppointment struct {
	Status       string    `json:"status"`
	StartsAt     time.Time `json:"starts_at"`
	EndsAt       time.Time `json:"ends_at"`
	Service      Ref       `json:"service"`
	Staff        StaffRef  `json:"staff"`
	LocationType string    `json:"location_type"`
	Location     string    `json:"location"`

	id uuid.UUID
}

// RecordID is what the audit log names.
func (p PublicAppointment) RecordID() string { return p.id.String() }

func (a appointment) public() PublicAppointment {
	p := PublicAppointment{Status: a.Status, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Service: a.Service, Staff: a.Staff, LocationType: a.LocationType,
		Location: a.Location, id: a.ID}
	if a.LocationType == "online" && a.Status == statusConfirmed {
		p.Location = a.MeetingURL
	}
	return p
}

func (s *service) bookPublicly(ctx context.Context, tx *db.Tx, in publicBooking) (PublicAppointment, error) {
	none := PublicAppointment{}
	if in.HpURL != "" {
		return none, fault.InvalidToken("The booking was not accepted.")
	}
	if err := s.timeToken.Check(tokenSubject(in.Service), in.Token, s.DB.Now()); err != nil {
		return none, err
	}
	if err := checkStart(in.StartsAt); err != nil {
		return none, err
	}
	k, err := s.newest(ctx, tx)
	for err == nil {
		var out PublicAppointment
		if out, err = s.bookFrom(ctx, tx, k, in); !errors.Is(err, errStale) {
			return out, err
		}
		k, err = s.readCatalog(ctx, tx)
	}
	return none, err
}

// bookFrom is bookPublicly by what k says; errStale when that is not so any more.
func (s *service) bookFrom(ctx context.Context, tx *db.Tx, k *catalog, in publicBooking) (PublicAppointment, error) {
	w, wanted, given, form, err := s.wanted(tx, k, in)
	if err != nil {
		if is, e := k.current(ctx, tx); e != nil || !is {
			err = cmp.Or(e, errStale)
		}
		return PublicAppointment{}, err
	}
	b := &pgx.Batch{}
	// What is asked for here are a few rows by their keys: planning it for these values each time costs more than
	// it finds.
	b.Queue(`set local plan_cache_mode = force_generic_plan`)
	known := queueClient(b, given.client)
	day := s.today(w.start)
	a := k.agenda(s.Config.Zone, w.users, day)
	taken := false
	if len(w.users) == 1 {
		held := k.staff[w.users[0]]
		a.held = &held
		w.queueFree(b, a.held, &taken)
	} else {
		a.queueBusy(b, w.users, day, day, w.moving)
	}
	var revision int64
	b.Queue(`select revision, case when $1 then (select count(*) from appointment a join contact c on c.id = a.contact_id where c.email_key = $2
		and c.email_key <> '' and a.source = $3 and a.starts_at > $4 and a.status in ('pending', 'confirmed')) else 0 end from catalog`,
		k.settings.MaxOpenBookings > 0, address.Key(given.client.email), db.ChannelBooking, tx.Now).
		QueryRow(func(row pgx.Row) error { return row.Scan(&revision, &known.open) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return PublicAppointment{}, err
	}
	if revision != k.revision {
		if a.held != nil {
			// Lets the calendar go.
			if _, err := tx.Exec(ctx, `rollback to savepoint calendar`); err != nil {
				return PublicAppointment{}, err
			}
		}
		return PublicAppointment{}, errStale
	}
	if taken {
		return PublicAppointment{}, s.taken(ctx, tx, w, w.terms.rule(k.settings, true))
	}
	if limit := k.settings.MaxOpenBookings; limit > 0 && known.open >= limit {
		return PublicAppointment{}, fault.Conflict("max_open_bookings", "There are already as many upcoming bookings with this address as can be made online.")
	}
	if wanted.contact, wanted.client = known.id, known.client; known.id == uuid.Nil {
		wanted.contact, wanted.client, wanted.newClient = db.NewID(), given.client, true
	}
	c, err := s.seat(ctx, tx, w, a)
	if err != nil {
		return PublicAppointment{}, err
	}
	booked, err := s.insert(tx, w, c, wanted)
	if err != nil {
		return PublicAppointment{}, err
	}
	more := []db.Event{given.ensureContact(booked)}
	if wanted.submission != nil {
		more = append(more, db.Event{Topic: proto.FormsCommandTopic, Kind: "record_submission", Key: wanted.submission.String(), Data: &proto.RecordSubmission{
			SubmissionId: wanted.submission.String(), FormId: form.ID, ContactId: booked.Contact.ID.String(), AppointmentId: booked.ID.String(),
			Values: given.raw, Page: in.Page}})
	}
	return booked.public(), s.tell(ctx, tx, booked, booked.change("booked", nil), more...)
}

// wanted is what the visitor asks for, if it can be had at all.
func (s *service) wanted(tx *db.Tx, k *catalog, in publicBooking) (w wish, b booking, given details, form DetailsForm, err error) {
	bookable, ok := k.services[in.Service]
	if !ok {
		return w, b, given, form, fault.NotFound("service")
	}
	form, hasForm := k.forms.of(bookable, k.settings)
	if given, err = form.read(in.Values); err != nil {
		return w, b, given, form, err
	}
	b = booking{service: bookable.ID, notes: given.message, source: tx.Who.Channel, status: statusConfirmed}
	if b.place, err = (place{kind: bookable.LocationType, location: visitorsPlace(bookable, in.Location)}).checked(); err != nil {
		return w, b, given, form, err
	}
	if bookable.Confirmation == "review" {
		b.status = statusPending
	}
	if hasForm {
		id := db.NewID()
		b.submission = &id
	}
	users, err := s.candidates(tx, bookable, in.Staff.Or(0))
	tx.Who.Label = given.client.label()
	return wish{terms: bookable.terms(), users: users, start: in.StartsAt.UTC(), public: true}, b, given, form, err
}

// visitorsPlace is the address that a visitor may give: only where the service goes to the client.
func visitorsPlace(s BookableService, location string) string {
	if s.LocationType == "client" {
		return location
	}
	return ""
}

// knownClient is the contact with an address, as far as booking knows, and how many bookings made online it
// has ahead, where that is asked. Without an id contacts is to be told of a new one.
type knownClient struct {
	client
	id   uuid.UUID
	open int
}

// queueClient looks for the contact with the client's address and holds the address, so that no other booking
// with it counts at the same time.
func queueClient(b *pgx.Batch, c client) *knownClient {
	key := address.Key(c.email)
	var known knownClient
	db.QueueLock(b, "booking.client", key)
	// Held, so that a merge of this moment finds what is booked.
	b.Queue(`select id, first_name, last_name, email, phone from contact where email_key = $1 and email_key <> '' and not trashed
		order by version desc, id limit 1 for share`, key).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&known.id, &known.firstName, &known.lastName, &known.email, &known.phone}, func() error { return nil })
		return err
	})
	return &known
}

// ensureContact tells contacts who booked.
func (g details) ensureContact(a appointment) db.Event {
	return db.Event{Topic: proto.ContactsCommandTopic, Kind: "ensure_contact", Key: address.Key(g.client.email), Data: &proto.EnsureContact{
		ContactId: a.Contact.ID.String(), Email: g.client.email, FirstName: g.client.firstName, LastName: g.client.lastName, Phone: g.client.phone,
		Fields: g.fields, Status: "lead", Source: db.ChannelBooking, Consents: g.consents, Origin: "appointment", OriginId: a.ID.String(),
		OrganizationName: g.organizationName, Organization: g.organization, Create: true}}
}

// manageable are the statuses in which a client can still change something.
var manageable = []string{statusPending, statusConfirmed}
