package history

import (
	"context"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/timeline"
)

// contactTimeline lists what happened to a contact: pinned notes first, then the newest.
func (r *Room) contactTimeline(ctx context.Context, tx *db.Tx, in timeline.TimelineQuery) (db.List[timeline.Entry], error) {
	page, err := tx.Page(in.Page, "contact timeline", in)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	if _, err := contact.ByID(ctx, tx, in.ID); err != nil {
		return db.List[timeline.Entry]{}, err
	}
	if page.First {
		var w db.Where
		if err := tx.QueryRow(ctx, `select count(*) from activity a where `+w.Bind("a.contact_id = ?", in.ID)+in.Narrowed(&w), w.Args...).Scan(&page.Total); err != nil {
			return db.List[timeline.Entry]{}, err
		}
	}
	var w db.Where
	half := func(which string, pinned bool) string {
		return `(select ` + timeline.Columns + timeline.Pinned + ` from activity a left join contact c on c.id = a.contact_id where ` + w.Bind("a.contact_id = ? and ", in.ID) + which +
			in.Narrowed(&w) + timeline.Behind(page, &w, pinned) + db.LimitTo(` order by a.created_at desc, a.id desc`, page.Limit) + `)`
	}
	rows, err := tx.Query(ctx, half("a.pinned", true)+` union all `+half("not a.pinned", false)+db.LimitTo(` order by pinned desc, created_at desc, id desc`, page.Limit), w.Args...)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	entries, err := pgx.CollectRows(rows, timeline.Scan)
	return db.Close(page, entries, timeline.Key), err
}

// addContactNote writes a note into a contact's timeline.
func (r *Room) addContactNote(ctx context.Context, tx *db.Tx, in timeline.NewNote) (timeline.Entry, error) {
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return timeline.Entry{}, err
	}
	e, err := in.Write(ctx, tx, timeline.NewEntry{Contact: &c.ID})
	if err != nil {
		return e, err
	}
	return e, contact.Touch(ctx, tx, c.ID)
}

// updateContactNote changes a note in a contact's timeline.
func (r *Room) updateContactNote(ctx context.Context, tx *db.Tx, in timeline.NoteChange) (timeline.Entry, error) {
	if _, err := contact.LockLive(ctx, tx, in.ID); err != nil {
		return timeline.Entry{}, err
	}
	return in.Save(ctx, tx, timeline.OfContact)
}

// deleteContactNote deletes a note of a contact's timeline.
func (r *Room) deleteContactNote(ctx context.Context, tx *db.Tx, in timeline.NoteID) (op.None, error) {
	if _, err := contact.LockLive(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, in.Delete(ctx, tx, timeline.OfContact)
}
