package contacts

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestASearchIsPlannedForItsWordsHoweverOftenItIsMade(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As("svc_admin")
	admin.Post("/organizations", object{"name": "Bakery Peeters"}).Is(201)
	const often = 12 // the server chooses a plan for any words after five
	for range often {
		require.Len(t, admin.Get("/organizations?search=peet").Is(200).Items(), 1)
		admin.Get("/exports/organizations.csv?search=peet").Is(200)
	}
	searches := 0
	s.OnEach(func(conn *pgxpool.Conn) {
		rows, err := conn.Query(t.Context(), `select statement, generic_plans from pg_prepared_statements where statement like $1`, "%o.search like fold%")
		require.NoError(t, err)
		var statement string
		var generic int
		_, err = pgx.ForEachRow(rows, []any{&statement, &generic}, func() error {
			searches++
			require.Zero(t, generic, statement)
			return nil
		})
		require.NoError(t, err)
	})
	require.NotZero(t, searches)
}
