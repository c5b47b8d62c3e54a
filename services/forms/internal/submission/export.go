package submission

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/services/forms/internal/definition"
)

type exportedSubmissions struct {
	filter
	Separator op.Separator `json:"separator,omitempty"`
}

type exportedRow struct {
	ID                    uuid.UUID
	CreatedAt             time.Time
	Form, Status          string
	Contact, Organization string
	Page, SpamReason      string
	Answers               []form.Line
}

// export writes the submissions that the actor may see, newest first, with a column for each answer
// that any version of the forms asks for.
func (r *Room) export(ctx context.Context, tx *db.Tx, in exportedSubmissions, d *op.Download) error {
	w := in.where(tx)
	keys, headings, err := r.forms.Columns(ctx, tx, in.Form)
	if err != nil {
		return err
	}
	rows, err := d.Query(ctx, tx, `select s.id, s.created_at, f.name as form, s.status, coalesce(c.name, '') as contact, coalesce(o.name, '') as organization,
			s.page, coalesce(s.spam_reason, '') as spam_reason, s.answers`+joined+` where `+w.String()+` order by s.created_at desc, s.id desc`, w.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()

	d.Start("submissions.csv", in.Separator)
	header := []string{"id", "created_at", "form", "status", "contact", "organization", "page", "spam_reason"}
	if err := d.Row(append(header, headings...)); err != nil {
		return err
	}
	for rows.Next() {
		r, err := pgx.RowToStructByName[exportedRow](rows)
		if err != nil {
			return err
		}
		answers := make(map[string]string, len(r.Answers))
		for _, l := range r.Answers {
			answers[definition.ColumnKey(l.Element, l.Target)] = l.Text
		}
		cells := []string{r.ID.String(), r.CreatedAt.Format(time.RFC3339), r.Form, r.Status, r.Contact, r.Organization, r.Page, r.SpamReason}
		for _, key := range keys {
			cells = append(cells, answers[key])
		}
		if err := d.Row(cells); err != nil {
			return err
		}
	}
	return rows.Err()
}
