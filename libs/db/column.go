package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// queries are made by a transaction, a connection or a pool.
type queries interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Column reads the only column of the rows of a query.
func Column[T any](ctx context.Context, by queries, sql string, args ...any) ([]T, error) {
	return collect(ctx, by, pgx.RowTo[T], sql, args)
}

// Rows reads the rows of a query, column by column under the field's name.
func Rows[T any](ctx context.Context, by queries, sql string, args ...any) ([]T, error) {
	return collect(ctx, by, pgx.RowToStructByName[T], sql, args)
}

func collect[T any](ctx context.Context, by queries, one pgx.RowToFunc[T], sql string, args []any) ([]T, error) {
	rows, err := by.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, one)
}

// One reads the only row of a query as Rows does; pgx.ErrNoRows if the query finds none.
func One[T any](ctx context.Context, by queries, sql string, args ...any) (found T, err error) {
	rows, err := by.Query(ctx, sql, args...)
	if err != nil {
		return found, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// Find is One that fails with missing if the query finds no row.
func Find[T any](ctx context.Context, by queries, missing error, sql string, args ...any) (T, error) {
	found, err := One[T](ctx, by, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, missing
	}
	if err != nil {
		return found, fmt.Errorf("read or change a %T: %w", found, err)
	}
	return found, nil
}
