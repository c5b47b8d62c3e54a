package engine

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

// refuse makes the database refuse a statement about rows that a condition selects.
func (r *running) refuse(t *testing.T, table, operation, condition string) {
	t.Helper()
	for _, q := range []string{`create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`,
		`create trigger refuse before ` + operation + ` on ` + table + ` for each row when (` + condition + `) execute function refuse()`} {
		_, err := r.DB.Pool.Exec(context.Background(), q)
		require.NoError(t, err)
	}
}

func TestAResultThatTheDatabaseRefusesDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	r.Answers(func(n int, _ webhookstest.Request) (int, string) {
		if n == 3 {
			return 200, "poison"
		}
		return 200, "fine"
	})
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	s.refuse(t, "attempt", "insert", `new.response_body = 'poison'`)
	for range 10 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		delivered := 0
		for _, d := range s.Rows(id) {
			if d.Status == "delivered" {
				delivered++
			}
		}
		return delivered == 10
	})
	require.Len(t, r.All(), 10, "none was sent twice")
}

func TestADeliveryWithoutAResultIsNotSentEveryFewSeconds(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	bad := uuid.NewString()
	s.refuse(t, "delivery", "update", `new.record = '`+bad+`'`)
	s.Contact(proto.KindContactCreated, bad, 1)
	for range 5 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool {
		delivered := 0
		for _, d := range s.Rows(id) {
			if d.Status == "delivered" {
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
	s.wakeAll(t)
	s.idle()
	require.Len(t, r.All(), 6)
}
