package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Analyze takes the statistics of tables that have twice as many rows as the last ones say, and some hundred. PostgreSQL does so by itself only
// every minute. Until then it plans for an empty table, where each index that may be used seems as good as the one that finds the row: with
// thousands of submissions pending, it read all of them to find one by its id. Tables whose rows come and go are left to PostgreSQL: an
// almost empty one seems best read whole, however much of what is gone stands in it. Replicas may do it at the same time.
func (d *DB) Analyze(ctx context.Context) error {
	tables, err := Column[string](ctx, d.Pool, `select s.relname from pg_stat_user_tables s join pg_class c on c.oid = s.relid
		where s.schemaname = $1 and s.n_live_tup > greatest(500, 2 * c.reltuples) order by s.relname`, d.Schema)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := d.Pool.Exec(ctx, `analyze (skip_locked) `+pgx.Identifier{d.Schema, t}.Sanitize()); err != nil {
			return fmt.Errorf("take the statistics of %s: %w", t, err)
		}
	}
	return nil
}
