package organization

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
)

// organizationFilter are the conditions that the list and the export share.
type organizationFilter struct {
	Search string `json:"search,omitempty" maxLength:"100" doc:"Parts of name, VAT number, email or city; accents and case do not count."`
	Owner  int64  `json:"owner,omitempty" minimum:"1"`
}

// sorting is the parameter by which the list and the file are sorted.
type sorting struct {
	Sort contact.Sort `json:"sort,omitempty" enum:"-created_at,created_at,name,-last_activity" doc:"-created_at when left out. name is compared without case and accents; without last_activity comes last. A cursor holds for one order."`
}

// orders are those of sort. The last activity is that of the organization or of one of its people, as it is shown.
var orders = contact.Orders("o", "greatest(o.last_activity, people.last_activity)", "o.name")

// organizationQuery asks for a page of organizations.
type organizationQuery struct {
	organizationFilter
	sorting
	UpdatedSince time.Time `json:"updated_since,omitzero"`
	Deleted      bool      `json:"deleted,omitempty" doc:"Only those in the trash; else they are left out."`
	db.SortedPage
}

func (f organizationFilter) conditions(w *db.Where) {
	if f.Search != "" {
		all := contact.Words(w, "o.search", f.Search)
		// A VAT number is found however its groups are parted.
		if vat := person.VATKey(person.VAT(f.Search)); vat != "" && all != "" {
			all = "(" + all + " or " + w.Bind("o.search like ?", "%"+strings.ToLower(vat)+"%") + ")"
		}
		if all != "" {
			w.And(all)
		}
	}
	if f.Owner != 0 {
		w.And("o.owner_user_id = ?", f.Owner)
	}
}

// findOrganizations lists organizations, newest first unless in sorts them otherwise.
func (r *Room) findOrganizations(ctx context.Context, tx *db.Tx, in organizationQuery) (db.List[Organization], error) {
	in.Sort = in.Sort.Bound()
	page, err := tx.Page(db.Page(in.SortedPage), "organizations", in)
	if err != nil {
		return db.List[Organization]{}, err
	}
	if err := contact.UntilChanges(ctx, tx, page, in.UpdatedSince, "organization"); err != nil {
		return db.List[Organization]{}, err
	}
	if err := contact.PlanForWords(ctx, tx, in.Search); err != nil {
		return db.List[Organization]{}, err
	}
	narrow := func(w *db.Where) {
		if in.Deleted {
			w.And("o.deleted_at is not null")
		} else {
			w.And("o.deleted_at is null")
		}
		in.conditions(w)
		if !in.UpdatedSince.IsZero() {
			w.And("o.updated_at >= ? and o.updated_at <= ?", in.UpdatedSince, page.Until)
		}
	}
	if page.First {
		if page.Total, err = in.total(ctx, tx, narrow); err != nil {
			return db.List[Organization]{}, err
		}
	}
	var found []placed
	if in.Sort == contact.ByActivity && in.organizationFilter == (organizationFilter{}) && in.UpdatedSince.IsZero() && !in.Deleted {
		found, err = latestActive(ctx, tx, page)
	} else {
		found, err = inOrder(ctx, tx, page, orders[in.Sort], narrow)
	}
	return db.CloseAt(page, found, func(p placed) (Organization, db.Place) {
		return p.Organization, db.Place{At: in.Sort.At(p.CreatedAt, p.LastActivity), Text: p.Text, ID: p.ID}
	}), err
}

// placed is an organization with its place by name.
type placed struct {
	Organization
	Text string
}

// inOrder reads a page of the organizations that narrow leaves.
func inOrder(ctx context.Context, tx *db.Tx, page *db.Cursor, by db.Order, narrow func(*db.Where)) ([]placed, error) {
	var w db.Where
	from := organizationFrom(tx, &w)
	narrow(&w)
	w.Behind(page, by)
	return db.Rows[placed](ctx, tx, `select `+shownOrganization+`, `+by.TextKey()+` as text`+from+`
		where `+w.String()+db.LimitTo(by.By(), page.Limit), w.Args...)
}

