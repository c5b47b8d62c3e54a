package contacts

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/directory"
)

// ContactFilter are the conditions that lists and exports share; all given ones must hold.
type ContactFilter struct {
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

// ContactQuery asks for a page of contacts.
type ContactQuery struct {
	ContactFilter
	UpdatedSince   time.Time `json:"updated_since,omitzero"`
	IncludeDeleted bool      `json:"include_deleted,omitempty" doc:"Also those in the trash."`
	db.Page
}

// conditions narrows w to the contacts that f selects. Times and the rest are all optional.
func (f ContactFilter) conditions(w *where) {
	if f.Search != "" {
		w.search("c.search", f.Search)
	}
	if f.Status != "" {
		w.and("c.status = ?", f.Status)
	}
	if f.Marketing != "" {
		w.and("c.marketing = ?", f.Marketing)
	}
	if f.Tag != "" {
		w.and("c.tags @> array(select name from tag where slug = ?)", slug(f.Tag))
		// A tag that does not exist would be no condition at all.
		w.and("exists (select from tag where slug = ?)", slug(f.Tag))
	}
	if f.Owner != 0 {
		w.and("c.owner_user_id = ?", f.Owner)
	}
	if f.Organization != uuid.Nil {
		w.and("c.id in (select l.contact_id from contact_organization l where l.organization_id = ?)", f.Organization)
	}
	if f.Source != "" {
		w.and("c.source = ?", f.Source)
	}
	if !f.AppointmentFrom.IsZero() || !f.AppointmentTo.IsZero() {
		var a where
		a.args = w.args
		a.and("a.status not in ('cancelled', 'declined')")
		if !f.AppointmentFrom.IsZero() {
			a.and("a.starts_at >= ?", f.AppointmentFrom)
		}
		if !f.AppointmentTo.IsZero() {
			a.and("a.starts_at <= ?", f.AppointmentTo)
		}
		w.args = a.args
		w.and("c.id in (select a.contact_id from appointment a where " + a.String() + ")")
	}
	if !f.NoAppointmentSince.IsZero() {
		w.and(`not exists (select from appointment a where a.contact_id = c.id and a.status not in ('cancelled', 'declined')
			and a.starts_at >= ?)`, f.NoAppointmentSince)
	}
	if !f.CreatedSince.IsZero() {
		w.and("c.created_at >= ?", f.CreatedSince)
	}
}

// plain tells whether q's pages are a walk along one index.
func (q ContactQuery) plain(tx *db.Tx) bool {
	return q.ContactFilter == ContactFilter{} && q.UpdatedSince.IsZero() && !(tx.Who.Own && q.IncludeDeleted)
}

// FindContacts lists the contacts that the actor may see, newest first.
func (s *service) FindContacts(ctx context.Context, tx *db.Tx, in ContactQuery) (db.List[Contact], error) {
	page, err := tx.Page(in.Page, "contacts", in)
	if err != nil {
		return db.List[Contact]{}, err
	}
	var contacts []Contact
	switch {
	case in.plain(tx):
		contacts, err = s.plainPage(ctx, tx, in, page)
	case in.known():
		contacts, err = s.knownPage(ctx, tx, in, page)
	default:
		contacts, err = s.countedPage(ctx, tx, in, page)
	}
	return db.Close(page, contacts, func(c Contact) (time.Time, uuid.UUID) { return c.CreatedAt, c.ID }), err
}

const newestFirst = ` order by c.created_at desc, c.id desc`

// plainPage walks along the index. The total is the directory's, which is asked for what changed only if
// something did.
func (s *service) plainPage(ctx context.Context, tx *db.Tx, q ContactQuery, page *db.Cursor) ([]Contact, error) {
	var w where
	columns := contactColumns(shownContactFields)
	var copied *remembered
	var fresh bool
	var more []any
	if page.First {
		var err error
		if copied, err = s.copied(ctx); err != nil {
			return nil, err
		}
		columns += ", (" + w.number(upToDate, copied.snapshot) + ")"
		more = []any{&fresh}
	}
	q.all(tx, &w)
	w.after(page, "c")
	rows, err := tx.Query(ctx, `select `+columns+contactFrom+` where `+w.String()+limit(newestFirst, page.Limit), w.args...)
	if err != nil {
		return nil, err
	}
	contacts, err := collectContacts(rows, more...)
	if err != nil || !page.First {
		return contacts, err
	}
	l := &selection{Directory: copied.Directory, query: q.directoryQuery(tx)}
	if !fresh {
		if l, err = s.selection(ctx, tx, q); err != nil {
			return nil, err
		}
	}
	_, page.Total = l.first(0)
	return contacts, nil
}

// knownPage has the directory find and count, and reads what it found.
func (s *service) knownPage(ctx context.Context, tx *db.Tx, q ContactQuery, page *db.Cursor) (contacts []Contact, err error) {
	l, err := s.selection(ctx, tx, q)
	if err != nil {
		return nil, err
	}
	wanted := page.Limit
	var keys []directory.Key
	if page.First {
		keys, page.Total = l.first(wanted)
	} else {
		keys = l.after(directory.KeyOf(page.At, page.ID), wanted)
	}
	for len(keys) > 0 {
		var w where
		w.own(tx, "c")
		w.and("c.id = any(?)", ids(keys))
		rows, err := tx.Query(ctx, `select `+contactColumns(shownContactFields)+contactFrom+` where `+w.String()+newestFirst, w.args...)
		if err != nil {
			return nil, err
		}
		some, err := collectContacts(rows)
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

// countedPage is for conditions that only the database knows.
func (s *service) countedPage(ctx context.Context, tx *db.Tx, q ContactQuery, page *db.Cursor) ([]Contact, error) {
	var w where
	q, err := s.narrowed(ctx, tx, q, &w)
	if err != nil {
		return nil, err
	}
	q.all(tx, &w)
	columns := contactColumns(shownContactFields)
	if page.First {
		// The total comes with the rows: a first page without rows has a total of 0.
		columns += `, (select count(*) from contact c where ` + w.String() + `)`
	}
	w.after(page, "c")
	rows, err := tx.Query(ctx, `select `+columns+contactFrom+` where `+w.String()+limit(newestFirst, page.Limit), w.args...)
	if err != nil {
		return nil, err
	}
	if page.First {
		return collectContacts(rows, &page.Total)
	}
	return collectContacts(rows)
}

func collectContacts(rows pgx.Rows, more ...any) ([]Contact, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Contact, error) { return scanContact(row, more...) })
}

func (q ContactQuery) all(tx *db.Tx, w *where) {
	if !q.IncludeDeleted {
		w.and("c.deleted_at is null")
	}
	w.own(tx, "c")
	q.conditions(w)
	if !q.UpdatedSince.IsZero() {
		w.and("c.updated_at >= ?", q.UpdatedSince)
	}
}

// ListSources lists the sources of the contacts that the actor may see.
func (s *service) ListSources(ctx context.Context, tx *db.Tx, _ struct{}) (db.List[string], error) {
	var w where
	w.own(tx, "c")
	// One step through the index per source, not one per contact.
	const query = `
		with recursive s as (
			(select c.source from contact c where c.deleted_at is null and c.source <> '' and %[1]s order by c.source limit 1)
			union all
			select (select c.source from contact c where c.deleted_at is null and c.source <> '' and c.source > s.source and %[1]s
				order by c.source limit 1) from s where s.source is not null)
		select source from s where source is not null order by lower(source), source`
	rows, err := tx.Query(ctx, fmt.Sprintf(query, w.String()), w.args...)
	if err != nil {
		return db.List[string]{}, err
	}
	sources, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return db.All(sources), err
}
