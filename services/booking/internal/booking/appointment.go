package booking

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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

// SubmissionRef points at the details that the client gave.
type SubmissionRef struct {
	ID uuid.UUID `json:"id" format:"uuid" doc:"The id of the submission."`
}

// Appointment is what a client has booked.
type Appointment struct {
	ID           uuid.UUID                `json:"id" format:"uuid" doc:"The id of the record."`
	Status       string                   `json:"status" doc:"pending, confirmed, declined, cancelled, completed, no_show or pending_payment."`
	Service      Ref                      `json:"service"`
	Staff        StaffRef                 `json:"staff"`
	Contact      ContactRef               `json:"contact"`
	StartsAt     time.Time                `json:"starts_at" doc:"When it begins."`
	EndsAt       time.Time                `json:"ends_at" doc:"When it ends."`
	LocationType string                   `json:"location_type" doc:"Where it takes place: in_person, client, phone or online."`
	Location     string                   `json:"location" doc:"The address or other words about the place."`
	MeetingURL   string                   `json:"meeting_url" doc:"The link of an online meeting; empty for none."`
	Notes        string                   `json:"notes" doc:"The internal note."`
	Source       string                   `json:"source" doc:"Channel through which it was booked."`
	Submission   opt.Value[SubmissionRef] `json:"submission" doc:"The answers to the form of the service; null for none."`
	CancelReason string                   `json:"cancel_reason" doc:"Why it was cancelled, for the team."`
	CreatedAt    time.Time                `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time                `json:"updated_at" doc:"When it last changed."`

	version int64
}

// RecordVersion is the answer's ETag.
func (a Appointment) RecordVersion() int64 { return a.version }

// record is a row of the table with what it shows of others.
type record struct {
	Appointment
	address   string // of the service, when it was booked
	staffLink string // the fixed meeting link of the staff member
	place     place
	client    client
	language  string // of the client's mails; empty for that of the business's country
	// timedAt is when the time was last set or became certain. A reminder that was due before then is not sent.
	timedAt    time.Time
	remindedAt *time.Time
	sequence   int // of the calendar file: counts the changes that the client's calendar shows
}

// appointmentRow is what selectAppointments selects.
type appointmentRow struct {
	ID, ServiceID, ContactID            uuid.UUID
	SubmissionID                        *uuid.UUID
	Status, ServiceName, ServiceAddress string
	UserID                              int64
	StaffName, StaffLink                string
	FirstName, LastName, Email, Phone   string
	StartsAt, EndsAt                    time.Time
	LocationType, Location, MeetingURL  string
	Notes, Source, CancelReason         string
	CreatedAt, UpdatedAt, TimedAt       time.Time
	RemindedAt                          *time.Time
	Language                            string
	Sequence                            int
	Version                             int64
}

const selectAppointments = `select a.id, a.status, a.service_id, a.terms->>'name' as service_name, coalesce(a.terms->>'location_details', '') as service_address,
	a.user_id, s.name as staff_name, s.meeting_url as staff_link, a.contact_id,
	coalesce(c.first_name, '') as first_name, coalesce(c.last_name, '') as last_name, coalesce(c.email, '') as email, coalesce(c.phone, '') as phone,
	a.starts_at, a.ends_at, a.location_type, a.location, a.meeting_url, a.notes, a.source, a.submission_id, a.cancel_reason,
	a.created_at, a.updated_at, a.timed_at, a.reminded_at, a.language, a.sequence, a.version
	from appointment a join staff s using (user_id) left join contact c on c.id = a.contact_id `

// queryAppointments reads the appointments that the rest of a statement behind selectAppointments chooses.
func (s *service) queryAppointments(ctx context.Context, tx *db.Tx, where string, args ...any) ([]record, error) {
	rows, err := tx.Query(ctx, selectAppointments+where, args...)
	if err != nil {
		return nil, fmt.Errorf("query appointments: %w", err)
	}
	read, err := pgx.CollectRows(rows, pgx.RowToStructByName[appointmentRow])
	if err != nil {
		return nil, fmt.Errorf("read appointments: %w", err)
	}
	all := make([]record, len(read))
	for i, row := range read {
		all[i] = s.recordOf(row)
	}
	return all, nil
}

func (s *service) recordOf(r appointmentRow) record {
	a := record{address: r.ServiceAddress, staffLink: r.StaffLink, language: r.Language, timedAt: r.TimedAt, remindedAt: r.RemindedAt, place: place{r.LocationType, r.Location, r.MeetingURL},
		client: client{r.FirstName, r.LastName, r.Email, r.Phone}, sequence: r.Sequence,
		Appointment: Appointment{version: r.Version, ID: r.ID, Status: r.Status, Service: Ref{r.ServiceID, r.ServiceName}, Staff: StaffRef{r.UserID, s.staffName(r.UserID, r.StaffName)},
			Contact: ContactRef{ID: r.ContactID}, StartsAt: r.StartsAt, EndsAt: r.EndsAt, Notes: r.Notes, Source: r.Source,
			CancelReason: r.CancelReason, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}}
	if r.SubmissionID != nil {
		a.Submission = opt.Of(SubmissionRef{*r.SubmissionID})
	}
	a.Contact.Name = a.client.label()
	a.show()
	return a
}

// show fills in where it takes place, from what stands for empty texts.
func (a *record) show() {
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
			a.MeetingURL = a.staffLink
		}
	}
}

// whole is the answer for a single appointment.
func (a record) whole() Appointment {
	a.Contact.Email, a.Contact.Phone = &a.client.email, &a.client.phone
	return a.Appointment
}

// event is the record as it leaves the service: without notes, reasons and meeting links.
func (a record) event() Appointment {
	a.Notes, a.CancelReason, a.MeetingURL = "", "", ""
	return a.Appointment
}

// change is the event of a change to the appointment; changed names the fields of an update.
func (a record) change(kind string, extra any, changed ...string) db.Event {
	return db.Event{Topic: proto.AppointmentTopic, Kind: kind, Key: a.ID.String(), Version: a.version, Changed: changed, Data: a.event(), Extra: extra}
}

// find reads one appointment that the caller may see. The error is svc_not_found for any other.
func (s *service) find(ctx context.Context, tx *db.Tx, id uuid.UUID) (record, error) {
	found, err := s.queryAppointments(ctx, tx, `where a.id = $1 and ($2::bigint = 0 or a.user_id = $2)`, id, tx.Who.OwnUser())
	if err == nil && len(found) == 0 {
		err = fault.NotFound("appointment")
	}
	if err != nil {
		return record{}, err
	}
	return found[0], nil
}

// lock is find with the row locked until the transaction ends.
func (s *service) lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (record, error) {
	if _, err := tx.Exec(ctx, `select from appointment where id = $1 for no key update`, id); err != nil {
		return record{}, err
	}
	return s.find(ctx, tx, id)
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

// total is how many appointments where allows, which is made of in.
func (in findAppointments) total(ctx context.Context, tx *db.Tx, where *db.Where) (n int64, err error) {
	if in.From != "" || in.To != "" || in.Contact != uuid.Nil || !in.UpdatedSince.IsZero() {
		err = tx.QueryRow(ctx, `select count(*) from appointment a where `+where.String(), where.Args...).Scan(&n)
		return n, err
	}
	user := tx.Who.OwnUser()
	switch {
	case user == 0:
		user = in.Staff
	case in.Staff != 0 && in.Staff != user:
		return 0, nil
	}
	var whose []string
	if user != 0 {
		whose = []string{strconv.FormatInt(user, 10)}
	}
	return tx.CountRows(ctx, "appointment", whose, in.Status)
}

func (s *service) findAppointments(ctx context.Context, tx *db.Tx, in findAppointments) (db.List[Appointment], error) {
	none := db.List[Appointment]{}
	c, err := tx.Page(in.Page, "appointments", in)
	if err != nil {
		return none, err
	}
	var where db.Where
	if in.From != "" || in.To != "" {
		from, to, err := slots.Period(in.From, in.To, slots.FirstDay, slots.MaxDays)
		if err != nil {
			return none, err
		}
		begin, end := slots.Bounds(s.Config.Zone, from, to)
		where.And("a.starts_at >= ? and a.starts_at < ?", begin, end)
	}
	if user := tx.Who.OwnUser(); user != 0 {
		where.And("a.user_id = ?", user)
	}
	if in.Staff != 0 {
		where.And("a.user_id = ?", in.Staff)
	}
	if slices.Equal(in.Status, []string{statusPending}) {
		where.And("a.status = 'pending'") // what the index of requests is for
	} else if len(in.Status) > 0 {
		where.And("a.status = any(?)", in.Status)
	}
	if in.Contact != uuid.Nil {
		where.And("a.contact_id = ?", in.Contact)
	}
	by := byStart
	if !in.UpdatedSince.IsZero() {
		by = byUpdate
		if c.First {
			if c.Until, err = tx.ChangesUntil(ctx, "appointment"); err != nil {
				return none, err
			}
		}
		where.And("a.updated_at >= ? and a.updated_at <= ?", in.UpdatedSince, c.Until)
	}
	if c.First {
		if c.Total, err = in.total(ctx, tx, &where); err != nil {
			return none, fmt.Errorf("count appointments: %w", err)
		}
	} else {
		where.And(by.behind, c.At, c.At, c.ID)
	}
	rows, err := s.queryAppointments(ctx, tx, "where "+where.String()+db.LimitTo(by.order, c.Limit), where.Args...)
	if err != nil {
		return none, err
	}
	items := make([]Appointment, len(rows))
	for i, a := range rows {
		items[i] = a.Appointment
	}
	return db.Close(c, items, by.at), nil
}

// sorting is an order of lists of appointments: what stands behind the last one of a page, which the order has at.
type sorting struct {
	order, behind string
	at            func(Appointment) (time.Time, uuid.UUID)
}

var (
	byStart = sorting{" order by a.starts_at, a.id", "a.starts_at >= ? and (a.starts_at > ? or a.id > ?)",
		func(a Appointment) (time.Time, uuid.UUID) { return a.StartsAt, a.ID }}
	byUpdate = sorting{" order by a.updated_at, a.id", "a.updated_at >= ? and (a.updated_at > ? or a.id > ?)",
		func(a Appointment) (time.Time, uuid.UUID) { return a.UpdatedAt, a.ID }}
)

// publishAppointments publishes appointment.updated for appointments as they are now, with the hashes of their clients'
// addresses, by which contacts finds those of a person who is no contact.
func (s *service) publishAppointments(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	found, err := s.queryAppointments(ctx, tx, `where a.id = any($1) order by a.id`, ids)
	if err != nil {
		return err
	}
	for _, a := range found {
		named := &proto.PeopleNamed{Called: tx.PeopleNamed([]byte(a.client.email))}
		if err := tx.Emit(ctx, a.change(proto.KindAppointmentUpdated, named)); err != nil {
			return err
		}
	}
	return nil
}

// must returns nil when the status is one of allowed, else svc_invalid_status with the current status.
func (a record) must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}