// latestActive is inOrder by the last activity, of all organizations that are not in the trash. No index has that order, for it is that of an organization
// or of one of its people. But what stands first in it is among those that were active last themselves and those of the people who were: as many of both
// are looked at as it takes to fill the page.
func latestActive(ctx context.Context, tx *db.Tx, page *db.Cursor) ([]placed, error) {
	by := orders[contact.ByActivity]
	for n := 4 * page.Limit; ; n *= 4 {
		ids, bound, err := lastActive(ctx, tx, page, n)
		if err != nil {
			return nil, err
		}
		found, err := inOrder(ctx, tx, page, by, func(w *db.Where) {
			w.And("o.deleted_at is null and o.id = any(?)", ids)
			if bound != nil {
				w.And(by.Key+" > ?", *bound)
			}
		})
		if err != nil || bound == nil || len(found) == page.Limit {
			return found, err
		}
	}
}

// lastActive gives the organizations that were active last, or whose people were, from the begin of a page on: n of each kind. All whose last activity is
// later than the bound are among them; without one, all.
func lastActive(ctx context.Context, tx *db.Tx, page *db.Cursor, n int) (ids []uuid.UUID, bound *time.Time, err error) {
	own, theirs := contact.Orders("o", "o.last_activity", "o.name")[contact.ByActivity], contact.Orders("c", "c.last_activity", "c.email")[contact.ByActivity]
	var w db.Where
	contact.OnlyOwn(&w, tx)
	w.And("c.deleted_at is null")
	houses := "o.deleted_at is null"
	if !page.First {
		w.And(theirs.Key+" <= ?", page.At)
		houses += " and " + w.Bind(own.Key+" <= ?", page.At)
	}
	last := "order by at desc limit 1 offset " + strconv.Itoa(n-1)
	err = tx.QueryRow(ctx, `with people as (select c.id, `+theirs.Key+` as at from contact c where `+w.String()+db.LimitTo(theirs.By(), n)+`),
			houses as (select o.id, `+own.Key+` as at from organization o where `+houses+db.LimitTo(own.By(), n)+`)
		select array(select id from houses union select l.organization_id from people p join contact_organization l on l.contact_id = p.id),
			greatest((select at from people `+last+`), (select at from houses `+last+`))`, w.Args...).Scan(&ids, &bound)
	return ids, bound, err
}

// total is how many organizations q asks for, with the conditions that narrow adds.
func (q organizationQuery) total(ctx context.Context, tx *db.Tx, narrow func(*db.Where)) (n int64, err error) {
	if q.Search == "" && q.UpdatedSince.IsZero() {
		var owner []string
		if q.Owner != 0 {
			owner = []string{strconv.FormatInt(q.Owner, 10)}
		}
		return tx.CountRows(ctx, "organization", []string{strconv.FormatBool(q.Deleted)}, owner)
	}
	var w db.Where
	narrow(&w)
	err = tx.QueryRow(ctx, `select count(*) from organization o where `+w.String(), w.Args...).Scan(&n)
	return n, err
}

// organizationExport asks for organizations as a file.
type organizationExport struct {
	organizationFilter
	sorting
	Separator op.Separator `json:"separator,omitempty"`
}

// exportOrganizations writes the organizations with the number of linked people that the
// actor may see.
func (r *Room) exportOrganizations(ctx context.Context, tx *db.Tx, in organizationExport, d *op.Download) error {
	fields, err := field.Exported(ctx, tx, "organization")
	if err != nil {
		return err
	}
	header := []string{"id", "name", "vat_number", "email", "phone", "website", "address_line", "postal_code", "city", "country", "owner",
		"contacts_count", "created_at", "updated_at"}
	d.Start("organizations.csv", in.Separator)
	if err := d.Row(append(header, field.Labels(fields)...)); err != nil {
		return err
	}
	var w db.Where
	from := organizationFrom(tx, &w)
	w.And("o.deleted_at is null")
	in.conditions(&w)
	rows, err := d.Query(ctx, tx, `select array[o.id::text, o.name, o.vat_number, o.email, o.phone, o.website, o.address_line, o.postal_code, o.city, o.country],
		o.owner_user_id, people.n, o.created_at, o.updated_at, o.fields`+from+` where `+w.String()+orders[in.Sort].By(), w.Args...)
	if err != nil {
		return err
	}
	names := r.field.OwnerNames()
	var cells, own []string
	var owner *int64
	var people int64
	var created, updated time.Time
	var values []byte
	_, err = pgx.ForEachRow(rows, []any{&own, &owner, &people, &created, &updated, &values}, func() error {
		cells = append(append(cells[:0], own...), names(owner), strconv.FormatInt(people, 10), field.Stamp(&created), field.Stamp(&updated))
		if cells, err = field.AppendValues(cells, values, fields); err != nil {
			return err
		}
		return d.Row(cells)
	})
	return err
}
