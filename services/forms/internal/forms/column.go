package forms

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/form"
)

// column is the column of one question, over all versions of the forms that ask it.
type column struct{ Key, Label string }

// columnsOf reads the columns of one form, or of all with 0, in the order in which they were first asked.
func columnsOf(ctx context.Context, tx *db.Tx, form int64) ([]column, error) {
	rows, err := tx.Query(ctx, `select key, (array_agg(label order by seq desc))[1] as label from form_column
		where $1::bigint = 0 or form_id = $1 group by key order by min(seq)`, form)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[column])
}

// headings are the labels of columns, with the key behind a label that two columns have.
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

// addColumns adds the questions of a form to the columns of its export, under their newest label.
func (s *service) addColumns(ctx context.Context, tx *db.Tx, f Form) error {
	var keys, labels []string
	for _, q := range form.Ask(f.Definition.Elements, s.fields.named()) {
		if q.Asked() {
			keys, labels = append(keys, columnKey(q.ID, q.Target)), append(labels, q.Caption())
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

// columnKey is the same for answers of two versions of a form, or of two forms, that stand in one column.
func columnKey(element, target string) string {
	if target == "" {
		return "consent:" + element
	}
	return target
}
