package task

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/timeline"
)

// input is the part of a request that describes a task beside its title. What is left out stays as it is.
type input struct {
	Body         opt.Value[string]    `json:"body,omitzero" nullable:"true" maxLength:"2000" doc:"More about it, in plain text."`
	DueOn        opt.Value[string]    `json:"due_on,omitzero" nullable:"true" format:"date" doc:"The local day by which it is to be done."`
	OwnerUserID  opt.Value[int64]     `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member. Who sees only their own records becomes it when a new task names nobody."`
	Contact      opt.Value[uuid.UUID] `json:"contact,omitzero" nullable:"true" doc:"Id of the contact that it is about."`
	Organization opt.Value[uuid.UUID] `json:"organization,omitzero" nullable:"true" doc:"Id of the organization that it is about."`
	Appointment  opt.Value[uuid.UUID] `json:"appointment,omitzero" nullable:"true" doc:"Id of an appointment of the contact. Without a contact the task is about its client."`
}

type newTask struct {
	Title string `json:"title" required:"true" maxLength:"190" doc:"What is to do, on one line."`
	input
}

type taskChange struct {
	ID    uuid.UUID         `json:"id"`
	Title opt.Value[string] `json:"title,omitzero" maxLength:"190" doc:"What is to do, on one line."`
	input
}

// row is a task as it is stored.
type row struct {
	ID                                       uuid.UUID
	Version                                  int64
	Title, Body                              string
	DueOn                                    *string
	OwnerUserID                              *int64
	ContactID, OrganizationID, AppointmentID *uuid.UUID
	Done                                     bool
}

// deed is what a timeline says that was done with a task: a word that screens translate, and the subject of the entry.
type deed struct{ event, subject string }

var (
	added    = deed{"added", "Task added"}
	changed  = deed{"changed", "Task changed"}
	ticked   = deed{"done", "Task done"}
	reopened = deed{"reopened", "Task opened again"}
	deleted  = deed{"deleted", "Task deleted"}
)

// createTask makes a task.
func (r *Room) createTask(ctx context.Context, tx *db.Tx, in newTask) (Task, error) {
	t := row{ID: db.NewID(), Title: person.Name(in.Title)}
	if tx.Who.Own && !in.OwnerUserID.Given() {
		in.OwnerUserID = opt.Of(tx.Who.UserID)
	}
	if err := r.take(&t, in.input); err != nil {
		return Task{}, err
	}
	if err := about(ctx, tx, &t, in.input); err != nil {
		return Task{}, err
	}
	if _, err := tx.Exec(ctx, `
		insert into task (id, version, title, body, due_on, owner_user_id, contact_id, organization_id, appointment_id, assigned_by, assigned_at, created_at, updated_at)
		values (@id, 1, @title, @body, @due, @owner, @contact, @organization, @appointment, nullif(@who::bigint, 0), case when @owner::bigint is not null then clock_timestamp() end,
			@now, @now)`, t.args(tx)); err != nil {
		return Task{}, err
	}
	if err := r.tell(ctx, tx, t, nil); err != nil {
		return Task{}, err
	}
	return finish(ctx, tx, t, proto.KindTaskCreated, added, nil)
}

func (t row) args(tx *db.Tx) db.Args {
	return db.Args{"id": t.ID, "title": t.Title, "body": t.Body, "due": t.DueOn, "owner": t.OwnerUserID, "contact": t.ContactID, "organization": t.OrganizationID,
		"appointment": t.AppointmentID, "who": tx.Who.UserID, "now": tx.Now}
}

// take gives t the values of a request that name no record.
func (r *Room) take(t *row, in input) error {
	problems := fault.Problems{}
	if t.Title == "" {
		problems.Add("title", fault.Empty())
	}
	if in.Body.Set {
		t.Body = strings.TrimSpace(in.Body.V)
	}
	in.DueOn.ApplyPtr(&t.DueOn)
	if in.OwnerUserID.ApplyPtr(&t.OwnerUserID); in.OwnerUserID.Given() && !r.Identity.OnTeam(in.OwnerUserID.V) {
		problems.Add("owner_user_id", fault.NewProblem("not_on_team", "must be a member of the team"))
	}
	return problems.Err()
}

