package db

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lazyTx is a transaction that begins in the round trip of its first statement, which saves one round trip. Without a
// statement it makes none.
type lazyTx struct {
	pgx.Tx // nil before the first statement
	conn   *pgx.Conn
	opts   pgx.TxOptions
}

// first sends statements behind the one that begins the transaction, and reads the result of that one. The caller reads the
// results of rest and closes.
func (l *lazyTx) first(ctx context.Context, rest ...*pgx.QueuedQuery) pgx.BatchResults {
	b := &pgx.Batch{}
	b.BeginTx(l.opts)
	b.QueuedQueries = append(b.QueuedQueries, rest...)
	results := l.conn.SendBatch(ctx, b)
	l.Tx = results.Tx()
	// An error here is also the error of each statement in rest.
	_, _ = results.Exec()
	return results
}

func (l *lazyTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if l.Tx != nil {
		return l.Tx.Exec(ctx, sql, args...)
	}
	results := l.first(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	tag, err := results.Exec()
	return tag, cmp.Or(err, results.Close())
}

func (l *lazyTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if l.Tx != nil {
		return l.Tx.Query(ctx, sql, args...)
	}
	results := l.first(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return rows, err
	}
	return &firstRows{Rows: rows, results: results}, nil
}

func (l *lazyTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if l.Tx != nil {
		return l.Tx.QueryRow(ctx, sql, args...)
	}
	results := l.first(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	return &firstRow{results.QueryRow(), results}
}

func (l *lazyTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if l.Tx != nil {
		return l.Tx.SendBatch(ctx, b)
	}
	return l.first(ctx, b.QueuedQueries...)
}

// begun begins the transaction in a round trip of its own, for operations that cannot share one.
func (l *lazyTx) begun(ctx context.Context) (pgx.Tx, error) {
	if l.Tx != nil {
		return l.Tx, nil
	}
	if err := l.first(ctx).Close(); err != nil {
		return nil, err
	}
	return l.Tx, nil
}

func (l *lazyTx) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := l.begun(ctx)
	if err != nil {
		return nil, err
	}
	return tx.Begin(ctx)
}

func (l *lazyTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, from pgx.CopyFromSource) (int64, error) {
	tx, err := l.begun(ctx)
	if err != nil {
		return 0, err
	}
	return tx.CopyFrom(ctx, table, columns, from)
}

func (l *lazyTx) Conn() *pgx.Conn { return l.conn }

func (l *lazyTx) Commit(ctx context.Context) error {
	if l.Tx == nil {
		return nil
	}
	return l.Tx.Commit(ctx)
}

func (l *lazyTx) Rollback(ctx context.Context) error {
	if l.Tx == nil || l.conn.PgConn().TxStatus() == 'I' {
		return nil
	}
	return l.Tx.Rollback(ctx)
}

// usable reports whether the transaction takes further statements.
func (l *lazyTx) usable() bool { return l.Tx == nil || l.conn.PgConn().TxStatus() == 'T' }

// firstRows are the rows of a transaction's first statement.
type firstRows struct {
	pgx.Rows
	results pgx.BatchResults
}

func (r *firstRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	_ = r.results.Close()
	return false
}

func (r *firstRows) Close() {
	r.Rows.Close()
	_ = r.results.Close()
}

// firstRow is the row of a transaction's first statement.
type firstRow struct {
	row     pgx.Row
	results pgx.BatchResults
}

func (r *firstRow) Scan(into ...any) error {
	return cmp.Or(r.row.Scan(into...), r.results.Close())
}
