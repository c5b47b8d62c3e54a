package db_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestArgumentsStandWhereTheirNamesAre(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	for _, n := range []int{1, 2} { // the second time the statement is known
		var sum int
		var text string
		require.NoError(t, d.Pool.QueryRow(t.Context(), `select @n::int + @n::int + @more::int, '@n' || @text::text`,
			db.Args{"text": "a", "n": n, "more": 10, "unused": 0}).Scan(&sum, &text))
		require.Equal(t, 10+2*n, sum)
		require.Equal(t, "@na", text)
	}
	var args pgx.QueryRewriter = db.Args{"n": 1}
	_, _, err := args.RewriteQuery(t.Context(), nil, `select @n::int + @n::int + @more::int, '@n' || @text::text`, nil)
	require.ErrorContains(t, err, "no value for @more")
	_, _, err = args.RewriteQuery(t.Context(), nil, `select @never`, nil)
	require.ErrorContains(t, err, "no value for $1")
}
