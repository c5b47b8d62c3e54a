package engine

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
	"frontdesk/services/webhooks/webhookstest"
)

func period(from, to time.Time) map[string]any {
	return map[string]any{"from": from.Format(time.RFC3339), "to": to.Format(time.RFC3339)}
}

// with is body and one more value.
func with(body map[string]any, name string, value any) map[string]any {
	more := maps.Clone(body)
	more[name] = value
	return more
}

func lastHour(s *webhookstest.Service) map[string]any {
	return period(s.Now().Add(-time.Hour), s.Now().Add(time.Hour))
}

// replay queues deliveries of the last hours again and answers with how many.
func (r *running) replay(c *apptest.Client, webhook string, body map[string]any) int {
	return int(c.Post("/webhooks/"+webhook+"/replay", body).Is(202).Field("queued").(float64))
}

func TestAPeriodIsSentAgainUnderItsIDsAndMarked(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated, proto.KindContactUpdated)
	r.Answers(func(_ int, q webhookstest.Request) (int, string) {
		if q.JSON().Event == proto.KindContactUpdated {
			return 410, "x"
		}
		return 200, "x"
	})
	for range 5 {
		key := uuid.NewString()
		s.Contact(proto.KindContactCreated, key, 1)
		s.Contact(proto.KindContactUpdated, key, 2)
	}
	s.Eventually(func() bool { return len(r.All()) == 10 })
	s.idle()
	admin.Post("/webhooks/"+id+"/test", nil).Is(200)
	// The five that wait for their retry go out anyway, the test never again.
	require.Equal(t, 5, s.replay(admin, id, lastHour(s.Service)))
	s.Eventually(func() bool { return len(r.All()) == 16 })
	s.idle()
	times := map[string]int{}
	for _, q := range r.All() {
		times[q.Header.Get("webhook-id")+" "+q.Header.Get("X-Svc-Delivery")+" "+q.JSON().Event]++
	}
	twice := 0
	for _, n := range times {
		if n == 2 {
			twice++
		}
	}
	require.Equal(t, 5, twice, "the same event under the same delivery: %v", times)
	for _, d := range admin.Get("/webhooks/" + id + "/deliveries").Is(200).Items() {
		replayed := d["event"] == proto.KindContactCreated
		require.Equal(t, replayed, d["replayed_at"] != nil, d)
		if replayed {
			require.EqualValues(t, 2, d["attempts"])
			require.Equal(t, "delivered", d["status"])
		}
	}
	require.Equal(t, s.Count(`select count(*) from delivery`), s.Count(`select sum(n)::int from tally`))
	require.Equal(t, 6, s.Count(`select sum(n)::int from tally where status = 'delivered'`), "five and the test")

	require.Equal(t, 0, s.replay(admin, id, with(lastHour(s.Service), "status", "failed")))
	require.Equal(t, 0, s.replay(admin, id, period(s.Now().Add(-48*time.Hour), s.Now().Add(-time.Hour))))
	require.Equal(t, 0, s.replay(admin, id, with(lastHour(s.Service), "events", []string{proto.KindContactDeleted})))
	require.Equal(t, 5, s.replay(admin, id, with(lastHour(s.Service), "events", []string{proto.KindContactCreated})))
}

