package form

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/services/forms/internal/definition"
)

// column is the column of one question, over all versions of the forms that ask it.
type column struct{ Key, Label string }

// Columns are those of an export of one form, or of all with 0, in the order in which they were first asked: the key of each, see
// definition.ColumnKey, and its heading. A heading is the newest label, with the key behind one that two columns have.
func (*Room) Columns(ctx context.Context, tx *db.Tx, form int64) (keys, headings []string, err error) {
	rows, err := tx.Query(ctx, `select key, (array_agg(label order by seq desc))[1] as label from form_column
		where $1::bigint = 0 or form_id = $1 group by key order by min(seq)`, form)
	if err != nil {
		return nil, nil, err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByName[column])
	times := map[string]int{}
	for _, c := range columns {
		times[c.Label]++
	}
	for _, c := range columns {
		heading := c.Label
		if times[c.Label] > 1 {
			heading += " (" + c.Key + ")"
		}
		keys, headings = append(keys, c.Key), append(headings, heading)
	}
	return keys, headings, err
}

// addColumns adds the questions of a form to the columns of its export, under their newest label.
func (r *Room) addColumns(ctx context.Context, tx *db.Tx, f Form) error {
	var keys, labels []string
	for _, q := range form.Ask(f.Definition.Elements, r.fields.named()) {
		if q.Asked() {
			keys, labels = append(keys, definition.ColumnKey(q.ID, q.Target)), append(labels, q.Caption())
		}
	}
	_, err := tx.Exec(ctx, `insert into form_column (form_id, key, label)
		select $1, k, l from unnest($2::text[], $3::text[]) with ordinality as u (k, l, n) order by n
		on conflict (form_id, key) do update set label = excluded.label`, f.ID, keys, labels)
	if err != nil {
		return fmt.Errorf("columns of form %d: %w", f.ID, err)
	}
	return nil
}
