package appointments

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/staff"
)

// ref names a record.
type ref struct {
	ID   uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	Name string    `json:"name" doc:"Its name at that time."`
}

// contactRef names the client; address and phone number come with a single appointment, and in a list that is asked for them.
type contactRef struct {
	ID    uuid.UUID `json:"id" format:"uuid" doc:"The id of the contact."`
	Name  string    `json:"name" doc:"First and last name."`
	Email *string   `json:"email,omitempty" doc:"The email address; null for none."`
	Phone *string   `json:"phone,omitempty" doc:"The telephone number; null for none."`
}

// submissionRef points at the details that the client gave.
type submissionRef struct {
	ID uuid.UUID `json:"id" format:"uuid" doc:"The id of the submission."`
}

// Appointment is what a client has booked, as the team sees it.
type Appointment struct {
	ID           uuid.UUID                `json:"id" format:"uuid" doc:"The id of the record."`
	Status       string                   `json:"status" doc:"pending, confirmed, declined, cancelled, completed, no_show or pending_payment."`
	Service      ref                      `json:"service"`
	Staff        staff.StaffRef           `json:"staff"`
	Contact      contactRef               `json:"contact"`
	BookedFor    *string                  `json:"booked_for" doc:"For whom it was booked online, where the contact with the address is called otherwise; else null."`
	StartsAt     time.Time                `json:"starts_at" doc:"When it begins."`
	EndsAt       time.Time                `json:"ends_at" doc:"When it ends."`
	LocationType string                   `json:"location_type" doc:"Where it takes place: in_person, client, phone or online."`
	Location     string                   `json:"location" doc:"The address or other words about the place."`
	MeetingURL   string                   `json:"meeting_url" doc:"The link of an online meeting; empty for none."`
	Notes        string                   `json:"notes" doc:"The internal note."`
	Source       string                   `json:"source" doc:"Channel through which it was booked."`
	Submission   opt.Value[submissionRef] `json:"submission" doc:"The answers to the form of the service; null for none."`
	CancelReason string                   `json:"cancel_reason" doc:"Why it was cancelled, for the team."`
	CreatedAt    time.Time                `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time                `json:"updated_at" doc:"When it last changed."`

	version int64
}

// RecordVersion is the answer's ETag.
func (a Appointment) RecordVersion() int64 { return a.version }

// Rest is the appointment in lists and events.
func (a Record) Rest() Appointment {
	at := a.Shown()
	out := Appointment{ID: a.ID, Status: a.Status, Service: ref{a.ServiceID, a.Terms.Name}, Staff: staff.StaffRef{UserID: a.UserID, Name: a.StaffName},
		Contact: contactRef{ID: a.ContactID, Name: a.Client.Label()}, StartsAt: a.StartsAt, EndsAt: a.EndsAt,
		LocationType: at.Kind, Location: at.Location, MeetingURL: at.MeetingURL, Notes: a.Notes, Source: a.Source, CancelReason: a.CancelReason,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, version: a.Version}
	if a.BookedFor != "" {
		out.BookedFor = &a.BookedFor
	}
	if a.SubmissionID != nil {
		out.Submission = opt.Of(submissionRef{*a.SubmissionID})
	}
	return out
}

// Whole is Rest with the client's address and number.
func (a Record) Whole() Appointment {
	out := a.Rest()
	out.Contact.Email, out.Contact.Phone = &a.Client.Email, &a.Client.Phone
	return out
}

// event is the appointment as it leaves the service: Rest without notes, reasons and meeting links.
func (a Record) event() Appointment {
	out := a.Rest()
	out.Notes, out.CancelReason, out.MeetingURL = "", "", ""
	return out
}

// Change is the event of a change to the appointment; changed names the fields of an update.
func (a Record) Change(kind string, extra any, changed ...string) db.Event {
	return db.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: a.ID.String(), Version: a.Version, Changed: changed, Data: a.event(), Extra: extra}
}

// PublicAppointment is an appointment as its client sees it.
type PublicAppointment struct {
	Status       string         `json:"status" doc:"pending while somebody has to confirm it, confirmed, or what became of it since: declined, cancelled, completed or no_show."`
	StartsAt     time.Time      `json:"starts_at" doc:"When it begins."`
	EndsAt       time.Time      `json:"ends_at" doc:"When it ends."`
	Service      ref            `json:"service"`
	Staff        staff.StaffRef `json:"staff"`
	LocationType string         `json:"location_type" doc:"Where it takes place."`
	Location     string         `json:"location" doc:"The address or other words about the place."`

	id uuid.UUID
}

// RecordID is what the audit log names.
func (p PublicAppointment) RecordID() string { return p.id.String() }

// ForVisitor is the appointment as a visitor gets to see it. Nothing in it is read from the contact: whoever booked may have
// given somebody else's address.
func (a Record) ForVisitor() PublicAppointment {
	at := a.Shown()
	p := PublicAppointment{Status: a.Status, StartsAt: a.StartsAt, EndsAt: a.EndsAt, Service: ref{a.ServiceID, a.Terms.Name},
		Staff: staff.StaffRef{UserID: a.UserID, Name: a.StaffName}, LocationType: at.Kind, Location: at.Location, id: a.ID}
	switch {
	case at.Kind == "phone":
		p.Location = a.Place.Location
	case at.Kind == "online" && a.Status == StatusConfirmed:
		p.Location = at.MeetingURL
	}
	return p
}

// Shown is where it takes place, with what stands for empty texts: the service's address, the client's number, the staff member's link.
func (a Record) Shown() Place {
	p := Place{Kind: a.Kind, Location: a.Location}
	switch p.Kind {
	case "in_person":
		p.Location = cmp.Or(p.Location, a.Terms.LocationDetails)
	case "phone":
		p.Location = cmp.Or(p.Location, a.Client.Phone)
	case "online":
		p.MeetingURL = cmp.Or(a.MeetingURL, a.StaffLink)
	}
	return p
}