func TestAReplayAndANewSecretKeepWithinTheirBounds(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a replay under one key is one", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		for range 8 {
			s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		}
		s.Eventually(func() bool { return len(r.All()) == 8 })
		s.idle()
		keyed, body := admin.With("Idempotency-Key", "once"), lastHour(s.Service)
		answers := make([]apptest.Answer, 6)
		var calls sync.WaitGroup
		for i := range answers {
			calls.Go(func() { answers[i] = *keyed.Post("/webhooks/"+id+"/replay", body) })
		}
		calls.Wait()
		for _, a := range answers {
			require.Equal(t, 202, a.Status, a.Body)
			require.EqualValues(t, 8, a.Field("queued"))
		}
		s.Eventually(func() bool { return len(r.All()) == 16 })
		s.idle()
		require.Len(t, r.All(), 16)
		require.Len(t, s.Audited("replay-webhook"), 1)
	})
	t.Run("the old secret is valid for a day if that is asked for", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, first := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		accepted := func(secret string, q webhookstest.Request) bool {
			t.Helper()
			receiver, err := standardwebhooks.NewWebhook(secret)
			require.NoError(t, err)
			return receiver.VerifyIgnoringTimestamp([]byte(q.Body), q.Header) == nil
		}
		next := func() webhookstest.Request {
			t.Helper()
			before := len(r.All())
			s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
			s.Eventually(func() bool { return len(r.All()) == before+1 })
			return r.All()[before]
		}
		made := admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200)
		second, ends := made.Text("secret"), made.Text("webhook.old_secret_until")
		until, err := time.Parse(time.RFC3339, ends)
		require.NoError(t, err)
		require.InDelta(t, 24*time.Hour, until.Sub(s.Now()), float64(time.Minute))
		require.Equal(t, ends, admin.Get("/webhooks/"+id).Text("old_secret_until"))
		require.Equal(t, ends, admin.Get("/webhooks").Text("items.0.old_secret_until"))
		got := next()
		require.True(t, accepted(first, got) && accepted(second, got))
		var at int64
		_, err = fmt.Sscanf(got.Header.Get("X-Svc-Signature"), "t=%d,", &at)
		require.NoError(t, err)
		require.Equal(t, signature.Svc(second, time.Unix(at, 0), []byte(got.Body)), got.Header.Get("X-Svc-Signature"))
		test := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", test.Text("status"))
		require.True(t, accepted(first, r.All()[len(r.All())-1]), "tests are signed with both too")

		// A third one ends the first, and the second is the old one.
		third := admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200).Text("secret")
		got = next()
		require.True(t, !accepted(first, got) && accepted(second, got) && accepted(third, got))

		s.Travel(24*time.Hour + time.Second)
		got = next()
		if accepted(second, got) {
			got = next() // the claim had read the clock before and waited for the last result
		}
		require.True(t, !accepted(second, got) && accepted(third, got))
		require.Nil(t, admin.Get("/webhooks/"+id).Field("old_secret_until"))
		require.Equal(t, 1, s.Count(`select count(*) from webhook where old_secret is not null`))
		require.NoError(t, s.room.endpoints.Expire(t.Context()))
		require.Zero(t, s.Count(`select count(*) from webhook where old_secret is not null`))

		// Without keep_old the old one ends at once, also one that was kept before.
		admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200)
		last := admin.Post("/webhooks/"+id+"/secret", nil).Is(200)
		require.Nil(t, last.Field("webhook.old_secret_until"))
		got = next()
		require.True(t, accepted(last.Text("secret"), got) && !accepted(third, got))
		require.NotContains(t, got.Header.Get("webhook-signature"), " ")
	})
	t.Run("a failed delivery that is replayed has its whole schedule again", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		r.Says(500)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		begin := s.Now()
		fail := func(attempts int) {
			for s.Rows(id)[0].Status != "failed" {
				d := s.Rows(id)[0]
				if d.Next != nil {
					s.reaches(*d.Next)
				}
				s.wakeAll(t)
				s.Eventually(func() bool { return s.Rows(id)[0].Attempts > d.Attempts })
				s.idle()
			}
			require.Equal(t, attempts, s.Rows(id)[0].Attempts)
		}
		s.Eventually(func() bool { return len(s.Rows(id)) == 1 })
		fail(6)
		require.Equal(t, 1, s.replay(admin, id, with(period(begin.Add(-time.Minute), begin.Add(time.Minute)), "status", "failed")))
		s.Eventually(func() bool { return s.Rows(id)[0].Attempts == 7 })
		s.idle()
		require.Equal(t, "retrying", s.Rows(id)[0].Status)
		fail(12)
	})
}

// In whatever order they run, the log's sums equal its rows, and every delivery ends as it was asked to.
func TestReplaysResendsAndResultsMeet(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := webhookstest.Listen(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	const events, rounds = 6, 12
	for range events {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool { return len(r.All()) == events })
	s.idle()
	rows := s.Rows(id)
	body, statuses := lastHour(s.Service), make(chan int, 2*rounds)
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			for range rounds / 2 {
				statuses <- admin.Post("/webhooks/"+id+"/replay", body).Status
			}
		})
	}
	for n := range rounds {
		calls.Go(func() {
			statuses <- admin.Post(fmt.Sprintf("/webhook-deliveries/%s/resend", rows[n%events].ID), nil).Status
		})
	}
	calls.Wait()
	close(statuses)
	for status := range statuses {
		require.Contains(t, []int{200, 202}, status)
	}
	s.Eventually(func() bool { return s.Count(`select count(*) from delivery where status = 'delivered'`) == events })
	s.idle()
	require.Equal(t, events, s.Count(`select sum(n)::int from tally where status = 'delivered'`))
	require.Equal(t, 0, s.Count(`select coalesce(sum(n), 0)::int from tally where status <> 'delivered'`))
	require.Zero(t, s.Count(`select count(*) from lease`))
}
