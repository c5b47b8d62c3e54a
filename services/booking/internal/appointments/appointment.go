package appointments

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// Statuses of an appointment.
const (
	StatusPending   = "pending"
	StatusConfirmed = "confirmed"
	StatusDeclined  = "declined"
	StatusCancelled = "cancelled"
	StatusCompleted = "completed"
	StatusNoShow    = "no_show"
)

// Ref names a record.
type Ref struct {
	ID   uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	Name string    `json:"name" doc:"Its name at that time."`
}

// ContactRef names the client; address and phone number come with a single appointment only.
type ContactRef struct {
	ID    uuid.UUID `json:"id" format:"uuid" doc:"The id of the contact."`
	Name  string    `json:"name" doc:"First and last name."`
	Email *string   `json:"email,omitempty" doc:"The email address; null for none."`
	Phone *string   `json:"phone,omitempty" doc:"The telephone number; null for none."`
}

// submissionRef points at the details that the client gave.
type submissionRef struct {
	ID uuid.UUID `json:"id" format:"uuid" doc:"The id of the submission."`
}

// Appointment is what a client has booked.
type Appointment struct {
	ID           uuid.UUID                `json:"id" format:"uuid" doc:"The id of the record."`
	Status       string                   `json:"status" doc:"pending, confirmed, declined, cancelled, completed, no_show or pending_payment."`
	Service      Ref                      `json:"service"`
	Staff        staff.StaffRef           `json:"staff"`
	Contact      ContactRef               `json:"contact"`
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

// Record is a row of the table with what it shows of others.
type Record struct {
	Appointment
	Terms     services.Terms // of the service, when it was booked
	StaffLink string         // the fixed meeting link of the staff member
	Place     Place
	Client    clients.Client
	Language  string // of the client's mails; empty for that of the business's country
	// TimedAt is when the time was last set or became certain. A reminder that was due before then is not sent.
	TimedAt    time.Time
	RemindedAt *time.Time
	Sequence   int // of the calendar file: counts the changes that the client's calendar shows
}

// appointmentRow is what selectAppointments selects.
type appointmentRow struct {
	ID, ServiceID, ContactID           uuid.UUID
	SubmissionID                       *uuid.UUID
	Status                             string
	Terms                              services.Terms
	UserID                             int64
	StaffName, StaffLink               string
	FirstName, LastName, Email, Phone  string
	BookedFor                          string
	StartsAt, EndsAt                   time.Time
	LocationType, Location, MeetingURL string
	Notes, Source, CancelReason        string
	CreatedAt, UpdatedAt, TimedAt      time.Time
	RemindedAt                         *time.Time
	Language                           string
	Sequence                           int
	Version                            int64
}

const selectAppointments = `select a.id, a.status, a.service_id, a.terms,
	a.user_id, s.name as staff_name, s.meeting_url as staff_link, a.contact_id,
	coalesce(c.first_name, '') as first_name, coalesce(c.last_name, '') as last_name, coalesce(c.email, '') as email, coalesce(c.phone, '') as phone, a.booked_for,
	a.starts_at, a.ends_at, a.location_type, a.location, a.meeting_url, a.notes, a.source, a.submission_id, a.cancel_reason,
	a.created_at, a.updated_at, a.timed_at, a.reminded_at, a.language, a.sequence, a.version
	from appointment a join staff s using (user_id) left join contact c on c.id = a.contact_id `

// Query reads the appointments that the rest of a statement behind selectAppointments chooses.
func (r *Room) Query(ctx context.Context, tx *db.Tx, where string, args ...any) ([]Record, error) {
	rows, err := tx.Query(ctx, selectAppointments+where, args...)
	if err != nil {
		return nil, fmt.Errorf("query appointments: %w", err)
	}
	read, err := pgx.CollectRows(rows, pgx.RowToStructByName[appointmentRow])
	if err != nil {
		return nil, fmt.Errorf("read appointments: %w", err)
	}
	all := make([]Record, len(read))
	for i, row := range read {
		all[i] = r.recordOf(row)
	}
	return all, nil
}

func (r *Room) recordOf(row appointmentRow) Record {
	a := Record{Terms: row.Terms, StaffLink: row.StaffLink, Language: row.Language, TimedAt: row.TimedAt, RemindedAt: row.RemindedAt, Place: Place{row.LocationType, row.Location, row.MeetingURL},
		Client: clients.Client{FirstName: row.FirstName, LastName: row.LastName, Email: row.Email, Phone: row.Phone}, Sequence: row.Sequence,
		Appointment: Appointment{version: row.Version, ID: row.ID, Status: row.Status, Service: Ref{row.ServiceID, row.Terms.Name}, Staff: r.staff.Ref(row.UserID, row.StaffName),
			Contact: ContactRef{ID: row.ContactID}, StartsAt: row.StartsAt, EndsAt: row.EndsAt, Notes: row.Notes, Source: row.Source,
			CancelReason: row.CancelReason, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}}
	if row.SubmissionID != nil {
		a.Submission = opt.Of(submissionRef{*row.SubmissionID})
	}
	a.Contact.Name = a.Client.Label()
	a.bookFor(row.BookedFor)
	a.show()
	return a
}

// show fills in where it takes place, from what stands for empty texts.
func (a *Record) show() {
	a.LocationType, a.Location, a.MeetingURL = a.Place.Kind, a.Place.Location, ""
	switch a.Place.Kind {
	case "in_person":
		if a.Location == "" {
			a.Location = a.Terms.LocationDetails
		}
	case "phone":
		if a.Location == "" {
			a.Location = a.Client.Phone
		}
	case "online":
		if a.MeetingURL = a.Place.MeetingURL; a.MeetingURL == "" {
			a.MeetingURL = a.StaffLink
		}
	}
}

// bookFor says for whom it was booked; an empty name stands for the contact.
func (a *Record) bookFor(name string) {
	a.BookedFor = nil
	if name != "" {
		a.BookedFor = &name
	}
}

// For is the name of somebody else for whom it was booked, or empty.
func (a Record) For() string {
	if a.BookedFor == nil {
		return ""
	}
	return *a.BookedFor
}

// Whole is the answer for a single appointment.
func (a Record) Whole() Appointment {
	a.Contact.Email, a.Contact.Phone = &a.Client.Email, &a.Client.Phone
	return a.Appointment
}

// event is the record as it leaves the service: without notes, reasons and meeting links.
func (a Record) event() Appointment {
	a.Notes, a.CancelReason, a.MeetingURL = "", "", ""
	return a.Appointment
}

// Change is the event of a change to the appointment; changed names the fields of an update.
func (a Record) Change(kind string, extra any, changed ...string) db.Event {
	return db.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: a.ID.String(), Version: a.version, Changed: changed, Data: a.event(), Extra: extra}
}

