package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
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
	if err := slots.CheckStart(in.StartsAt); err != nil {
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
	b := booking{service: bookable.ID, terms: w.terms, start: w.start, contact: in.Contact, client: client, place: p, notes: in.Notes, source: tx.Who.Channel, status: statusConfirmed}
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
	a, err := s.insert(tx, who, b)
	if err != nil {
		return Appointment{}, err
	}
	return a.whole(), s.publish(ctx, tx, a, agenda.settings, a.change(proto.KindAppointmentBooked, nil))
}
