package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Column reads the only column of the rows of a query.
func Column[T any](ctx context.Context, tx *Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}
