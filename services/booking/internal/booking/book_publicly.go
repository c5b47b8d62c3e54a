package booking

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

type publicBooking struct {
	Service  uuid.UUID        `json:"service" required:"true" doc:"The id of the service."`
	Staff    opt.Value[int64] `json:"staff,omitzero" nullable:"true" minimum:"1" doc:"The user id of the person; anybody who is free when left out."`
	StartsAt time.Time        `json:"starts_at" required:"true" doc:"The begin of a free time, see list-public-slots."`
	Values   map[string]any   `json:"values" doc:"Answers of the details step by element id or target."`
	Location string           `json:"location" maxLength:"255" doc:"The client's address, for services at the client's."`
	Token    string           `json:"token" maxLength:"200" doc:"The time token that came with the free times."`
	HpURL    string           `json:"hp_url" maxLength:"2048" doc:"Stays empty: people do not see it."`
	Language string           `json:"language" enum:"en,nl,fr,de" doc:"Language of the page, and so of the mails; that of the business's country when left out."`
	Page     string           `json:"page" maxLength:"2048" doc:"Address of the page that the visitor books on."`
}

// bookPublicly books a free time for a visitor. With one candidate it makes two round trips: one that locks and reads, and
// the commit. A visitor who comes when the time is taken waits for no lock.
func (s *service) bookPublicly(ctx context.Context, tx *db.Tx, in publicBooking) (PublicAppointment, error) {
	seen, err := s.guard(in)
	if err != nil {
		return PublicAppointment{}, err
	}
	c, err := s.newestCatalog(ctx, tx)
	if err != nil {
		return PublicAppointment{}, err
	}
	v, err := s.newVisit(tx, c, in, seen)
	if err != nil {
		return PublicAppointment{}, err
	}
	tx.Who.Label = v.given.client.label()

	// Load.
	f, err := s.loadFacts(ctx, tx, c, v)
	if err != nil {
		return PublicAppointment{}, err
	}
	// Decide.
	order, err := v.decide(f, tx.Now)
	if err != nil {
		return PublicAppointment{}, err
	}
	who, err := s.seat(ctx, tx, v.wish, f.agenda, order)
	if err != nil {
		return PublicAppointment{}, err
	}
	// Write.
	booked, err := s.insert(tx, who, v.booking(f, tx.Who.Channel))
	if err != nil {
		return PublicAppointment{}, err
	}
	// Until contacts has the client, the appointment is found by the address.
	named := &proto.PeopleNamed{Called: tx.PeopleNamed([]byte(booked.client.email))}
	return publicly(booked), s.publish(ctx, tx, booked, c.settings, booked.change(proto.KindAppointmentBooked, named), v.commands(booked)...)
}

// guard refuses requests of programs, which do not open the page first or fill in the hidden field, and a start that no
// calendar can show. It returns the version of the consents that the visitor saw.
func (s *service) guard(in publicBooking) (seen string, err error) {
	if in.HpURL != "" {
		return "", fault.InvalidToken("The booking was not accepted.")
	}
	if seen, err = s.checkToken(in.Service, in.Token); err != nil {
		return "", err
	}
	return seen, slots.CheckStart(in.StartsAt)
}

// visit is what a visitor asks for, checked against the catalog.
type visit struct {
	wish
	service    uuid.UUID
	given      details
	place      place
	status     string
	maxOpen    int // bookings ahead that one client may have; 0 for any number
	form       int64
	submission *uuid.UUID // of the answers to form, when one was asked
	page       string
	language   string
}

// newVisit refuses a request that no time would fit: 404 for a service that visitors cannot book, 400 for answers, a place
// or a person that do not fit. Consents in other words than those that the visitor saw are svc_invalid_token.
func (s *service) newVisit(tx *db.Tx, c *catalog, in publicBooking, seen string) (visit, error) {
	b, ok := c.service(in.Service)
	if !ok {
		return visit{}, fault.NotFound("service")
	}
	if now := c.consents(b); now != "" && now != seen {
		return visit{}, fault.InvalidToken("The words of the form have changed. Load it again.")
	}
	asks, asked := c.forms.of(b, c.settings)
	given, err := readDetails(asks, s.customFields(), in.Values)
	if err != nil {
		return visit{}, err
	}
	at := place{kind: b.LocationType}
	switch b.LocationType {
	case "client":
		at.location = in.Location
	case "phone":
		at.location = given.client.phone
	}
	if at, err = at.checked(); err != nil {
		return visit{}, err
	}
	users, err := s.candidates(tx, b, in.Staff.Or(0))
	if err != nil {
		return visit{}, err
	}
	v := visit{wish: wish{terms: b.terms(), users: users, start: in.StartsAt.UTC(), offered: toVisitors}, service: b.ID, given: given, place: at,
		status: statusConfirmed, maxOpen: c.settings.MaxOpenBookings, page: in.Page, language: in.Language}
	if b.Confirmation == "review" {
		v.status = statusPending
	}
	if asked {
		id := db.NewID()
		v.form, v.submission = asks.ID, &id
	}
	return v, nil
}

