package search

import (
	"context"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contact"
)

// sorting is the parameter by which the list and the file are sorted.
type sorting struct {
	Sort contact.Sort `json:"sort,omitempty" enum:"-created_at,created_at,name,-last_activity" doc:"-created_at when left out. name is first and last name, else the address, else the number, without case and accents; who has no last_activity comes last. A cursor holds for one order."`
}

// orders are those of sort, each with an index. A name is what somebody is called: first and last name, else the address, else the number.
var orders = contact.Orders("c", "c.last_activity", `coalesce(nullif(btrim(c.first_name || ' ' || c.last_name), ''), nullif(c.email, ''), c.phone)`)

var newestFirst = orders[""].By()

// sortedPage answers a list that is not sorted by the newest first. The directory counts, and finds what is rare; what is not is met soon on the way
// along the index of the order.
func (r *Room) sortedPage(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor) (db.List[contact.Contact], error) {
	var w db.Where
	var found []placed
	q, counted, err := r.rare(ctx, tx, q, page, &w)
	switch {
	case err != nil:
	case counted:
		q.onPage(tx, &w, page)
		found, err = inOrder(ctx, tx, &w, page, orders[q.Sort])
	case r.replica.Newest() == nil:
		err = r.bounded(ctx, tx, q, page, func() (err error) { found, err = r.countedInOrder(ctx, tx, q, page, &w); return err })
	default:
		found, err = r.countedInOrder(ctx, tx, q, page, &w)
	}
	if err != nil {
		return db.List[contact.Contact]{}, err
	}
	return db.CloseAt(page, found, func(p placed) (contact.Contact, db.Place) {
		return p.Contact, db.Place{At: q.Sort.At(p.CreatedAt, p.LastActivity), Text: p.Text, ID: p.ID}
	}), nil
}

// countedInOrder has the database count a first page, and reads it.
func (r *Room) countedInOrder(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, w *db.Where) ([]placed, error) {
	q, err := r.narrowed(ctx, tx, q, w)
	if err != nil {
		return nil, err
	}
	q.onPage(tx, w, page)
	if page.First {
		if err := tx.QueryRow(ctx, `select count(*) from contact c where `+w.String(), w.Args...).Scan(&page.Total); err != nil {
			return nil, err
		}
	}
	return inOrder(ctx, tx, w, page, orders[q.Sort])
}

// rare has the directory count what q selects, and puts a condition on the ids in the place of the search if that is little. It reports whether
// the directory could.
func (r *Room) rare(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, w *db.Where) (contactQuery, bool, error) {
	copied := r.replica.Newest()
	if copied == nil || !q.inDirectory() {
		return q, false, nil
	}
	l, err := r.selection(ctx, tx, q, copied)
	if err != nil || len(l.tags) > 1 {
		return q, false, err
	}
	keys, n := l.first(maxIDs)
	if page.First {
		page.Total = n
	}
	// To sort a record takes six times as long as to pass one on the way, and a page of fifty passes 50/n of all.
	if n <= maxIDs && n*n <= 8*int64(l.Len()) {
		w.And("c.id = any(?)", ids(keys))
		q.Search = ""
	}
	return q, true, contact.PlanForWords(ctx, tx, q.Search)
}

// placed is a contact with its place by name.
type placed struct {
	contact.Contact
	Text string
}

// inOrder reads a page of the contacts in w. What they show is made of those on the page alone.
func inOrder(ctx context.Context, tx *db.Tx, w *db.Where, page *db.Cursor, by db.Order) ([]placed, error) {
	w.Behind(page, by)
	return db.Rows[placed](ctx, tx, `select `+contact.Shown+`, `+by.TextKey()+` as text`+contact.From+`
		where c.id = any(array(select c.id from contact c where `+w.String()+db.LimitTo(by.By(), page.Limit)+`))`+by.By(), w.Args...)
}
