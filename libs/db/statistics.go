package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Analyze takes the statistics of tables of which more than half, and some hundred rows, are newer than the last ones. PostgreSQL does
// so by itself only every minute. Until then it plans for an empty table, where each index that may be used seems as good as the
// one that finds the row: with thousands of submissions pending, it read all of them to find one by its id. A table is analyzed once a minute at
// most, and not while it is being vacuumed. Replicas may do it at the same time.
func (d *DB) Analyze(ctx context.Context) error {
	rows, err := d.Pool.Query(ctx, `select relname from pg_stat_user_tables where schemaname = $1 and n_mod_since_analyze > greatest(200, n_live_tup / 2)
		and coalesce(greatest(last_analyze, last_autoanalyze), '-infinity') < now() - interval '1 minute' order by relname`, d.Schema)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
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
