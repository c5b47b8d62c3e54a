package organization

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/field"
)

// organizationExport asks for organizations as a file.
type organizationExport struct {
	organizationFilter
	Separator op.Separator `json:"separator,omitempty"`
}

// exportOrganizations writes the organizations, newest first, with the number of linked people that the
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
		o.owner_user_id, people.n, o.created_at, o.updated_at, o.fields`+from+` where `+w.String()+` order by o.created_at desc, o.id desc`, w.Args...)
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
