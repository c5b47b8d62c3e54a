package forms

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

type exportedSubmissions struct {
	Form      int64        `json:"form,omitempty" minimum:"1" doc:"One form; all when left out."`
	Status    string       `json:"status,omitempty" enum:"received,spam"`
	Separator op.Separator `json:"separator,omitempty"`
}

// column is one answer that a form asks for, in any of its versions.
type column struct{ Key, Label string }

// exportSubmissions writes the submissions that the actor may see, newest first, with a column for each answer
// that any version of the forms asks for.
func exportSubmissions(ctx context.Context, tx *db.Tx, in exportedSubmissions, d *op.Download) error {
	w := where{}
	w.own(tx)
	if in.Form != 0 {
		w.and("s.form_id = ?", in.Form)
	}
	if in.Status != "" {
		w.and("s.status = ?", in.Status)
	}
	columns, err := columnsOf(ctx, tx, in.Form)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `select s.id, s.created_at, f.name, s.status, coalesce(c.name, ''), coalesce(o.name, ''), s.page, coalesce(s.spam_reason, ''), s.answers`+
		submissionFrom+` where `+w.String()+` order by s.created_at desc, s.id desc`, w.args...)
	if err != nil {
		return err
	}
	defer rows.Close()

	d.Start("submissions.csv", in.Separator)
	header := []string{"id", "created_at", "form", "status", "contact", "organization", "page", "spam_reason"}
	if err := d.Row(append(header, headings(columns)...)); err != nil {
		return err
	}
	for rows.Next() {
		var id uuid.UUID
		var at time.Time
		var form, status, contact, organization, page, reason string
		var lines []line
		if err := rows.Scan(&id, &at, &form, &status, &contact, &organization, &page, &reason, &lines); err != nil {
			return err
		}
		answers := make(map[string]string, len(lines))
		for _, l := range lines {
			answers[columnKey(l.Element, l.Target)] = l.Text
		}
		cells := []string{id.String(), at.Format(time.RFC3339), form, status, contact, organization, page, reason}
		for _, c := range columns {
			cells = append(cells, answers[c.Key])
		}
		if err := d.Row(cells); err != nil {
			return err
		}
	}
	return rows.Err()
}

// columnsOf are the columns of one form, or of all with 0, in the order in which they first came up.
func columnsOf(ctx context.Context, tx *db.Tx, form int64) ([]column, error) {
	rows, err := tx.Query(ctx, `select key, (array_agg(label order by seq desc))[1] from form_column
		where $1 = 0 or form_id = $1 group by key order by min(seq)`, form)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[column])
}

// headings are the labels, with the key behind those that stand there twice.
func headings(columns []column) []string {
	times := map[string]int{}
	for _, c := range columns {
		times[c.Label]++
	}
	out := make([]string, len(columns))
	for i, c := range columns {
		if out[i] = c.Label; times[c.Label] > 1 {
			out[i] += " (" + c.Key + ")"
		}
	}
	return out
}