// Find reads one appointment that the caller may see. The error is svc_not_found for any other.
func (r *Room) Find(ctx context.Context, tx *db.Tx, id uuid.UUID) (Record, error) {
	found, err := r.Query(ctx, tx, `where a.id = $1 and ($2::bigint = 0 or a.user_id = $2)`, id, tx.Who.OwnUser())
	if err == nil && len(found) == 0 {
		err = fault.NotFound("appointment")
	}
	if err != nil {
		return Record{}, err
	}
	return found[0], nil
}

// Lock is Find with the row locked until the transaction ends.
func (r *Room) Lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (Record, error) {
	if _, err := tx.Exec(ctx, `select from appointment where id = $1 for no key update`, id); err != nil {
		return Record{}, err
	}
	return r.Find(ctx, tx, id)
}

// publishAppointments publishes appointment.updated for appointments as they are now, with the hashes of their clients'
// addresses, by which contacts finds those of a person who is no contact.
func (r *Room) publishAppointments(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	found, err := r.Query(ctx, tx, `where a.id = any($1) order by a.id`, ids)
	if err != nil {
		return err
	}
	for _, a := range found {
		named := &proto.PeopleNamed{Called: tx.PeopleNamed([]byte(a.Client.Email))}
		if err := tx.Emit(ctx, a.Change(proto.KindAppointmentUpdated, named)); err != nil {
			return err
		}
	}
	return nil
}

// Must returns nil when the status is one of allowed, else svc_invalid_status with the current status.
func (a Record) Must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}

// Place is where an appointment takes place, as it was set: empty texts stand for the service's address
// or the staff member's link.
type Place struct{ Kind, Location, MeetingURL string }

// Reachable refuses a place online that has no link: neither its own nor the fixed one of the staff member.
func (p Place) Reachable(staffLink string) error {
	if p.Kind == "online" && p.MeetingURL == "" && staffLink == "" {
		return NoLink()
	}
	return nil
}

// NoLink refuses a place online without a link.
func NoLink() error {
	return fault.Conflict("no_meeting_link", "An appointment online needs a meeting link. Give one, or set the fixed link of the staff member.")
}

// Checked is the place as it is stored. It refuses a client's place without an address, and a meeting link that is no link.
func (p Place) Checked() (Place, error) {
	p.Location, p.MeetingURL = strings.TrimSpace(p.Location), strings.TrimSpace(p.MeetingURL)
	if p.Kind == "client" && p.Location == "" {
		return p, fault.Invalid("location", fault.NewProblem("required", "is required: the address of the client"))
	}
	if p.MeetingURL != "" && !WebAddress(p.MeetingURL) {
		return p, fault.Invalid("meeting_url", fault.Website())
	}
	if p.Kind == "online" {
		p.Location = ""
	} else {
		p.MeetingURL = ""
	}
	return p, nil
}

// WebAddress reports whether a text is the address of a page, without a name and password.
func WebAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}
