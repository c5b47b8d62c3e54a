package booking

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

// Statuses of an appointment.
const (
	statusPending   = "pending"
	statusConfirmed = "confirmed"
	statusDeclined  = "declined"
	statusCancelled = "cancelled"
	statusCompleted = "completed"
	statusNoShow    = "no_show"
)

// Ref names a record.
type Ref struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

// StaffRef names a staff member as clients see the name.
type StaffRef struct {
	UserID int64  `json:"user_id"`
	Name   string `json:"name"`
}

// ContactRef names the client; address and phone number come with a single appointment only.
type ContactRef struct {
	ID    uuid.UUID `json:"id" format:"uuid"`
	Name  string    `json:"name"`
	Email *string   `json:"email,omitempty"`
	Phone *string   `json:"phone,omitempty"`
}

// SubmissionRef points at the details that the client gave.
type SubmissionRef struct {
	ID uuid.UUID `json:"id" format:"uuid"`
}

// Appointment is what a client has booked.
type Appointment struct {
	ID           uuid.UUID                `json:"id" format:"uuid"`
	Status       string                   `json:"status"`
	Service      Ref                      `json:"service"`
	Staff        StaffRef                 `json:"staff"`
	Contact      ContactRef               `json:"contact"`
	StartsAt     time.Time                `json:"starts_at"`
	EndsAt       time.Time                `json:"ends_at"`
	LocationType string                   `json:"location_type"`
	Location     string                   `json:"location"`
	MeetingURL   string                   `json:"meeting_url"`
	Notes        string                   `json:"notes"`
	Source       string                   `json:"source" doc:"Channel through which it was booked."`
	Submission   opt.Value[SubmissionRef] `json:"submission"`
	CancelReason string                   `json:"cancel_reason"`
	CreatedAt    time.Time                `json:"created_at"`
	UpdatedAt    time.Time                `json:"updated_at"`
}

// appointment is a row of the table with what it shows of others.
type appointment struct {
	Appointment
	address  string // of the service, when it was booked
	place    place
	client   client
	sequence int
	version  int64
}

// place is where an appointment takes place, as it was set: empty texts stand for the service's address
// or the staff member's link.
type place struct{ kind, location, meetingURL string }

// client is what booking knows of a contact.
type client struct{ firstName, lastName, email, phone string }

func (c client) name() string {
	return strings.TrimSpace(c.firstName + " " + c.lastName)
}

// label names the client in logs: by name, else by address.
func (c client) label() string {
	if n := c.name(); n != "" {
		return n
	}
	if c.email != "" {
		return c.email
	}
	return c.phone
}

const selectAppointments = `select a.id, a.status, a.service_id, a.terms->>'name', coalesce(a.terms->>'location_details', ''), a.user_id, s.name, s.meeting_url, a.contact_id,
	coalesce(c.first_name, ''), coalesce(c.last_name, ''), coalesce(c.email, ''), coalesce(c.phone, ''),
	a.starts_at, a.ends_at, a.location_type, a.location, a.meeting_url, a.notes, a.source, a.submission_id, a.cancel_reason,
	a.created_at, a.updated_at, a.sequence, a.version
	from appointment a join staff s using (user_id) left join contact c on c.id = a.contact_id `

func (s *service) queryAppointments(ctx context.Context, tx *db.Tx, where string, args ...any) ([]appointment, error) {
	rows, err := tx.Query(ctx, selectAppointments+where, args...)
	if err != nil {
		return nil, err
	}
	return s.collect(rows)
}

// collect reads what selectAppointments selects.
func (s *service) collect(rows pgx.Rows) ([]appointment, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a appointment, err error) {
		var link string
		var submission *uuid.UUID
		err = row.Scan(&a.ID, &a.Status, &a.Service.ID, &a.Service.Name, &a.address, &a.Staff.UserID, &a.Staff.Name, &link, &a.Contact.ID,
			&a.client.firstName, &a.client.lastName, &a.client.email, &a.client.phone,
			&a.StartsAt, &a.EndsAt, &a.place.kind, &a.place.location, &a.place.meetingURL, &a.Notes, &a.Source, &submission, &a.CancelReason,
			&a.CreatedAt, &a.UpdatedAt, &a.sequence, &a.version)
		if err != nil {
			return a, err
		}
		if submission != nil {
			a.Submission = opt.Of(SubmissionRef{*submission})
		}
		a.Contact.Name = a.client.label()
		a.Staff.Name = s.staffName(a.Staff.UserID, a.Staff.Name)
		a.show(link)
		return a, nil
	})
}

// show fills in where it takes place, from what stands for empty texts.
func (a *appointment) show(staffLink string) {
	a.LocationType, a.Location, a.MeetingURL = a.place.kind, a.place.location, ""
	switch a.place.kind {
	case "in_person":
		if a.Location == "" {
			a.Location = a.address
		}
	case "phone":
		if a.Location == "" {
			a.Location = a.client.phone
		}
	case "online":
		if a.MeetingURL = a.place.meetingURL; a.MeetingURL == "" {
			a.MeetingURL = staffLink
		}
	}
}

// staffName is the name clients see: the chosen one, else the user's own.
func (s *service) staffName(id int64, chosen string) string {
	if chosen != "" {
		return chosen
	}
	if u, ok := s.Identity.User(id); ok {
		if u.GetName() != "" {
			return u.GetName()
		}
		return u.GetLogin()
	}
	return "Former staff member"
}

// whole is the answer for a single appointment.
func (a appointment) whole() Appointment {
	a.Contact.Email, a.Contact.Phone = &a.client.email, &a.client.phone
	return a.Appointment
}

