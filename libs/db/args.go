package db

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Args are the arguments of a statement by their names, as pgx.NamedArgs are: @name stands in the statement. One without a value is an error, not NULL.
// A statement is read for its names once in the life of a process, because that takes longer than all the rest that the process does to send it.
type Args map[string]any

type namedStatement struct {
	sql   string // with positions for names
	names []any  // by position
}

// namedStatements are those that were read, by their text. Statements are constants, or put together of constants in a few ways.
var namedStatements sync.Map

// RewriteQuery is for pgx, which calls it with Args that are the first argument of a statement.
func (a Args) RewriteQuery(ctx context.Context, conn *pgx.Conn, sql string, _ []any) (string, []any, error) {
	known, ok := namedStatements.Load(sql)
	if !ok {
		names := make(pgx.NamedArgs, len(a))
		for name := range a {
			names[name] = name
		}
		var s namedStatement
		var err error
		if s.sql, s.names, err = names.RewriteQuery(ctx, conn, sql, nil); err != nil {
			return "", nil, err
		}
		for i, name := range s.names {
			if name == nil {
				return "", nil, fmt.Errorf("db: no value for $%d of %s", i+1, s.sql)
			}
		}
		known, _ = namedStatements.LoadOrStore(sql, s)
	}
	s := known.(namedStatement)
	args := make([]any, len(s.names))
	for i, name := range s.names {
		if args[i], ok = a[name.(string)]; !ok {
			return "", nil, fmt.Errorf("db: no value for @%s of %s", name, sql)
		}
	}
	return s.sql, args, nil
}