// about gives t the records that a request names, which the actor may see and which are not in the trash, and locks those. An appointment without a
// contact brings its client.
func about(ctx context.Context, tx *db.Tx, t *row, in input) error {
	in.Appointment.ApplyPtr(&t.AppointmentID)
	in.Contact.ApplyPtr(&t.ContactID)
	in.Organization.ApplyPtr(&t.OrganizationID)
	if t.AppointmentID != nil && (in.Appointment.Set || in.Contact.Set) {
		client, err := clientOf(ctx, tx, *t.AppointmentID)
		if err != nil {
			return err
		}
		if t.ContactID == nil && !in.Contact.Set {
			t.ContactID = client
		}
		if client == nil || !same(t.ContactID, client) {
			return fault.Invalid("appointment", fault.NewProblem("other_contact", "must be an appointment of the contact"))
		}
	}
	if t.ContactID != nil && (in.Contact.Set || in.Appointment.Given()) {
		if _, err := contact.LockLive(ctx, tx, *t.ContactID); err != nil {
			return err
		}
	}
	if !in.Organization.Given() {
		return nil
	}
	_, err := organization.LockLive(ctx, tx, in.Organization.V)
	return err
}

// clientOf is the contact of an appointment that the actor may see, nil where it has none; 404 svc_not_found otherwise.
func clientOf(ctx context.Context, tx *db.Tx, id uuid.UUID) (client *uuid.UUID, err error) {
	err = tx.QueryRow(ctx, `select contact_id from appointment where id = $1 and ($2::bigint = 0 or staff_id = $2)`, id, tx.Who.OwnUser()).Scan(&client)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.NotFound("appointment")
	}
	return client, err
}

// lock locks a task that the actor may see, behind the contacts and organizations that a change of it touches; 404 svc_not_found otherwise.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID, in input) (row, error) {
	seen, err := read(ctx, tx, id, "")
	if err != nil {
		return row{}, err
	}
	var client *uuid.UUID
	if in.Appointment.Given() {
		if client, err = clientOf(ctx, tx, in.Appointment.V); err != nil {
			return row{}, err
		}
	}
	b := &pgx.Batch{}
	b.Queue(`select from contact where id in ($1, $2, $3) order by id for no key update`, seen.ContactID, in.Contact.V, client)
	b.Queue(`select from organization where id in ($1, $2) order by id for no key update`, seen.OrganizationID, in.Organization.V)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return row{}, err
	}
	locked, err := read(ctx, tx, id, " for update of t")
	if err == nil && (!same(locked.ContactID, seen.ContactID) || !same(locked.OrganizationID, seen.OrganizationID)) {
		// A merge has moved it meanwhile. Locks taken now would be out of order, and there is nothing to wait for.
		return row{}, db.RunAgainAfter(context.Context.Err)
	}
	return locked, err
}

func same(a, b *uuid.UUID) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func read(ctx context.Context, tx *db.Tx, id uuid.UUID, locked string) (row, error) {
	var w db.Where
	w.And("t.id = ?", id)
	onlyOwn(tx, &w)
	return db.Find[row](ctx, tx, fault.NotFound("task"), `select t.id, t.version, t.title, t.body, to_char(t.due_on, 'YYYY-MM-DD') as due_on, t.owner_user_id, t.contact_id, t.organization_id, t.appointment_id,
		t.done_at is not null as done from task t left join contact c on c.id = t.contact_id where `+w.String()+locked, w.Args...)
}

// updateTask changes a task.
func (r *Room) updateTask(ctx context.Context, tx *db.Tx, in taskChange) (Task, error) {
	old, err := lock(ctx, tx, in.ID, in.input)
	if err != nil {
		return Task{}, err
	}
	if err := tx.Match(old.Version); err != nil {
		return Task{}, err
	}
	before, err := all(ctx, tx, `t.id = $1`, old.ID)
	if err != nil {
		return Task{}, err
	}
	t := old
	if in.Title.Set {
		t.Title = person.Name(in.Title.V)
	}
	if err := r.take(&t, in.input); err != nil {
		return Task{}, err
	}
	if err := about(ctx, tx, &t, in.input); err != nil {
		return Task{}, err
	}
	if _, err := tx.Exec(ctx, `
		update task set version = version + 1, title = @title, body = @body, due_on = @due, owner_user_id = @owner, contact_id = @contact, organization_id = @organization,
			appointment_id = @appointment, updated_at = @now, assigned_by = case when owner_user_id is distinct from @owner then nullif(@who::bigint, 0) else assigned_by end,
			assigned_at = case when owner_user_id is distinct from @owner then clock_timestamp() else assigned_at end
		where id = @id and (title, body, due_on, owner_user_id, contact_id, organization_id, appointment_id)
			is distinct from (@title, @body, @due::date, @owner::bigint, @contact::uuid, @organization::uuid, @appointment::uuid)`, t.args(tx)); err != nil {
		return Task{}, err
	}
	after, err := all(ctx, tx, `t.id = $1`, t.ID)
	if err != nil {
		return Task{}, err
	}
	if after[0].Version == old.Version {
		return byID(ctx, tx, t.ID)
	}
	diff, err := change.Between(before[0], after[0])
	if err != nil {
		return Task{}, err
	}
	tx.Changed(diff)
	if err := r.tell(ctx, tx, t, old.OwnerUserID); err != nil {
		return Task{}, err
	}
	return finish(ctx, tx, t, proto.KindTaskUpdated, changed, diff)
}

