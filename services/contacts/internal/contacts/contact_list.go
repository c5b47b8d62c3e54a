package contacts

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
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

// counted tells whether the table of counts knows how many contacts the query selects.
func (q ContactQuery) counted() bool {
	q.Status, q.Marketing, q.Owner, q.IncludeDeleted, q.Page = "", "", 0, false, db.Page{}
	return q == ContactQuery{}
}

// FindContacts lists the contacts that the actor may see, newest first.
func (s *service) FindContacts(ctx context.Context, tx *db.Tx, in ContactQuery) (db.List[Contact], error) {
	page, err := tx.Page(in.Page, "contacts", in)
	if err != nil {
		return db.List[Contact]{}, err
	}
	var w where
	columns := contactColumns(shownContactFields)
	if page.First {
		// The total comes with the rows: a first page without rows has a total of 0.
		columns += ", (" + in.count(tx, &w) + ")"
	}
	in.all(tx, &w)
	w.after(page, "c")
	rows, err := tx.Query(ctx, `select `+columns+contactFrom+` where `+w.String()+limit(` order by c.created_at desc, c.id desc`, page.Limit), w.args...)
	if err != nil {
		return db.List[Contact]{}, err
	}
	contacts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Contact, error) {
		if page.First {
			return scanContact(row, &page.Total)
		}
		return scanContact(row)
	})
	return db.Close(page, contacts, func(c Contact) (time.Time, uuid.UUID) { return c.CreatedAt, c.ID }), err
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

// count is the query for the number of contacts that q selects.
func (q ContactQuery) count(tx *db.Tx, w *where) string {
	n := where{args: w.args}
	defer func() { w.args = n.args }()
	if !q.counted() {
		q.all(tx, &n)
		return "select count(*) from contact c where " + n.String()
	}
	if !q.IncludeDeleted {
		n.and("not c.trashed")
	}
	n.own(tx, "c")
	q.conditions(&n)
	return "select coalesce(sum(n), 0)::bigint from contact_count c where " + n.String()
}

// addCountsTogether keeps the table of counts short.
func (s *service) addCountsTogether(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		var many bool
		err := tx.QueryRow(ctx, `select count(*) = 500 from (select from contact_count limit 500) c`).Scan(&many)
		if err != nil || !many {
			return err
		}
		_, err = tx.Exec(ctx, `
			with gone as (delete from contact_count returning *)
			insert into contact_count select owner_user_id, status, marketing, trashed, sum(n) from gone group by 1, 2, 3, 4 having sum(n) <> 0`)
		return err
	})
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
