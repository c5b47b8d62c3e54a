package db_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestCleaningGoesInSlicesAndWaitsForNoRowThatIsInUse(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `insert into inbox (event, handled_at) select gen_random_uuid(), now() - interval '31 days' from generate_series(1, 1200)`)
	require.NoError(t, err)
	used, err := d.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer used.Rollback(context.Background())
	_, err = used.Exec(t.Context(), `select from inbox limit 1 for update`)
	require.NoError(t, err)
	left := func() int {
		n, err := db.Column[int](t.Context(), d.Pool, `select count(*)::int from inbox`)
		require.NoError(t, err)
		return n[0]
	}
	require.NoError(t, d.Clean(t.Context()))
	require.Equal(t, 1, left())
	require.NoError(t, used.Rollback(t.Context()))
	require.NoError(t, d.Clean(t.Context()))
	require.Zero(t, left())
}
