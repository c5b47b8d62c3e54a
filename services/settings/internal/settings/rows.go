package settings

import (
	"context"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// one reads the only row of a query into a T, column by column under the field's name; pgx.ErrNoRows if the query finds no row.
func one[T any](ctx context.Context, tx *db.Tx, sql string, args ...any) (T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// many is one for any number of rows.
func many[T any](ctx context.Context, tx *db.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}
