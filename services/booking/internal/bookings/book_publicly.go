package bookings

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/slots"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/times"
)

type publicBooking struct {
	Service  uuid.UUID        `json:"service" required:"true" doc:"The id of the service."`
	Staff    opt.Value[int64] `json:"staff,omitzero" nullable:"true" minimum:"1" doc:"The user id of the person; anybody who is free when left out."`
	StartsAt time.Time        `json:"starts_at" required:"true" doc:"The begin of a free time, see list-public-slots."`
	Values   map[string]any   `json:"values" doc:"Answers of the details step by element id or target."`
	Location string           `json:"location" maxLength:"255" doc:"The client's address, for services at the client's; the number to call, for services by phone whose form asks for none."`
	Token    string           `json:"token" maxLength:"200" doc:"The time token that came with the free times."`
	HpURL    string           `json:"hp_url" maxLength:"2048" doc:"Stays empty: people do not see it."`
	Language string           `json:"language" enum:"en,nl,fr,de" doc:"Language of the page, and so of the mails; that of the business's country when left out."`
	Page     string           `json:"page" maxLength:"2048" doc:"Address of the page that the visitor books on."`
}

// bookPublicly books a free time for a visitor. With one candidate it makes two round trips: one that locks and reads, and
// the commit. A visitor who comes when the time is taken waits for no lock.
func (r *Room) bookPublicly(ctx context.Context, tx *db.Tx, in publicBooking) (appointments.PublicAppointment, error) {
	v, err := r.read(ctx, tx, in)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	f, err := r.load(ctx, tx, v)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	order, err := v.decide(f, tx.Now)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	who, err := r.times.Seat(ctx, tx, v.Wish, f.agenda, f.held, order)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	return r.write(ctx, tx, v, f, who)
}

// visit is what a visitor asks for, checked against the catalog.
type visit struct {
	times.Wish
	catalog    *times.Catalog
	service    uuid.UUID
	given      services.Details
	place      appointments.Place
	status     string
	form       int64
	submission *uuid.UUID // of the answers to form, when one was asked
	page       string
	language   string
}

// read refuses requests of programs, which do not open the page first or fill in the hidden field, and those that no time would fit: 404 for
// a service that visitors cannot book, 400 for a start, answers, a place or a person that do not fit. Consents in other words than those that
// the visitor saw are svc_invalid_token.
func (r *Room) read(ctx context.Context, tx *db.Tx, in publicBooking) (visit, error) {
	if in.HpURL != "" {
		return visit{}, fault.InvalidToken("The booking was not accepted.")
	}
	seen, err := r.times.CheckToken(in.Service, in.Token)
	if err != nil {
		return visit{}, err
	}
	if err := slots.CheckStart(in.StartsAt); err != nil {
		return visit{}, err
	}
	c, err := r.times.NewestCatalog(ctx, tx)
	if err != nil {
		return visit{}, err
	}
	b, ok := c.Service(in.Service)
	if !ok {
		return visit{}, fault.NotFound("service")
	}
	if now := c.Consents(b); now != "" && now != seen {
		return visit{}, fault.InvalidToken("The words of the form have changed. Load it again.")
	}
	asks, asked := c.Forms.Of(b, c.Settings)
	given, err := services.ReadDetails(asks, r.services.CustomFields(), in.Values)
	if err != nil {
		return visit{}, err
	}
	at := appointments.Place{Kind: b.LocationType}
	switch b.LocationType {
	case "client":
		at.Location = in.Location
	case "phone":
		if at.Location = cmp.Or(given.Client.Phone, strings.TrimSpace(in.Location)); at.Location == "" {
			return visit{}, fault.Invalid("location", fault.NewProblem("required", "is required: the number to call"))
		}
	}
	if at, err = at.Checked(); err != nil {
		return visit{}, err
	}
	users, err := r.times.Candidates(tx, b, in.Staff.Or(0))
	if err != nil {
		return visit{}, err
	}
	v := visit{Wish: times.Wish{Want: times.Want{Terms: b.Terms(), Users: users, Offered: times.ToVisitors}, Start: in.StartsAt.UTC()}, catalog: c, service: b.ID,
		given: given, place: at, status: appointments.StatusConfirmed, page: in.Page, language: in.Language}
	if b.Confirmation == "review" {
		v.status = appointments.StatusPending
	}
	if asked {
		id := db.NewID()
		v.form, v.submission = asks.ID, &id
	}
	return v, nil
}

// facts are the data, beside the catalog, that decide a visitor's booking.
type facts struct {
	contact uuid.UUID      // that has the visitor's address; uuid.Nil when no contact has it
	client  clients.Client // as the contact has it
	ahead   int            // bookings that were made online with the address and are not over, where they are limited
	taken   bool           // the only candidate has no time, and the calendar is not held
	held    int64          // the only candidate, whose calendar is held; 0 for nobody
	agenda  times.Agenda
	stamp   time.Time // of the row that is written
}

