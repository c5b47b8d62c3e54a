package search

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/directory"
)

// contactFilter are the parameters of filters that lists and exports share; all given ones must hold.
type contactFilter struct {
	Search             string    `json:"search,omitempty" maxLength:"100" doc:"Parts of name, address or number; accents and case do not count."`
	Status             string    `json:"status,omitempty" enum:"lead,customer,inactive"`
	Marketing          string    `json:"marketing,omitempty" enum:"none,pending,subscribed,unsubscribed"`
	Tag                string    `json:"tag,omitempty" maxLength:"100" doc:"Name or slug of a tag."`
	Owner              int64     `json:"owner,omitempty" minimum:"1"`
	Organization       uuid.UUID `json:"organization,omitzero"`
	Source             string    `json:"source,omitempty" maxLength:"50"`
	AppointmentFrom    time.Time `json:"appointment_from,omitzero" doc:"Only contacts with an appointment, not cancelled or declined, that starts at or after this."`
	AppointmentTo      time.Time `json:"appointment_to,omitzero" doc:"Only contacts with such an appointment that starts at or before this."`
	NoAppointmentSince time.Time `json:"no_appointment_since,omitzero" doc:"Only contacts without such an appointment since then."`
	CreatedSince       time.Time `json:"created_since,omitzero"`
}

// contactQuery asks for a page of contacts.
type contactQuery struct {
	contactFilter
	sorting
	UpdatedSince   time.Time `json:"updated_since,omitzero"`
	IncludeDeleted bool      `json:"include_deleted,omitempty" doc:"Also those in the trash."`
	Deleted        bool      `json:"deleted,omitempty" doc:"Only those in the trash."`
	db.SortedPage
}

// plain reports whether q can be answered by reading one index in order.
func (q *contactQuery) plain(tx *db.Tx) bool {
	for range q.asked() {
		return false
	}
	return !q.Deleted && !(tx.Who.Own && q.IncludeDeleted)
}

// findContacts lists the contacts that the actor may see, newest first unless in sorts them otherwise.
func (r *Room) findContacts(ctx context.Context, tx *db.Tx, in contactQuery) (db.List[contact.Contact], error) {
	in.Sort = in.Sort.Bound()
	page, err := tx.Page(db.Page(in.SortedPage), "contacts", in)
	if err != nil {
		return db.List[contact.Contact]{}, err
	}
	if err := contact.UntilChanges(ctx, tx, page, in.UpdatedSince, "contact"); err != nil {
		return db.List[contact.Contact]{}, err
	}
	if in.Sort != "" {
		return r.sortedPage(ctx, tx, in, page)
	}
	var contacts []contact.Contact
	switch copied := r.replica.Newest(); {
	case in.plain(tx) && !page.First:
		contacts, err = r.rowsOf(ctx, tx, in, page, &db.Where{})
	case copied == nil:
		contacts, err = r.withoutDirectory(ctx, tx, in, page)
	case in.plain(tx):
		contacts, err = r.plainPage(ctx, tx, in, page, copied)
	case in.inDirectory():
		contacts, err = r.directoryPage(ctx, tx, in, page, copied)
	default:
		contacts, err = r.countedPage(ctx, tx, in, page)
	}
	return db.Close(page, contacts, func(c contact.Contact) (time.Time, uuid.UUID) { return c.CreatedAt, c.ID }), err
}

// plainPage walks along the index for a first page. The total is the directory's.
func (r *Room) plainPage(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, copied *directory.Copy) ([]contact.Contact, error) {
	var w db.Where
	upToDate := copied.UpToDate(&w)
	q.conditions(tx, &w)
	rows, err := tx.Query(ctx, `select `+contact.Shown+`, `+upToDate+` as up_to_date`+contact.From+` where `+w.String()+db.LimitTo(newestFirst, page.Limit), w.Args...)
	if err != nil {
		return nil, err
	}
	type contactAndCopy struct {
		contact.Contact
		UpToDate bool
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[contactAndCopy])
	if err != nil {
		return nil, err
	}
	contacts := make([]contact.Contact, len(found))
	for i, f := range found {
		contacts[i] = f.Contact
	}
	if len(found) == 0 || !found[0].UpToDate {
		if err := copied.Check(ctx, tx, nil); err != nil {
			return nil, err
		}
	}
	_, page.Total = copied.First(q.directoryQuery(tx), 0)
	return contacts, nil
}

// rowsOf reads a page behind the first, for conditions beside those in w.
func (r *Room) rowsOf(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, w *db.Where) ([]contact.Contact, error) {
	q.onPage(tx, w, page)
	w.After(page, "c")
	return contact.Query(ctx, tx, `select `+contact.Shown+contact.From+` where `+w.String()+db.LimitTo(newestFirst, page.Limit), w.Args...)
}

