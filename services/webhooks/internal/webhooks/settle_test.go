package webhooks

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

// refuse makes the database refuse a statement about rows that a condition selects.
func (r *running) refuse(table, operation, condition string) {
	r.t.Helper()
	for _, q := range []string{`create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`,
		`create trigger refuse before ` + operation + ` on ` + table + ` for each row when (` + condition + `) execute function refuse()`} {
		_, err := r.DB.Pool.Exec(context.Background(), q)
		require.NoError(r.t, err)
	}
}

func TestAResultThatTheDatabaseRefusesDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	r.answers(func(n int, _ request) (int, string) {
		if n == 3 {
			return 200, "poison"
		}
		return 200, "fine"
	})
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	s.refuse("attempt", "insert", `new.response_body = 'poison'`)
	for range 10 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		delivered := 0
		for _, d := range s.rows(id) {
			if d.Status == statusDelivered {
				delivered++
			}
		}
		return delivered == 10
	})
	require.Len(t, r.all(), 10, "none was sent twice")
}

func TestADeliveryWithoutAResultIsNotSentEveryFewSeconds(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	bad := uuid.NewString()
	s.refuse("delivery", "update", `new.record = '`+bad+`'`)
	s.contact(proto.KindContactCreated, bad, 1)
	for range 5 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		delivered := 0
		for _, d := range s.rows(id) {
			if d.Status == statusDelivered {
				delivered++
			}
		}
		return delivered == 5
	})
	s.Eventually(func() bool {
		var held bool
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select exists (select from lease where until > now() + interval '30 minutes')`).Scan(&held))
		return held
	})
	s.wakeAll()
	s.idle()
	require.Len(t, r.all(), 6)
}