// facts are the data, beside the catalog, that decide a visitor's booking.
type facts struct {
	contact uuid.UUID // that has the visitor's address; uuid.Nil when no contact has it
	client  client    // as the contact has it
	ahead   int       // bookings that were made online with the address and are not over, where they are limited
	taken   bool      // the only candidate has no time, and the calendar is not held
	agenda  agenda
}

// loadFacts reads the facts in one batch. From then on the client's address is held, so that no other booking with it is
// counted at the same time; so are the contact, so that a merge of this moment finds what is booked, and the calendar of an
// only candidate, unless the time is taken already.
func (s *service) loadFacts(ctx context.Context, tx *db.Tx, c *catalog, v visit) (facts, error) {
	var f facts
	busy := map[int64][]slots.Busy{}
	key, day := address.Key(v.given.client.email), slots.DayOf(v.start, s.Config.Zone)
	b := &pgx.Batch{}
	// These are a few rows by their keys: to plan for the values each time costs more than it finds.
	b.Queue(`set local plan_cache_mode = force_generic_plan`)
	db.QueueLock(b, "booking.client", key)
	queueClient(b, key, &f.contact, &f.client)
	if v.maxOpen > 0 {
		b.Queue(`select count(*) from appointment a join contact c on c.id = a.contact_id where c.email_key = $1 and c.email_key <> ''
			and a.source = $2 and a.starts_at > $3 and a.status in ('pending', 'confirmed')`, key, db.ChannelBooking, tx.Now).
			QueryRow(func(row pgx.Row) error { return row.Scan(&f.ahead) })
	}
	if len(v.users) == 1 {
		queueHold(b, v.users[0], v.start, tx.Now, &f.taken)
	}
	queueBusy(b, busy, s.Config.Zone, v.users, day, day, v.moving, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return facts{}, fmt.Errorf("load the facts of a booking: %w", err)
	}
	f.agenda = c.agenda(s.Config.Zone, v.users, day, busy)
	if len(v.users) == 1 && !f.taken {
		f.agenda.held = v.users[0]
	}
	return f, nil
}

// decide lists the staff members who may take the time, the first choice first. The list is empty when the time is not free.
// The error is svc_conflict when the client has as many bookings ahead as there may be.
func (v visit) decide(f facts, now time.Time) ([]int64, error) {
	if f.taken {
		return nil, nil
	}
	if v.maxOpen > 0 && f.ahead >= v.maxOpen {
		return nil, fault.Conflict("max_open_bookings", "There are already as many upcoming bookings with this address as can be made online.")
	}
	return v.inTurn(f.agenda, now), nil
}

// booking is the appointment to write: for the contact that has the address, else for a new one.
func (v visit) booking(f facts, channel string) booking {
	b := booking{service: v.service, terms: v.terms, start: v.start, contact: f.contact, client: f.client, place: v.place, notes: v.given.answers.Message, source: channel,
		status: v.status, submission: v.submission, language: v.language}
	if f.contact == uuid.Nil {
		b.contact, b.client, b.newClient = db.NewID(), v.given.client, true
	}
	return b
}

// commands ask contacts to make or fill in the client's contact, and forms to keep the answers to a form.
func (v visit) commands(a record) []db.Event {
	all := []db.Event{ensure(v.given.answers.EnsureContact(), a.Contact.ID, a.ID)}
	if v.submission != nil {
		all = append(all, db.Event{Topic: proto.FormsCommandTopic, Kind: proto.KindRecordSubmission, Key: v.submission.String(), Data: &proto.RecordSubmission{
			SubmissionId: v.submission.String(), FormId: v.form, ContactId: a.Contact.ID.String(), AppointmentId: a.ID.String(),
			Values: v.given.raw, Page: v.page}})
	}
	return all
}