// event is the record as it leaves the service: without notes, reasons and meeting links.
func (a appointment) event() Appointment {
	a.Notes, a.CancelReason, a.MeetingURL = "", "", ""
	return a.Appointment
}

// change is the event appointment.<what>.
func (a appointment) change(what string, extra any, changed ...string) db.Event {
	return db.Event{Topic: proto.AppointmentTopic, Kind: "appointment." + what, Key: a.ID.String(), Version: a.version,
		Changed: changed, Data: a.event(), Extra: extra}
}

// tell sends the event of a change, the mail that the client gets for it, and what else belongs to it.
func (s *service) tell(ctx context.Context, tx *db.Tx, a appointment, change db.Event, more ...db.Event) error {
	events := append([]db.Event{change}, more...)
	m, err := s.letter(ctx, tx, a, strings.TrimPrefix(change.Kind, "appointment."))
	if err != nil {
		return err
	}
	if m != nil {
		events = append(events, db.Event{Topic: proto.MailTopic, Kind: "mail", Key: m.GetId(), Data: m})
	}
	return tx.EmitAll(ctx, events)
}

// find reads one appointment that the caller may see.
func (s *service) find(ctx context.Context, tx *db.Tx, id uuid.UUID) (appointment, error) {
	found, err := s.queryAppointments(ctx, tx, `where a.id = $1 and ($2::bigint = 0 or a.user_id = $2)`, id, ownUser(tx))
	if err == nil && len(found) == 0 {
		err = fault.NotFound("appointment")
	}
	if err != nil {
		return appointment{}, err
	}
	return found[0], nil
}

// lock is find with the row locked, so that what is decided on it stays true.
func (s *service) lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (appointment, error) {
	if _, err := tx.Exec(ctx, `select from appointment where id = $1 for no key update`, id); err != nil {
		return appointment{}, err
	}
	return s.find(ctx, tx, id)
}

// ownUser is the user whose records alone the caller may see, or 0 for everyone's.
func ownUser(tx *db.Tx) int64 {
	if tx.Who.Own {
		return tx.Who.UserID
	}
	return 0
}

func (s *service) getAppointment(ctx context.Context, tx *db.Tx, in op.ByID) (Appointment, error) {
	a, err := s.find(ctx, tx, in.ID)
	return a.whole(), err
}

type findAppointments struct {
	db.Page
	From         string    `json:"from,omitempty" format:"date" doc:"First local day of the start."`
	To           string    `json:"to,omitempty" format:"date" doc:"Last local day of the start, at most 62 days later."`
	Staff        int64     `json:"staff,omitempty" minimum:"1"`
	Status       []string  `json:"status,omitempty" enum:"pending,confirmed,declined,cancelled,completed,no_show,pending_payment"`
	Contact      uuid.UUID `json:"contact,omitzero"`
	UpdatedSince time.Time `json:"updated_since,omitzero"`
}

func (s *service) findAppointments(ctx context.Context, tx *db.Tx, in findAppointments) (db.List[Appointment], error) {
	none := db.List[Appointment]{}
	c, err := tx.Page(in.Page, "appointments", in)
	if err != nil {
		return none, err
	}
	f := filter{}
	if in.From != "" || in.To != "" {
		from, to, err := period(in.From, in.To, firstDay, maxDays)
		if err != nil {
			return none, err
		}
		begin, end := slots.Bounds(s.Config.Zone, from, to)
		f.add("a.starts_at >= $%d", begin)
		f.add("a.starts_at < $%d", end)
	}
	if user := ownUser(tx); user != 0 {
		f.add("a.user_id = $%d", user)
	}
	if in.Staff != 0 {
		f.add("a.user_id = $%d", in.Staff)
	}
	if len(in.Status) > 0 {
		f.add("a.status = any($%d)", in.Status)
	}
	if in.Contact != uuid.Nil {
		f.add("a.contact_id = $%d", in.Contact)
	}
	order := "starts_at"
	if !in.UpdatedSince.IsZero() {
		order = "updated_at"
		f.add("a.updated_at >= $%d", in.UpdatedSince)
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from appointment a `+f.where(), f.args...).Scan(&c.Total); err != nil {
			return none, err
		}
	} else {
		f.add("a."+order+" >= $%d", c.At)
		f.add("(a."+order+" > $%[1]d or a.id > $%[2]d)", c.At, c.ID)
	}
	rows, err := s.queryAppointments(ctx, tx, f.where()+fmt.Sprintf(" order by a.%s, a.id limit %d", order, c.Limit), f.args...)
	if err != nil {
		return none, err
	}
	items := make([]Appointment, len(rows))
	for i, a := range rows {
		items[i] = a.Appointment
	}
	return db.Close(c, items, func(a Appointment) (time.Time, uuid.UUID) {
		if order == "updated_at" {
			return a.UpdatedAt, a.ID
		}
		return a.StartsAt, a.ID
	}), nil
}

// filter collects conditions and their arguments.
type filter struct {
	conditions []string
	args       []any
}

// add takes a condition with a %d for the number of each argument.
func (f *filter) add(condition string, args ...any) {
	numbers := make([]any, len(args))
	for i, a := range args {
		f.args = append(f.args, a)
		numbers[i] = len(f.args)
	}
	f.conditions = append(f.conditions, fmt.Sprintf(condition, numbers...))
}

func (f *filter) where() string {
	if len(f.conditions) == 0 {
		return ""
	}
	return "where " + strings.Join(f.conditions, " and ")
}
