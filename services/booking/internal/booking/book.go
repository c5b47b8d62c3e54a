package booking

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
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

type newAppointment struct {
	Contact      uuid.UUID        `json:"contact" required:"true" doc:"The id of the contact."`
	Service      uuid.UUID        `json:"service" required:"true" doc:"The id of the service."`
	Staff        opt.Value[int64] `json:"staff,omitzero" nullable:"true" minimum:"1" doc:"Null or left out: the least busy person who is free."`
	StartsAt     time.Time        `json:"starts_at" required:"true" doc:"A start that the free times list, unless outside_hours is true."`
	Notes        string           `json:"notes" maxLength:"2000" doc:"The internal note."`
	OutsideHours bool             `json:"outside_hours" doc:"Book outside working hours, off the grid or in the past; never over another appointment."`
	LocationType string           `json:"location_type" enum:"in_person,client,phone,online" doc:"Where it takes place; as the service says when left out."`
	Location     string           `json:"location" maxLength:"255" doc:"The address or other words about the place."`
	MeetingURL   string           `json:"meeting_url" maxLength:"2048" doc:"The link of an online meeting; empty for none."`
	Status       string           `json:"status" enum:"confirmed,pending" doc:"pending waits for somebody to confirm it."`
}

func (s *service) bookAppointment(ctx context.Context, tx *db.Tx, in newAppointment) (Appointment, error) {
	if err := checkStart(in.StartsAt); err != nil {
		return Appointment{}, err
	}
	client, err := s.arrivingContact(ctx, tx, in.Contact)
	if err != nil {
		return Appointment{}, err
	}
	bookable, err := getService(ctx, tx, op.ByID{ID: in.Service})
	if err != nil {
		return Appointment{}, err
	}
	if bookable.Archived {
		return Appointment{}, fault.NotFound("service")
	}
	p := place{in.LocationType, in.Location, in.MeetingURL}
	if p.kind == "" {
		p.kind = bookable.LocationType
	}
	if p, err = p.checked(); err != nil {
		return Appointment{}, err
	}
	users, err := s.candidates(tx, bookable, in.Staff.Or(0))
	if err != nil {
		return Appointment{}, err
	}
	w := wish{terms: bookable.terms(), users: users, start: in.StartsAt.UTC(), offered: toTeamOr(in.OutsideHours)}
	b := booking{service: bookable.ID, contact: in.Contact, client: client, place: p, notes: in.Notes, source: tx.Who.Channel, status: statusConfirmed}
	if in.Status != "" {
		b.status = in.Status
	}
	agenda, err := s.readSeat(ctx, tx, w)
	if err != nil {
		return Appointment{}, err
	}
	who, err := s.seat(ctx, tx, w, agenda, w.inTurn(agenda, tx.Now))
	if err != nil {
		return Appointment{}, err
	}
	if err := p.reachable(who.MeetingURL); err != nil {
		return Appointment{}, err
	}
	a, err := s.insert(tx, w, who, b)
	if err != nil {
		return Appointment{}, err
	}
	return a.whole(), s.publish(ctx, tx, a, agenda.settings, a.change(proto.KindAppointmentBooked, nil))
}

// reachable refuses a place online that has no link: neither its own nor the fixed one of the staff member.
func (p place) reachable(staffLink string) error {
	if p.kind == "online" && p.meetingURL == "" && staffLink == "" {
		return fault.Conflict("no_meeting_link", "An appointment online needs a meeting link. Give one, or set the fixed link of the staff member.")
	}
	return nil
}

// checked is the place as it is stored. It refuses a client's place without an address, and a meeting link that is no link.
func (p place) checked() (place, error) {
	p.location, p.meetingURL = strings.TrimSpace(p.location), strings.TrimSpace(p.meetingURL)
	if p.kind == "client" && p.location == "" {
		return p, fault.Invalid("location", fault.NewProblem("required", "is required: the address of the client"))
	}
	if p.meetingURL != "" && !webAddress(p.meetingURL) {
		return p, fault.Invalid("meeting_url", fault.Website())
	}
	if p.kind == "online" {
		p.location = ""
	} else {
		p.meetingURL = ""
	}
	return p, nil
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// booking is what a new appointment holds beside its time.
type booking struct {
	service    uuid.UUID
	contact    uuid.UUID
	client     client
	newClient  bool // a contact that nobody has heard of yet
	place      place
	notes      string
	source     string
	status     string
	submission *uuid.UUID
	language   string
}

// insert writes a new appointment with the commit. The caller holds the calendar of its staff member. All appointments are
// made here. The commit's error is svc_slot_taken if the constraint finds an overlap.
func (s *service) insert(tx *db.Tx, w wish, who staffRow, b booking) (appointment, error) {
	terms, err := json.Marshal(w.terms)
	if err != nil {
		return appointment{}, err
	}
	a := appointment{address: w.terms.LocationDetails, staffLink: who.MeetingURL, language: b.language, timedAt: tx.Now, place: b.place, client: b.client, Appointment: Appointment{version: 1,
		ID: db.NewID(), Status: b.status, Service: Ref{b.service, w.terms.Name}, Staff: StaffRef{who.UserID, s.staffName(who.UserID, who.Name)},
		Contact: ContactRef{ID: b.contact, Name: b.client.label()}, StartsAt: w.start, EndsAt: w.start.Add(time.Duration(w.terms.DurationMin) * time.Minute),
		Notes: b.notes, Source: b.source, CreatedAt: tx.Now, UpdatedAt: tx.Now}}
	if b.submission != nil {
		a.Submission = opt.Of(SubmissionRef{*b.submission})
	}
	a.show()
	if b.newClient {
		tx.Defer(`insert into contact (id, version, first_name, last_name, email, email_key, phone) values ($1, 0, $2, $3, $4, $5, $6)`,
			b.contact, b.client.firstName, b.client.lastName, b.client.email, address.Key(b.client.email), b.client.phone)
	}
	tx.Explain = overlap
	tx.Defer(`insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after,
		location_type, location, meeting_url, notes, source, submission_id, language, version, timed_at, created_at, updated_at)
		values (@id, @status, @service, @terms, @user, @contact, @starts_at, @ends_at, @buffer_before, @buffer_after,
		@location_type, @location, @meeting_url, @notes, @source, @submission, @language, @version, @now, @now, @now)`, pgx.NamedArgs{
		"id": a.ID, "status": a.Status, "service": b.service, "terms": terms, "user": who.UserID, "contact": b.contact, "starts_at": a.StartsAt,
		"ends_at": a.EndsAt, "buffer_before": w.terms.BufferBefore, "buffer_after": w.terms.BufferAfter, "location_type": b.place.kind,
		"location": b.place.location, "meeting_url": b.place.meetingURL, "notes": b.notes, "source": b.source, "submission": b.submission, "language": b.language,
		"version": a.version, "now": tx.Now})
	return a, nil
}

// overlap is svc_slot_taken for what only the database saw: somebody who held no calendar.
func overlap(err error) error {
	if db.Violates(err, "appointment_overlap") {
		return fault.SlotTaken([]Alternative{})
	}
	return err
}
