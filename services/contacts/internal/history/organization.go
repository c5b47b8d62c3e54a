package history

import (
	"context"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/timeline"
)

// organizationTimeline lists what happened to an organization and to the people linked to it that the
// actor may see: its pinned notes first, then the newest.
func (r *Room) organizationTimeline(ctx context.Context, tx *db.Tx, in timeline.TimelineQuery) (db.List[timeline.Entry], error) {
	page, err := tx.Page(in.Page, "organization timeline", in)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	if _, err := organization.ByID(ctx, tx, in.ID); err != nil {
		return db.List[timeline.Entry]{}, err
	}
	// Parts that are each read in the order of an index: its pinned notes, other entries about the organization, and those about its people that
	// do not name it.
	about := func(w *db.Where) string {
		return w.Bind(`a.organization_id = ? and (a.contact_id is null or c.id is not null and c.deleted_at is null)`, in.ID) + in.Narrowed(w)
	}
	ofPeople := func(w *db.Where) string {
		return w.Bind(`a.contact_id in (select l.contact_id from contact_organization l where l.organization_id = ?)
			and a.organization_id is distinct from ? and c.deleted_at is null`, in.ID, in.ID) + in.Narrowed(w)
	}
	if page.First {
		var w db.Where
		query := `select (select count(*)` + visibleEntries(tx, &w, about) + `) + (select count(*)` + visibleEntries(tx, &w, ofPeople) + `)`
		if err := tx.QueryRow(ctx, query, w.Args...).Scan(&page.Total); err != nil {
			return db.List[timeline.Entry]{}, err
		}
	}
	var w db.Where
	part := func(which func(*db.Where) string, shown, only string, pinned bool) string {
		return `(select ` + timeline.Columns + shown + visibleEntries(tx, &w, which) + only + timeline.Behind(page, &w, pinned) +
			db.LimitTo(` order by a.created_at desc, a.id desc`, page.Limit) + `)`
	}
	query := part(about, timeline.Pinned, ` and a.pinned`, true) + ` union all ` + part(about, timeline.Pinned, ` and not a.pinned`, false) + ` union all ` +
		part(ofPeople, timeline.Unpinned, ``, false) + db.LimitTo(` order by pinned desc, created_at desc, id desc`, page.Limit)
	rows, err := tx.Query(ctx, query, w.Args...)
	if err != nil {
		return db.List[timeline.Entry]{}, err
	}
	entries, err := pgx.CollectRows(rows, timeline.Scan)
	return db.Close(page, entries, timeline.Key), err
}

// visibleEntries selects timeline entries a, and their contacts c, for which a condition holds and that the actor may see.
func visibleEntries(tx *db.Tx, w *db.Where, which func(*db.Where) string) string {
	from := ` from activity a left join contact c on c.id = a.contact_id where ` + which(w)
	if tx.Who.Own {
		from += w.Bind(" and (a.contact_id is null or c.owner_user_id = ?)", tx.Who.UserID)
	}
	return from
}

// addOrganizationNote writes a note into an organization's timeline.
func (r *Room) addOrganizationNote(ctx context.Context, tx *db.Tx, in timeline.NewNote) (timeline.Entry, error) {
	o, err := organization.LockLive(ctx, tx, in.ID)
	if err != nil {
		return timeline.Entry{}, err
	}
	e, err := in.Write(ctx, tx, timeline.NewEntry{Organization: &o.ID})
	if err != nil {
		return e, err
	}
	return e, organization.Touch(ctx, tx, o.ID)
}

// updateOrganizationNote changes a note in an organization's timeline.
func (r *Room) updateOrganizationNote(ctx context.Context, tx *db.Tx, in timeline.NoteChange) (timeline.Entry, error) {
	if _, err := organization.LockLive(ctx, tx, in.ID); err != nil {
		return timeline.Entry{}, err
	}
	return in.Save(ctx, tx, timeline.OfOrganization)
}

// deleteOrganizationNote deletes a note of an organization's timeline.
func (r *Room) deleteOrganizationNote(ctx context.Context, tx *db.Tx, in timeline.NoteID) (op.None, error) {
	if _, err := organization.LockLive(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, in.Delete(ctx, tx, timeline.OfOrganization)
}
