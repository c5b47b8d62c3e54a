// Package row reads rows of tables into structs, column by column, and says what a missing one means.
package row

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// One reads the only row of a query into a T, column by column under the field's name; pgx.ErrNoRows if the query finds no row.
func One[T any](ctx context.Context, tx *db.Tx, sql string, args ...any) (T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// Find is One that fails with missing if the query finds no row.
func Find[T any](ctx context.Context, tx *db.Tx, missing error, sql string, args ...any) (T, error) {
	found, err := One[T](ctx, tx, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, missing
	}
	if err != nil {
		return found, fmt.Errorf("read or change a %T: %w", found, err)
	}
	return found, nil
}

// Each calls f with the rows of a query.
func Each[T any](ctx context.Context, tx *db.Tx, f func(T) error, sql string, args ...any) error {
	all, err := db.Rows[T](ctx, tx, sql, args...)
	if err != nil {
		return fmt.Errorf("read %T: %w", all, err)
	}
	for _, one := range all {
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

// Key is the id of a user or page as events and the audit log have it.
func Key(id int64) string { return strconv.FormatInt(id, 10) }

// UnlessRefused is nil for a fault, which another attempt would meet again, and err for everything else.
func UnlessRefused(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}
