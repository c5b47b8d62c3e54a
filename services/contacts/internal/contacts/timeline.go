package contacts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
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
	Type       string                `json:"type"`
	Subject    string                `json:"subject"`
	Body       string                `json:"body"`
	Data       map[string]any        `json:"data" doc:"Of a change {field: {old, new}}, else what the entry is about."`
	Channel    string                `json:"channel"`
	ActorLabel string                `json:"actor_label"`
	UserID     *int64                `json:"user_id"`
	Contact    opt.Value[ContactRef] `json:"contact"`
	CreatedAt  time.Time             `json:"created_at"`

	id uuid.UUID
}

// entry is what is written to a timeline.
type entry struct {
	contact, organization, ref *uuid.UUID
	kind, subject, body        string
	data                       any
}

// log writes an entry in the name of the actor. The record's last_activity is the caller's to set: most
// update the row anyway.
func log(ctx context.Context, tx *db.Tx, e entry) (uuid.UUID, error) {
	id := db.NewID()
	_, err := tx.Exec(ctx, insertEntry, e.row(tx, id)...)
	return id, err
}

const insertEntry = `
	insert into activity (id, contact_id, organization_id, type, subject, body, data, channel, actor_label, user_id, ref, created_at)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10::bigint, 0), $11, $12)`

func (e entry) row(tx *db.Tx, id uuid.UUID) []any {
	if e.data == nil {
		e.data = struct{}{}
	}
	return []any{id, e.contact, e.organization, e.kind, e.subject, e.body, e.data, tx.Who.Channel, tx.Who.Label, tx.Who.UserID, e.ref, tx.Now}
}

// logActivity is log for what moves the last_activity of a contact up to now and changes nothing else of it.
func logActivity(ctx context.Context, tx *db.Tx, contact uuid.UUID, e entry) error {
	e.contact = &contact
	b := &pgx.Batch{}
	b.Queue(insertEntry, e.row(tx, db.NewID())...)
	b.Queue(moveActivity, contact, tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

const moveActivity = `update contact set last_activity = $2 where id = $1 and (last_activity is null or last_activity < $2)`

// touch moves the last_activity of a contact up to now.
func touch(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, moveActivity, contact, tx.Now)
	return err
}

const entryColumns = `a.id, a.type, a.subject, a.body, a.data, a.channel, a.actor_label, a.user_id, a.created_at,
	c.id, c.first_name, c.last_name, c.email, c.phone`

func scanEntry(row pgx.CollectableRow) (Entry, error) {
	var e Entry
	var contact *uuid.UUID
	var first, last, email, phone *string
	var data json.RawMessage
	err := row.Scan(&e.id, &e.Type, &e.Subject, &e.Body, &data, &e.Channel, &e.ActorLabel, &e.UserID, &e.CreatedAt,
		&contact, &first, &last, &email, &phone)
	if err != nil {
		return e, err
	}
	if contact != nil {
		e.Contact = opt.Of(ContactRef{ID: *contact, Name: displayName(*first, *last, *email, *phone)})
	}
	return e, json.Unmarshal(data, &e.Data)
}

func entryKey(e Entry) (time.Time, uuid.UUID) { return e.CreatedAt, e.id }

// ByID names a record in the path.
type ByID struct {
	ID uuid.UUID `json:"id"`
}

// TimelineQuery asks for a page of a record's timeline.
type TimelineQuery struct {
	ID uuid.UUID `json:"id"`
	db.Page
}

// ContactTimeline lists what happened to a contact, newest first.
func (s *service) ContactTimeline(ctx context.Context, tx *db.Tx, in TimelineQuery) (db.List[Entry], error) {
	page, err := tx.Page(in.Page, "contact timeline", in)
	if err != nil {
		return db.List[Entry]{}, err
	}
	if _, err := contactByID(ctx, tx, in.ID); err != nil {
		return db.List[Entry]{}, err
	}
	var w where
	w.and("a.contact_id = ?", in.ID)
	if page.First {
		if err := tx.QueryRow(ctx, `select count(*) from activity a where `+w.String(), w.args...).Scan(&page.Total); err != nil {
			return db.List[Entry]{}, err
		}
	}
	w.after(page, "a")
	rows, err := tx.Query(ctx, `select `+entryColumns+` from activity a left join contact c on c.id = a.contact_id
		where `+w.String()+limit(` order by a.created_at desc, a.id desc`, page.Limit), w.args...)
	if err != nil {
		return db.List[Entry]{}, err
	}
	entries, err := pgx.CollectRows(rows, scanEntry)
	return db.Close(page, entries, entryKey), err
}
