package people

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// contactTimeline lists what happened to a contact, newest first.
func (r *Room) contactTimeline(ctx context.Context, tx *db.Tx, in timeline.TimelineQuery) (db.List[timeline.Entry], error) {
	page, err := tx.Page(in.Page, "contact timeline", in)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	if _, err := contact.ByID(ctx, tx, in.ID); err != nil {
		return db.List[timeline.Entry]{}, err
	}
	var w db.Where
	w.And("a.contact_id = ?", in.ID)
	if page.First {
		if err := tx.QueryRow(ctx, `select count(*) from activity a where `+w.String(), w.Args...).Scan(&page.Total); err != nil {
			return db.List[timeline.Entry]{}, err
		}
	}
	w.After(page, "a")
	rows, err := tx.Query(ctx, `select `+timeline.Columns+` from activity a left join contact c on c.id = a.contact_id
		where `+w.String()+db.LimitTo(` order by a.created_at desc, a.id desc`, page.Limit), w.Args...)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	entries, err := pgx.CollectRows(rows, timeline.Scan)
	return db.Close(page, entries, timeline.Key), err
}

// newNote is a note for a timeline.
type newNote struct {
	ID   uuid.UUID `json:"id"`
	Body string    `json:"body" required:"true" maxLength:"65535" doc:"Plain text."`
}

// addNote writes a note into a contact's timeline.
func (r *Room) addNote(ctx context.Context, tx *db.Tx, in newNote) (timeline.Entry, error) {
	if strings.TrimSpace(in.Body) == "" {
		return timeline.Entry{}, fault.Invalid("body", fault.Empty())
	}
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return timeline.Entry{}, err
	}
	id, err := timeline.Log(ctx, tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Note, Body: in.Body})
	if err != nil {
		return timeline.Entry{}, err
	}
	if err := contact.Touch(ctx, tx, c.ID); err != nil {
		return timeline.Entry{}, err
	}
	rows, err := tx.Query(ctx, `select `+timeline.Columns+` from activity a join contact c on c.id = a.contact_id where a.id = $1`, id)
	if err != nil {
		return timeline.Entry{}, err
	}
	return pgx.CollectExactlyOneRow(rows, timeline.Scan)
}
