package db

import (
	"context"
	"fmt"
)

// CountRows returns how many rows of a table there are with this key, from row_count: in the time of a few rows however long the table
// is. The table has the triggers of count_rows. Each of key allows the values of one part of the key, an empty one all of them.
func (tx *Tx) CountRows(ctx context.Context, table string, key ...[]string) (n int64, err error) {
	var w Where
	w.And("counted = ?", table)
	for i, values := range key {
		if len(values) > 0 {
			w.And(fmt.Sprintf("key[%d] = any(?)", i+1), values)
		}
	}
	if err := tx.QueryRow(ctx, `select coalesce(sum(n), 0)::bigint from row_count where `+w.String(), w.Args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the rows of %s: %w", table, err)
	}
	return n, nil
}

// Only is one part of the key of CountRows: the value alone, or all values if it is empty.
func Only(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// AddUpCounts replaces the changes in row_count by one row per table and key. Replicas may do it at the same time.
func (d *DB) AddUpCounts(ctx context.Context) error {
	return d.Do(ctx, func(tx *Tx) error {
		var grown bool
		err := tx.QueryRow(ctx, `select count(*) > count(distinct (counted, key)) from row_count`).Scan(&grown)
		if err != nil || !grown {
			return err
		}
		_, err = tx.Exec(ctx, `with lines as (delete from row_count returning *)
			insert into row_count select counted, key, sum(n) from lines group by counted, key having sum(n) <> 0`)
		return err
	})
}
