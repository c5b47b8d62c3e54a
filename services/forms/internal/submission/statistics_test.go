package submission

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSubmissionsAreCountedByWeek(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As("site_admin")
	form := admin.Post("/forms", `{"name":"Contact","template":"contact"}`).Is(201).Field("id")
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `insert into submission (id, form_id, status, result, values, answers, page, email, created_at)
		select gen_random_uuid(), $1, case when n > 2 then 'spam' else 'received' end, 'none', '{}', '[]', '', '', $2::timestamptz - interval '7 days' from generate_series(1, 3) n`, form, s.Now())
	require.NoError(t, err)
	a := admin.Get("/statistics/submissions?weeks=2").Is(200)
	require.Equal(t, []any{2.0, 1.0, 0.0}, []any{a.Field("weeks.0.received"), a.Field("weeks.0.spam"), a.Field("weeks.1.received")})
	require.Equal(t, 0.0, admin.Get("/statistics/submissions?weeks=2&form=999").Is(200).Field("weeks.0.received"))
	require.Equal(t, 0.0, s.As("staff").Get("/statistics/submissions?weeks=2").Is(200).Field("weeks.0.received"), "their own")
}
