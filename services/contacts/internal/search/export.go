package search

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/csvfile"
	"frontdesk/services/contacts/internal/field"
)

// contactExport asks for contacts as a file.
type contactExport struct {
	contactFilter
	sorting
	IDs       []uuid.UUID  `json:"ids,omitempty" maxItems:"1000" doc:"Only these."`
	Separator op.Separator `json:"separator,omitempty"`
}

// exportContacts writes the contacts that the actor may see, one column per value.
func (r *Room) exportContacts(ctx context.Context, tx *db.Tx, in contactExport, d *op.Download) error {
	fields, err := field.Exported(ctx, tx, "contact")
	if err != nil {
		return err
	}
	header := []string{"id", "first_name", "last_name", "email", "phone", "status", "marketing", "source", "owner", "tags", "organization", "role",
		"last_activity", "created_at", "updated_at"}
	var w db.Where
	q, err := r.narrowed(ctx, tx, contactQuery{contactFilter: in.contactFilter}, &w)
	if err != nil {
		return err
	}
	d.Start("contacts.csv", in.Separator)
	if err := d.Row(append(header, field.Labels(fields)...)); err != nil {
		return err
	}
	q.conditions(tx, &w)
	if len(in.IDs) > 0 {
		w.And("c.id = any(?)", in.IDs)
	}
	// Cells come in the order of the header, but for those that are not text in the database.
	rows, err := d.Query(ctx, tx, `select array[c.id::text, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.source], c.owner_user_id,
		c.tags, array[coalesce(po.name, ''), case when po.id is null then '' else p.role end],
		c.last_activity, c.created_at, c.updated_at, c.fields`+contact.From+` where `+w.String()+orders[in.Sort].By(), w.Args...)
	if err != nil {
		return err
	}
	names := r.field.OwnerNames()
	var cells, own, tags, linked []string
	var owner *int64
	var active *time.Time
	var created, updated time.Time
	var values []byte
	_, err = pgx.ForEachRow(rows, []any{&own, &owner, &tags, &linked, &active, &created, &updated, &values}, func() error {
		cells = append(append(append(cells[:0], own...), names(owner), csvfile.Join(tags)), linked...)
		cells = append(cells, field.Stamp(active), field.Stamp(&created), field.Stamp(&updated))
		if cells, err = field.AppendValues(cells, values, fields); err != nil {
			return err
		}
		return d.Row(cells)
	})
	return err
}
