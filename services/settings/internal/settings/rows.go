package settings

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
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

// number is the id of a user or page as events and the audit log have it.
func number(id int64) string { return strconv.FormatInt(id, 10) }

// unlessRefused is nil for a fault, which another attempt would meet again, and err for everything else.
func unlessRefused(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}
