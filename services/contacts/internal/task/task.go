package task

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/timeline"
)

// Task is something to do, as REST and events show it. Events leave the body out.
type Task struct {
	ID           uuid.UUID                      `json:"id" doc:"The id of the record."`
	Title        string                         `json:"title" doc:"What is to do, on one line."`
	Body         *string                        `json:"body,omitempty" doc:"More about it, in plain text. Events leave it out."`
	DueOn        *string                        `json:"due_on" format:"date" nullable:"true" doc:"The local day by which it is to be done; null for no day."`
	OwnerUserID  *int64                         `json:"owner_user_id" nullable:"true" doc:"The user id of the person who has to do it; null for nobody yet."`
	Contact      opt.Value[timeline.ContactRef] `json:"contact" doc:"The person whom it is about; null for none, and for one that the caller may not see."`
	Organization opt.Value[taskOrganization]    `json:"organization" doc:"The organization that it is about; null for none."`
	Appointment  opt.Value[taskAppointment]     `json:"appointment" doc:"The appointment that it is about; null for none, and for one that the caller may not see."`
	DoneAt       *time.Time                     `json:"done_at" nullable:"true" doc:"When it was done; null while it is open."`
	CreatedAt    time.Time                      `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time                      `json:"updated_at" doc:"When it last changed."`

	Version int64 `json:"-"`
	Place   int64 `json:"-"` // in lists, see the column
}

// RecordVersion is the answer's ETag.
func (t Task) RecordVersion() int64 { return t.Version }

// taskOrganization names an organization.
type taskOrganization struct {
	ID   uuid.UUID `json:"id" doc:"The id of the organization."`
	Name string    `json:"name" doc:"The name of the organization."`
}

// taskAppointment names an appointment.
type taskAppointment struct {
	ID       uuid.UUID `json:"id" doc:"The id of the appointment."`
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
}

// from joins what a task is about, as far as own, a user who sees only their own records, may see it; 0 sees all. Rows of selected are read with
// pgx.RowToStructByName[Task].
func from(own int64, w *db.Where) (selected string) {
	client, visit := "", ""
	if own != 0 {
		client, visit = w.Bind(" and c.owner_user_id = ?", own), w.Bind(" and a.staff_id = ?", own)
	}
	return `select t.id, t.version, t.title, t.body, to_char(t.due_on, 'YYYY-MM-DD') as due_on, t.owner_user_id, t.done_at, t.created_at, t.updated_at, t.place,
		case when c.id is not null` + client + ` then jsonb_build_object('id', c.id, 'name', coalesce(nullif(btrim(c.first_name || ' ' || c.last_name), ''), nullif(c.email, ''), c.phone))
			else 'null' end as contact,
		case when o.id is not null then jsonb_build_object('id', o.id, 'name', o.name) else 'null' end as organization,
		case when a.id is not null` + visit + ` then jsonb_build_object('id', a.id, 'starts_at', to_char(a.starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
			else 'null' end as appointment` + linked
}

const linked = ` from task t left join contact c on c.id = t.contact_id left join organization o on o.id = t.organization_id left join appointment a on a.id = t.appointment_id`

// onlyOwn narrows the tasks to those that the actor may see.
func onlyOwn(tx *db.Tx, w *db.Where) {
	if tx.Who.Own {
		w.And("(t.owner_user_id = ? or c.owner_user_id = ?)", tx.Who.UserID, tx.Who.UserID)
	}
}

// byID reads a task that the actor may see; 404 svc_not_found otherwise.
func byID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Task, error) {
	var w db.Where
	selected := from(tx.Who.OwnUser(), &w)
	w.And("t.id = ?", id)
	onlyOwn(tx, &w)
	return db.Find[Task](ctx, tx, fault.NotFound("task"), selected+` where `+w.String(), w.Args...)
}

// getTask reads a task.
func (r *Room) getTask(ctx context.Context, tx *db.Tx, in op.ByID) (Task, error) {
	return byID(ctx, tx, in.ID)
}

// Of gives the tasks about a contact, whoever asks.
func Of(ctx context.Context, tx *db.Tx, contact uuid.UUID) ([]Task, error) {
	return all(ctx, tx, `t.contact_id = $1 order by t.created_at, t.id`, contact)
}

// all reads tasks as they are, whoever asks.
func all(ctx context.Context, tx *db.Tx, where string, args ...any) ([]Task, error) {
	return db.Rows[Task](ctx, tx, from(0, &db.Where{})+` where `+where, args...)
}

// emit publishes tasks as they are now, whoever acts, without their bodies.
func emit(ctx context.Context, tx *db.Tx, kind string, changed []string, ids ...uuid.UUID) error {
	tasks, err := all(ctx, tx, `t.id = any($1) order by t.id`, ids)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		t.Body = nil
		if err := tx.Emit(ctx, db.Event{Topic: proto.TaskTopic, Kind: kind, Key: t.ID.String(), Version: t.Version, Changed: changed, Data: t}); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes task.updated for tasks as they are now.
func publish(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	return emit(ctx, tx, proto.KindTaskUpdated, nil, ids...)
}
