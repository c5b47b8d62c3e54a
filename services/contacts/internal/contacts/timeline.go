package contacts

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
)

// Types of timeline entries.
const (
	entryCreated     = "created"
	entryUpdated     = "updated"
	entryDeleted     = "deleted"
	entryRestored    = "restored"
	entryMerged      = "merged"
	entryNote        = "note"
	entryLinked      = "linked"
	entryUnlinked    = "unlinked"
	entryAppointment = "appointment"
	entrySubmission  = "submission"
	entryMarketing   = "marketing"
)

// Entry is one entry of a timeline.
type Entry struct {
	Type       string                `json:"type" doc:"What happened: created, updated, merged, linked, unlinked, appointment, submission, marketing, deleted, restored or note."`
	Subject    string                `json:"subject" doc:"What happened, in a few words."`
	Body       string                `json:"body" doc:"The text of a note; empty for others."`
	Data       map[string]any        `json:"data" doc:"Of a change {field: {old, new}}, else what the entry is about."`
	Channel    string                `json:"channel" doc:"How it came: app, portal, api, ability, form, booking, import, email or system."`
	ActorLabel string                `json:"actor_label" doc:"Who did it, in words."`
	UserID     *int64                `json:"user_id" doc:"The user id of who did it; null for nobody of the team."`
	Contact    opt.Value[ContactRef] `json:"contact" db:"-" doc:"The person whom it is about, in the timeline of an organization."`
	CreatedAt  time.Time             `json:"created_at" doc:"When it happened."`

	ID uuid.UUID `json:"-"`
}

// entry is what is written to a timeline.
type entry struct {
	contact, organization, ref *uuid.UUID
	kind, subject, body        string
	data                       any
	// event is what another service published, which makes one entry however often it arrives; nil for what happened here.
	event *bus.Event
}

// log writes an entry in the name of the actor, and gives its id. The record's last_activity is the caller's to set:
// most update the row anyway.
func log(ctx context.Context, tx *db.Tx, e entry) (uuid.UUID, error) {
	row := e.row(tx)
	_, err := tx.Exec(ctx, insertEntry, row)
	return row["id"].(uuid.UUID), err
}

// deferLog is log in the round trip of the commit.
func deferLog(tx *db.Tx, e entry) { tx.Defer(insertEntry, e.row(tx)) }

const insertEntry = `
	insert into activity (id, contact_id, organization_id, type, subject, body, data, channel, actor_label, user_id, ref, created_at)
	values (@id, @contact, @organization, @type, @subject, @body, @data, @channel, @actor, nullif(@user::bigint, 0), @ref, @at)`

func (e entry) row(tx *db.Tx) pgx.NamedArgs {
	if e.data == nil {
		e.data = struct{}{}
	}
	id, at := db.NewID(), tx.Now
	if e.event != nil {
		id, at = e.event.ID, e.event.At.Truncate(time.Second)
	}
	return pgx.NamedArgs{"id": id, "contact": e.contact, "organization": e.organization, "type": e.kind, "subject": e.subject, "body": e.body,
		"data": e.data, "channel": tx.Who.Channel, "actor": tx.Who.Label, "user": tx.Who.UserID, "ref": e.ref, "at": at}
}

// logEvent is log for an event of another service: the entry has the event's id and time, so that it is written once, and the
// last_activity of the contact moves up to that time. State makes no entry, because nothing happened.
func logEvent(ctx context.Context, tx *db.Tx, contact uuid.UUID, event bus.Event, e entry) error {
	if event.State {
		return nil
	}
	e.contact, e.event = &contact, &event
	row := e.row(tx)
	b := &pgx.Batch{}
	b.Queue(insertEntry+` on conflict (id) do nothing`, row)
	b.Queue(moveActivity, contact, row["at"])
	return tx.SendBatch(ctx, b).Close()
}

const moveActivity = `update contact set last_activity = $2 where id = $1 and (last_activity is null or last_activity < $2)`

// touch moves the last_activity of a contact up to now.
func touch(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, moveActivity, contact, tx.Now)
	return err
}

// entryColumns are read by scanEntry, of activity a and the contact c that an entry is about, if any.
const entryColumns = `a.id, a.type, a.subject, a.body, a.data, a.channel, a.actor_label, a.user_id, a.created_at,
	c.id as contact_id, c.first_name, c.last_name, c.email, c.phone`

func scanEntry(row pgx.CollectableRow) (Entry, error) {
	r, err := pgx.RowToStructByName[entryRow](row)
	if r.ContactID != nil {
		r.Contact = opt.Of(ContactRef{*r.ContactID, displayName(*r.FirstName, *r.LastName, *r.Email, *r.Phone)})
	}
	return r.Entry, err
}

type entryRow struct {
	Entry
	ContactID                         *uuid.UUID
	FirstName, LastName, Email, Phone *string
}

func entryKey(e Entry) (time.Time, uuid.UUID) { return e.CreatedAt, e.ID }

// TimelineQuery asks for a page of a record's timeline.
type TimelineQuery struct {
	ID uuid.UUID `json:"id"`
	db.Page
}

// contactTimeline lists what happened to a contact, newest first.
func (s *service) contactTimeline(ctx context.Context, tx *db.Tx, in TimelineQuery) (db.List[Entry], error) {
	page, err := tx.Page(in.Page, "contact timeline", in)
	if err != nil {
		return db.List[Entry]{}, err
	}
	if _, err := contactByID(ctx, tx, in.ID); err != nil {
		return db.List[Entry]{}, err
	}
	var w db.Where
	w.And("a.contact_id = ?", in.ID)
	if page.First {
		if err := tx.QueryRow(ctx, `select count(*) from activity a where `+w.String(), w.Args...).Scan(&page.Total); err != nil {
			return db.List[Entry]{}, err
		}
	}
	w.After(page, "a")
	rows, err := tx.Query(ctx, `select `+entryColumns+` from activity a left join contact c on c.id = a.contact_id
		where `+w.String()+db.LimitTo(` order by a.created_at desc, a.id desc`, page.Limit), w.Args...)
	if err != nil {
		return db.List[Entry]{}, err
	}
	entries, err := pgx.CollectRows(rows, scanEntry)
	return db.Close(page, entries, entryKey), err
}

// NewNote is a note for a timeline.
type NewNote struct {
	ID   uuid.UUID `json:"id"`
	Body string    `json:"body" required:"true" maxLength:"65535" doc:"Plain text."`
}

// addNote writes a note into a contact's timeline.
func (s *service) addNote(ctx context.Context, tx *db.Tx, in NewNote) (Entry, error) {
	if strings.TrimSpace(in.Body) == "" {
		return Entry{}, fault.Invalid("body", fault.Empty())
	}
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return Entry{}, err
	}
	id, err := log(ctx, tx, entry{contact: &c.ID, kind: entryNote, body: in.Body})
	if err != nil {
		return Entry{}, err
	}
	if err := touch(ctx, tx, c.ID); err != nil {
		return Entry{}, err
	}
	rows, err := tx.Query(ctx, `select `+entryColumns+` from activity a join contact c on c.id = a.contact_id where a.id = $1`, id)
	if err != nil {
		return Entry{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanEntry)
}
