package appointments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
)

// Record is an appointment: its row, with what it shows of its staff member and its contact. All others are views of it, see view.go.
type Record struct {
	ID, ServiceID, ContactID uuid.UUID
	SubmissionID             *uuid.UUID // the answers to the form of the service
	Status                   string
	Terms                    services.Terms // of the service, when it was booked
	UserID                   int64
	StaffName, StaffLink     string // as clients see the name, and the fixed meeting link
	clients.Client
	BookedFor        string // the name of somebody else for whom it was booked
	StartsAt, EndsAt time.Time
	Place
	Notes, Source, CancelReason string
	CreatedAt, UpdatedAt        time.Time
	StatusAt                    time.Time // when the status last changed
	// TimedAt is when the time was last set or became certain. A reminder that was due before then is not sent.
	TimedAt    time.Time
	RemindedAt *time.Time
	Language   string // of the client's mails; empty for that of the business's country
	Sequence   int    // of the calendar file: counts the changes that the client's calendar shows
	Version    int64
}

const selectAppointments = `select a.id, a.status, a.service_id, a.terms,
	a.user_id, s.name as staff_name, s.meeting_url as staff_link, a.contact_id,
	coalesce(c.first_name, '') as first_name, coalesce(c.last_name, '') as last_name, coalesce(c.email, '') as email, coalesce(c.phone, '') as phone, a.booked_for,
	a.starts_at, a.ends_at, a.location_type, a.location, a.meeting_url, a.notes, a.source, a.submission_id, a.cancel_reason,
	a.created_at, a.updated_at, coalesce(a.status_at, a.updated_at) as status_at, a.timed_at, a.reminded_at, a.language, a.sequence, a.version
	from appointment a join staff s using (user_id) left join contact c on c.id = a.contact_id `

// Query reads the appointments that the rest of a statement behind selectAppointments chooses.
func (r *Room) Query(ctx context.Context, tx *db.Tx, where string, args ...any) ([]Record, error) {
	rows, err := tx.Query(ctx, selectAppointments+where, args...)
	if err != nil {
		return nil, fmt.Errorf("query appointments: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Record])
	if err != nil {
		return nil, fmt.Errorf("read appointments: %w", err)
	}
	for i, a := range all {
		all[i].StaffName = r.staff.Ref(a.UserID, a.StaffName).Name
	}
	return all, nil
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

// UIDSuffix stands behind the id of an appointment in its UID.
const UIDSuffix = "@frontdesk"

// UID is the appointment's in calendars.
func (a Record) UID() string { return UIDOf(a.ID) }

// UIDOf is the UID of the appointment with an id.
func UIDOf(id uuid.UUID) string { return id.String() + UIDSuffix }
