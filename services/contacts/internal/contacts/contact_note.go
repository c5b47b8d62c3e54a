package contacts

import (
	"context"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

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
	id, err := log(ctx, tx, newEntry{contact: &c.ID, kind: entryNote, body: in.Body})
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
