package settings

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Anybody may register a program. Those that nobody ever used give way, so that whoever registers thousands keeps nobody out.
func TestARegistrationThatNobodyUsedGivesWayWhenAllPlacesAreTaken(t *testing.T) {
	t.Parallel()
	const most = 5000
	s := start(t)
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into assistant (id, name, redirect_uris, created_at, used_at)
		select gen_random_uuid(), 'program ' || n, array['https://assistant.example/callback'], now() - n * interval '1 second', case when n > 2 then now() end
		from generate_series(1, $1::int) n`, most)
	require.NoError(t, err)
	register := func() int {
		res, err := http.Post(s.URL+"/oauth/register", "application/json", strings.NewReader(`{"client_name":"New","redirect_uris":["https://new.example/callback"]}`))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	names := func() (unused []string) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select coalesce(array_agg(name order by created_at), '{}') from assistant where used_at is null`).Scan(&unused))
		return unused
	}
	require.Equal(t, []string{"program 2", "program 1"}, names())
	require.Equal(t, 201, register())
	require.Equal(t, []string{"program 1", "New"}, names(), "the oldest that nobody used is gone")
	var all int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from assistant`).Scan(&all))
	require.Equal(t, most, all)

	_, err = s.Kit.DB.Pool.Exec(t.Context(), `update assistant set used_at = now()`)
	require.NoError(t, err)
	require.Equal(t, 503, register(), fmt.Sprint("people have connected with all ", most))
}
