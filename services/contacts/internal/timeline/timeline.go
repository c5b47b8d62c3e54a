package timeline

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
)

// Types of timeline entries.
const (
	Created     = "created"
	Updated     = "updated"
	Deleted     = "deleted"
	Restored    = "restored"
	Merged      = "merged"
	Linked      = "linked"
	Unlinked    = "unlinked"
	Appointment = "appointment"
	Submission  = "submission"
	Marketing   = "marketing"
	Task        = "task"
	Mail        = "mail"

	note = "note"
)

// byType are the types of entries that a timeline is narrowed down to by one word.
var byType = map[string][]string{"note": {note}, "change": {Created, Updated, Merged, Deleted, Restored}, "booking": {Appointment}, "submission": {Submission},
	"link": {Linked, Unlinked}, "task": {Task}, "consent": {Marketing}, "mail": {Mail}}

// Entry is one entry of a timeline.
type Entry struct {
	ID         uuid.UUID             `json:"id" doc:"The id of the entry: a note is changed and deleted by it."`
	Type       string                `json:"type" doc:"What happened: created, updated, merged, linked, unlinked, appointment, submission, marketing, task, mail, deleted, restored or note."`
	Subject    string                `json:"subject" doc:"What happened, in a few words."`
	Body       string                `json:"body" doc:"The text of a note or of a mail; empty for others."`
	Data       map[string]any        `json:"data" doc:"Of a change {field: {old, new}}, else what the entry is about."`
	Channel    string                `json:"channel" doc:"How it came: app, portal, api, ability, form, booking, import, email or system."`
	ActorLabel string                `json:"actor_label" doc:"Who did it, in words."`
	UserID     *int64                `json:"user_id" doc:"The user id of who did it; null for nobody of the team."`
	Contact    opt.Value[ContactRef] `json:"contact" db:"-" doc:"The person whom it is about, in the timeline of an organization."`
	Pinned     bool                  `json:"pinned" doc:"A note that stands before all other entries."`
	CreatedAt  time.Time             `json:"created_at" doc:"When it happened."`
	EditedAt   *time.Time            `json:"edited_at" nullable:"true" doc:"When the text of the note last changed; null for never."`

	Version int64 `json:"version" doc:"The ETag that changes of a note take in If-Match."`
}

// RecordVersion is the answer's ETag.
func (e Entry) RecordVersion() int64 { return e.Version }

// NewEntry is what is written to a timeline.
type NewEntry struct {
	Contact, Organization, Ref *uuid.UUID
	Kind, Subject, Body        string
	Data                       any
	// Event is what another service published, which makes one entry however often it arrives; nil for what happened here.
	Event *bus.Event
}

// Log writes an entry in the name of the actor, and gives its id. The record's last_activity is the caller's to set:
// most update the row anyway.
func Log(ctx context.Context, tx *db.Tx, e NewEntry) (uuid.UUID, error) {
	row := e.row(tx)
	_, err := tx.Exec(ctx, insertEntry, row)
	return row["id"].(uuid.UUID), err
}

// Defer is log in the round trip of the commit.
func Defer(tx *db.Tx, e NewEntry) { tx.Defer(insertEntry, e.row(tx)) }

const insertEntry = `
	insert into activity (id, contact_id, organization_id, type, subject, body, data, channel, actor_label, user_id, ref, created_at)
	values (@id, @contact, @organization, @type, @subject, @body, @data, @channel, @actor, nullif(@user::bigint, 0), @ref, @at)`

func (e NewEntry) row(tx *db.Tx) db.Args {
	if e.Data == nil {
		e.Data = struct{}{}
	}
	id, at := db.NewID(), tx.Now
	if e.Event != nil {
		id, at = e.Event.ID, e.Event.At.Truncate(time.Second)
	}
	return db.Args{"id": id, "contact": e.Contact, "organization": e.Organization, "type": e.Kind, "subject": e.Subject, "body": e.Body,
		"data": e.Data, "channel": tx.Who.Channel, "actor": tx.Who.Label, "user": tx.Who.UserID, "ref": e.Ref, "at": at}
}

// QueueOnce queues the entry of an event unless it is there, and returns its time.
func (e NewEntry) QueueOnce(tx *db.Tx, b *pgx.Batch) time.Time {
	row := e.row(tx)
	b.Queue(insertEntry+` on conflict (id) do nothing`, row)
	return row["at"].(time.Time)
}

// Copy writes entries of contacts in one go. Each entry is sent behind a call of before with its index, while the server stores the
// entries before it.
func Copy(ctx context.Context, tx *db.Tx, entries []NewEntry, before func(i int) error) error {
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"activity"},
		[]string{"id", "contact_id", "organization_id", "type", "subject", "data", "channel", "actor_label", "user_id", "created_at"},
		pgx.CopyFromSlice(len(entries), func(i int) ([]any, error) {
			// A panic here would be one of the driver's goroutine.
			if err := Recovered(func() error { return before(i) }); err != nil {
				return nil, err
			}
			e := entries[i]
			if e.Data == nil {
				e.Data = struct{}{}
			}
			return []any{db.NewID(), *e.Contact, e.Organization, e.Kind, e.Subject, e.Data, tx.Who.Channel, tx.Who.Label, userID(tx.Who), tx.Now}, nil
		}))
	return err
}

// QueueMoveContact queues that the entries of one contact become those of another.
func QueueMoveContact(b *pgx.Batch, from, to uuid.UUID) {
	b.Queue(`update activity set contact_id = $2 where contact_id = $1`, from, to)
}