// directoryPage has the directory find and count, and reads what it found.
func (r *Room) directoryPage(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, copied *directory.Copy) (contacts []contact.Contact, err error) {
	l, err := r.selection(ctx, tx, q, copied)
	if err != nil {
		return nil, err
	}
	if len(l.tags) > 1 {
		return r.countedPage(ctx, tx, q, page)
	}
	wanted := page.Limit
	var keys []directory.Key
	if page.First {
		keys, page.Total = l.first(wanted)
	} else {
		keys = l.after(directory.KeyOf(page.At, page.ID), wanted)
	}
	for len(keys) > 0 {
		var w db.Where
		contact.OnlyOwn(&w, tx)
		w.And("c.id = any(?)", ids(keys))
		some, err := contact.Query(ctx, tx, `select `+contact.Shown+contact.From+` where `+w.String()+newestFirst, w.Args...)
		if err != nil {
			return nil, err
		}
		if contacts = append(contacts, some...); len(keys) < wanted || len(contacts) == page.Limit {
			break
		}
		// The directory may be ahead of this transaction: what that does not see yet leaves room for more.
		wanted = page.Limit - len(contacts)
		keys = l.after(keys[len(keys)-1], wanted)
	}
	return contacts, nil
}

// While the directory is loaded, countersAtOnce lists are counted in the database at a time, each for countFor at most; the
// others wait for countPatience.
const (
	countersAtOnce = 2
	countFor       = "5s"
	countPatience  = 5 * time.Second
)

// withoutDirectory answers a list while the directory is loaded: from the database, in bounded time.
func (r *Room) withoutDirectory(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor) (contacts []contact.Contact, err error) {
	err = r.bounded(ctx, tx, q, page, func() (err error) { contacts, err = r.countedPage(ctx, tx, q, page); return err })
	return contacts, err
}

// bounded reads a list without the directory. A search is svc_unavailable. Counting may take seconds, so a process that just started must not
// do it for all who ask at once.
func (r *Room) bounded(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor, read func() error) error {
	if q.Search != "" {
		return fault.Unavailable()
	}
	if page.First {
		select {
		case r.counters <- struct{}{}:
			defer func() { <-r.counters }()
		default:
			return db.RunAgainAfter(r.counterFree)
		}
	}
	if _, err := tx.Exec(ctx, `set local statement_timeout = '`+countFor+`'`); err != nil {
		return err
	}
	return read()
}

// counterFree returns when one more list may be counted, or with svc_unavailable after countPatience.
func (r *Room) counterFree(ctx context.Context) error {
	late := time.NewTimer(countPatience)
	defer late.Stop()
	select {
	case r.counters <- struct{}{}:
		<-r.counters
		return nil
	case <-late.C:
		return fault.Unavailable()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// countedPage answers conditions that the directory cannot.
func (r *Room) countedPage(ctx context.Context, tx *db.Tx, q contactQuery, page *db.Cursor) ([]contact.Contact, error) {
	var w db.Where
	q, err := r.narrowed(ctx, tx, q, &w)
	if err != nil {
		return nil, err
	}
	if !page.First {
		return r.rowsOf(ctx, tx, q, page, &w)
	}
	q.onPage(tx, &w, page)
	rows, err := tx.Query(ctx, `select `+contact.Shown+`, (select count(*) from contact c where `+w.String()+`) as total`+contact.From+
		` where `+w.String()+db.LimitTo(newestFirst, page.Limit), w.Args...)
	if err != nil {
		return nil, err
	}
	type contactAndTotal struct {
		contact.Contact
		Total int64
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[contactAndTotal])
	contacts := make([]contact.Contact, len(found))
	for i, f := range found {
		// A first page without rows has a total of 0.
		contacts[i], page.Total = f.Contact, f.Total
	}
	return contacts, err
}

// listSources lists the sources of the contacts that the actor may see.
func (r *Room) listSources(ctx context.Context, tx *db.Tx, _ op.None) (db.List[string], error) {
	var w db.Where
	contact.OnlyOwn(&w, tx)
	// One step through the index per source, not one per contact.
	const query = `
		with recursive s as (
			(select c.source from contact c where c.deleted_at is null and c.source <> '' and %[1]s order by c.source limit 1)
			union all
			select (select c.source from contact c where c.deleted_at is null and c.source <> '' and c.source > s.source and %[1]s
				order by c.source limit 1) from s where s.source is not null)
		select source from s where source is not null order by fold(source), source`
	rows, err := tx.Query(ctx, fmt.Sprintf(query, w.String()), w.Args...)
	if err != nil {
		return db.List[string]{}, err
	}
	sources, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return db.All(sources), err
}