// load reads the facts in one batch. From then on the client's address is held, so that no other booking with it is
// counted at the same time; so are the contact, so that a merge of this moment finds what is booked, and the calendar of an
// only candidate, unless the time is taken already.
func (r *Room) load(ctx context.Context, tx *db.Tx, v visit) (facts, error) {
	var f facts
	taken := appointments.Taken{}
	key, day := address.Key(v.given.Client.Email), slots.DayOf(v.Start, r.Config.Zone)
	b := &pgx.Batch{}
	// These are a few rows by their keys: to plan for the values each time costs more than it finds.
	b.Queue(`set local plan_cache_mode = force_generic_plan`)
	db.QueueLock(b, "booking.client", key)
	clients.QueueByAddress(b, key, &f.contact, &f.client)
	if v.catalog.Settings.MaxOpenBookings > 0 {
		b.Queue(`select count(*) from appointment a join contact c on c.id = a.contact_id where c.email_key = $1 and c.email_key <> ''
			and a.source = $2 and a.starts_at > $3 and a.status in ('pending', 'confirmed')`, key, db.ChannelBooking, tx.Now).
			QueryRow(func(row pgx.Row) error { return row.Scan(&f.ahead) })
	}
	if len(v.Users) == 1 {
		times.QueueHold(b, v.Users[0], v.Start, &f.taken)
	}
	appointments.QueueStamp(b, &f.stamp)
	appointments.QueueTaken(b, taken, r.Config.Zone, v.Users, v.catalog.Connected(v.Users), day, day, v.Moving.ID)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return facts{}, fmt.Errorf("load the facts of a booking: %w", err)
	}
	f.agenda = v.catalog.Agenda(r.Config.Zone, v.Users, day, taken)
	if len(v.Users) == 1 && !f.taken {
		f.held = v.Users[0]
	}
	return f, nil
}

// decide lists the staff members who may take the time, the first choice first. The list is empty when the time is not free.
// The error is svc_conflict when it is, and the client has as many bookings ahead as there may be: for a time that nobody could book, an
// answer would say whose address is a client's.
func (v visit) decide(f facts, now time.Time) ([]int64, error) {
	if f.taken {
		return nil, nil
	}
	order := v.InTurn(f.agenda, now)
	if most := f.agenda.Settings.MaxOpenBookings; len(order) > 0 && most > 0 && f.ahead >= most {
		return nil, fault.Conflict("max_open_bookings", "There are already as many upcoming bookings with this address as can be made online.")
	}
	return order, nil
}

// write books the time with a person whose calendar is held.
func (r *Room) write(ctx context.Context, tx *db.Tx, v visit, f facts, who staff.Row) (appointments.PublicAppointment, error) {
	asked, command := v.booking(f, tx.Who.Channel)
	tx.Who.Label = v.given.Client.Label()
	if f.contact == uuid.Nil {
		clients.Add(tx, asked.ContactID, asked.Client)
	}
	a, err := r.appointments.InsertLater(tx, who, asked, f.stamp)
	if err != nil {
		return appointments.PublicAppointment{}, err
	}
	// Until contacts has the client, the appointment is found by the address.
	booked := a.Change(proto.KindAppointmentBooked, &proto.PeopleNamed{Called: tx.PeopleNamed([]byte(a.Client.Email))})
	return a.ForVisitor(), r.life.Publish(ctx, tx, a, a, booked.Kind, v.catalog.Settings, booked, command)
}

// booking is the appointment to write, for the contact that has the address, else for a new one, and the command to make or fill in that
// contact. With answers to a form, forms keeps these and then asks contacts itself: as the form says, and so that each consent is recorded once.
func (v visit) booking(f facts, channel string) (appointments.Record, db.Event) {
	a := appointments.Record{ID: db.NewID(), ServiceID: v.service, Terms: v.Terms, StartsAt: v.Start, ContactID: f.contact, Client: f.client, Place: v.place,
		Notes: v.given.Answers.Message, Source: channel, Status: v.status, SubmissionID: v.submission, Language: v.language}
	if f.contact == uuid.Nil {
		a.ContactID, a.Client = db.NewID(), v.given.Client
	} else {
		a.BookedFor = clients.Other(v.given.Client.Name(), f.client.Name())
	}
	client := clients.Command(v.given.Client, v.language, a.ContactID, a.ID)
	if v.submission == nil {
		return a, clients.Ensure(client)
	}
	return a, db.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: v.submission.String(), Data: &proto.RecordSubmission{
		SubmissionId: v.submission.String(), FormId: v.form, ContactId: a.ContactID.String(), AppointmentId: a.ID.String(),
		Values: v.given.Raw, Page: v.page, Client: client}}
}
