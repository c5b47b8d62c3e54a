package contacts

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// ContactExport asks for contacts as a file.
type ContactExport struct {
	ContactFilter
	IDs       []uuid.UUID  `json:"ids,omitempty" maxItems:"1000" doc:"Only these."`
	Separator op.Separator `json:"separator,omitempty"`
}

// exportContacts writes the contacts that the actor may see, newest first, one column per value.
func (s *service) exportContacts(ctx context.Context, tx *db.Tx, in ContactExport, d *op.Download) error {
	fields, err := exportedFields(ctx, tx, "contact")
	if err != nil {
		return err
	}
	header := []string{"id", "first_name", "last_name", "email", "phone", "status", "marketing", "source", "owner", "tags", "organization", "role",
		"last_activity", "created_at", "updated_at"}
	var w db.Where
	q, err := s.narrowed(ctx, tx, ContactQuery{ContactFilter: in.ContactFilter}, &w)
	if err != nil {
		return err
	}
	d.Start("contacts.csv", in.Separator)
	if err := d.Row(append(header, labels(fields)...)); err != nil {
		return err
	}
	q.conditions(tx, &w)
	if len(in.IDs) > 0 {
		w.And("c.id = any(?)", in.IDs)
	}
	// Cells come in the order of the header, but for those that are not text in the database.
	rows, err := d.Query(ctx, tx, `select array[c.id::text, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.source], c.owner_user_id,
		array[array_to_string(c.tags, ', '), coalesce(po.name, ''), case when po.id is null then '' else p.role end],
		c.last_activity, c.created_at, c.updated_at, c.fields`+contactFrom+` where `+w.String()+` order by c.created_at desc, c.id desc`, w.Args...)
	if err != nil {
		return err
	}
	names := s.ownerNames()
	var cells, own, linked []string
	var owner *int64
	var active *time.Time
	var created, updated time.Time
	var values []byte
	_, err = pgx.ForEachRow(rows, []any{&own, &owner, &linked, &active, &created, &updated, &values}, func() error {
		cells = append(append(append(cells[:0], own...), names(owner)), linked...)
		cells = append(cells, stamp(active), stamp(&created), stamp(&updated))
		if cells, err = appendValues(cells, values, fields); err != nil {
			return err
		}
		return d.Row(cells)
	})
	return err
}

// OrganizationExport asks for organizations as a file.
type OrganizationExport struct {
	OrganizationFilter
	Separator op.Separator `json:"separator,omitempty"`
}

// exportOrganizations writes the organizations, newest first, with the number of linked people that the
// actor may see.
func (s *service) exportOrganizations(ctx context.Context, tx *db.Tx, in OrganizationExport, d *op.Download) error {
	fields, err := exportedFields(ctx, tx, "organization")
	if err != nil {
		return err
	}
	header := []string{"id", "name", "vat_number", "email", "phone", "website", "address_line", "postal_code", "city", "country", "owner",
		"contacts_count", "created_at", "updated_at"}
	d.Start("organizations.csv", in.Separator)
	if err := d.Row(append(header, labels(fields)...)); err != nil {
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
	names := s.ownerNames()
	var cells, own []string
	var owner *int64
	var people int64
	var created, updated time.Time
	var values []byte
	_, err = pgx.ForEachRow(rows, []any{&own, &owner, &people, &created, &updated, &values}, func() error {
		cells = append(append(cells[:0], own...), names(owner), strconv.FormatInt(people, 10), stamp(&created), stamp(&updated))
		if cells, err = appendValues(cells, values, fields); err != nil {
			return err
		}
		return d.Row(cells)
	})
	return err
}

// exportedFields are the custom fields that are columns of an export.
func exportedFields(ctx context.Context, tx *db.Tx, entity string) ([]Field, error) {
	rows, err := tx.Query(ctx, `select `+fieldColumns+` from field where entity = $1 and not archived order by sort_order, created_at, id`, entity)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Field])
}

func labels(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Label
	}
	return out
}

// appendValues adds a cell for each custom field, the options of a choice separated by commas.
func appendValues(cells []string, raw []byte, fields []Field) ([]string, error) {
	values := map[string]any{}
	if len(fields) > 0 && string(raw) != "{}" {
		if err := json.Unmarshal(raw, &values); err != nil {
			return cells, err
		}
	}
	for _, f := range fields {
		cells = append(cells, cellText(values[f.Key]))
	}
	return cells, nil
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = cellText(x)
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// ownerNames gives the names of owners, each looked up once.
func (s *service) ownerNames() func(*int64) string {
	known := map[int64]string{}
	return func(id *int64) string {
		if id == nil {
			return ""
		}
		name, ok := known[*id]
		if !ok {
			name = strconv.FormatInt(*id, 10)
			if u, found := s.Identity.User(*id); found && u.GetName() != "" {
				name = u.GetName()
			}
			known[*id] = name
		}
		return name
	}
}