// QueueMoveOrganization is QueueMoveContact for organizations.
func QueueMoveOrganization(b *pgx.Batch, from, to uuid.UUID) {
	b.Queue(`update activity set organization_id = $2 where organization_id = $1`, from, to)
}

// DropRef deletes the entries about an appointment or a submission.
func DropRef(ctx context.Context, tx *db.Tx, ref uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from activity where ref = $1`, ref)
	return err
}

// Erase deletes the timeline of a contact.
func Erase(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, `delete from activity where contact_id = $1`, contact)
	return err
}

// Columns are read by Scan, of activity a and the contact c that an entry is about, if any.
const Columns = `a.id, a.type, a.subject, a.body, a.data, a.channel, a.actor_label, a.user_id, a.created_at, a.edited_at, a.version,
	c.id as contact_id, c.first_name, c.last_name, c.email, c.phone, `

// Pinned and Unpinned end Columns: as it is, and as nothing is pinned where the entry stands among those of another record.
const (
	Pinned   = `a.pinned`
	Unpinned = `false as pinned`
)

// Scan reads a row of Columns.
func Scan(row pgx.CollectableRow) (Entry, error) {
	r, err := pgx.RowToStructByName[entryRow](row)
	if r.ContactID != nil {
		r.Contact = opt.Of(ContactRef{*r.ContactID, person.DisplayName(*r.FirstName, *r.LastName, *r.Email, *r.Phone)})
	}
	return r.Entry, err
}

type entryRow struct {
	Entry
	ContactID                         *uuid.UUID
	FirstName, LastName, Email, Phone *string
}

// ahead is how many years the place of a pinned entry is ahead of its time, by which it stands before all others. After so many years the calendar is
// the same again.
const ahead = 4000

// Key is the place of an entry in a list: pinned ones first, then the newest.
func Key(e Entry) (time.Time, uuid.UUID) {
	if e.Pinned {
		return e.CreatedAt.AddDate(ahead, 0, 0), e.ID
	}
	return e.CreatedAt, e.ID
}

// Behind is the condition for those entries a, of which either all or none is pinned, that stand behind the page before.
func Behind(page *db.Cursor, w *db.Where, pinned bool) string {
	switch among := page.At.Year() >= ahead; {
	case page.First, among && !pinned:
		return ""
	case among:
		return w.Bind(" and (a.created_at, a.id) < (?, ?)", page.At.AddDate(-ahead, 0, 0), page.ID)
	case pinned:
		return " and false"
	}
	return w.Bind(" and (a.created_at, a.id) < (?, ?)", page.At, page.ID)
}

// TimelineQuery asks for a page of a record's timeline.
type TimelineQuery struct {
	ID          uuid.UUID `json:"id"`
	Type        []string  `json:"type,omitempty" maxItems:"20" enum:"note,change,booking,submission,link,task,consent,mail" doc:"Only entries of these kinds, such as type=note&type=task."`
	Appointment uuid.UUID `json:"appointment,omitzero" doc:"Only entries about this appointment."`
	db.Page
}

// Narrowed is the condition for those entries a that q asks for.
func (q TimelineQuery) Narrowed(w *db.Where) (condition string) {
	if q.Appointment != uuid.Nil {
		condition = w.Bind(" and a.ref = ?", q.Appointment)
	}
	if len(q.Type) == 0 {
		return condition
	}
	var types []string
	for _, name := range q.Type {
		types = append(types, byType[name]...)
	}
	return condition + w.Bind(" and a.type = any(?)", types)
}

// ContactRef names a contact.
type ContactRef struct {
	ID   uuid.UUID `json:"id" doc:"The id of the contact."`
	Name string    `json:"name" doc:"First and last name."`
}

func userID(a db.Actor) *int64 {
	if a.UserID == 0 {
		return nil
	}
	return &a.UserID
}

// Recovered gives a panic of f as an error, so that one record does not stop the process.
func Recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// Strike takes the addresses out of the timelines of contacts that had one of them before, and the names of
// visitors out of what they did to organizations.
func Strike(ctx context.Context, tx *db.Tx, p *erasure.Person, addresses, visitors []string) error {
	rows, err := tx.Query(ctx, `select id, subject, body, actor_label, data from activity
		where contact_id in (select contact_id from former_address where email_key = any($1)) order by id for update`, addresses)
	if err != nil {
		return err
	}
	update := &pgx.Batch{}
	var id uuid.UUID
	var subject, body, label string
	var data []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &subject, &body, &label, &data}, func() error {
		subject, inSubject := p.StrikeFrom(subject)
		body, inBody := p.StrikeFrom(body)
		label, inLabel := p.StrikeFrom(label)
		left, inData := p.StrikeFromJSON(data)
		if inSubject || inBody || inLabel || inData {
			update.Queue(`update activity set subject = $2, body = $3, actor_label = $4, data = $5::jsonb where id = $1`, id, subject, body, label, string(left))
		}
		return nil
	}); err != nil {
		return err
	}
	labels := make([]string, len(visitors))
	for i, label := range visitors {
		labels[i] = strings.ToLower(label)
	}
	update.Queue(`update activity set actor_label = '' where organization_id is not null and user_id is null and actor_label <> '' and lower(actor_label) = any($1)`, labels)
	return tx.SendBatch(ctx, update).Close()
}