// finish publishes a task that changed, writes the timeline of what it is about, and gives it as the actor sees it. A task that the actor has given away
// is shown once more.
func finish(ctx context.Context, tx *db.Tx, t row, kind string, did deed, diff change.Set) (Task, error) {
	if err := emit(ctx, tx, kind, diff.Names(), t.ID); err != nil {
		return Task{}, err
	}
	if err := t.log(ctx, tx, did, diff); err != nil {
		return Task{}, err
	}
	var w db.Where
	selected := from(tx.Who.OwnUser(), &w)
	w.And("t.id = ?", t.ID)
	return db.One[Task](ctx, tx, selected+` where `+w.String(), w.Args...)
}

// tell tells the owner of a stored task whom it did not have before, if somebody else gave it. Whom it is about is named to who may see them.
func (r *Room) tell(ctx context.Context, tx *db.Tx, t row, had *int64) error {
	owner := t.OwnerUserID
	if owner == nil || had != nil && *had == *owner || tx.Who.UserID == 0 || *owner == tx.Who.UserID || t.Done {
		return nil
	}
	given := &proto.Notice_Task{Id: t.ID.String(), Title: t.Title}
	if t.DueOn != nil {
		given.DueOn = *t.DueOn
	}
	if t.ContactID != nil {
		c, err := contact.Read(ctx, tx, *t.ContactID)
		if err != nil {
			return err
		}
		given.Contact = &proto.Notice_Contact{Id: c.ID.String()}
		if !r.Identity.Own(*owner) || c.OwnerUserID != nil && *c.OwnerUserID == *owner {
			given.Contact.Name = person.DisplayName(c.FirstName, c.LastName, c.Email, c.Phone)
		}
	}
	return tx.Tell(ctx, "task/"+t.ID.String(), &proto.Notice{By: tx.Who.Label, Task: given, To: []*proto.Notice_Addressee{{UserId: *owner, Kind: "team_assigned", How: "task"}}})
}

// log writes what happened to t into the timeline of its contact and its organization, which are locked.
func (t row) log(ctx context.Context, tx *db.Tx, did deed, diff change.Set) error {
	if t.ContactID == nil && t.OrganizationID == nil {
		return nil
	}
	data := map[string]any{"event": did.event, "task": map[string]any{"id": t.ID, "title": t.Title}}
	if did == changed {
		data["changes"] = diff
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Contact: t.ContactID, Organization: t.OrganizationID, Kind: timeline.Task, Subject: did.subject + ": " + t.Title, Data: data}); err != nil {
		return err
	}
	if t.ContactID != nil {
		if err := contact.Touch(ctx, tx, *t.ContactID); err != nil {
			return err
		}
	}
	if t.OrganizationID != nil {
		return organization.Touch(ctx, tx, *t.OrganizationID)
	}
	return nil
}

// deleteTask deletes a task for good.
func (r *Room) deleteTask(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	t, err := lock(ctx, tx, in.ID, input{})
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(t.Version); err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `update task set version = version + 1 where id = $1`, t.ID); err != nil {
		return op.None{}, err
	}
	if err := emit(ctx, tx, proto.KindTaskDeleted, nil, t.ID); err != nil {
		return op.None{}, err
	}
	tx.Tombstone(proto.TaskTopic, t.ID.String())
	if _, err := tx.Exec(ctx, `delete from task where id = $1`, t.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, t.log(ctx, tx, deleted, nil)
}

// completeTask ticks a task off.
func (r *Room) completeTask(ctx context.Context, tx *db.Tx, in op.ByID) (Task, error) {
	return end(ctx, tx, in.ID, true)
}

// reopenTask opens a task again that was done.
func (r *Room) reopenTask(ctx context.Context, tx *db.Tx, in op.ByID) (Task, error) {
	return end(ctx, tx, in.ID, false)
}

func end(ctx context.Context, tx *db.Tx, id uuid.UUID, done bool) (Task, error) {
	t, err := lock(ctx, tx, id, input{})
	if err != nil {
		return Task{}, err
	}
	if t.Done == done {
		return byID(ctx, tx, id)
	}
	if _, err := tx.Exec(ctx, `update task set version = version + 1, done_at = case when $2 then $3::timestamptz end, updated_at = $3 where id = $1`, id, done, tx.Now); err != nil {
		return Task{}, err
	}
	if done {
		return finish(ctx, tx, t, proto.KindTaskDone, ticked, nil)
	}
	return finish(ctx, tx, t, proto.KindTaskUpdated, reopened, change.Set{"done_at": {}})
}
