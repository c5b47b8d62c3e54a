package webhooks

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/until"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
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

// replay queues deliveries of the last hours again and answers with how many.
func (r *running) replay(c *apptest.Client, webhook string, body map[string]any) int {
	r.t.Helper()
	return int(c.Post("/webhooks/"+webhook+"/replay", body).Is(202).Field("queued").(float64))
}

func (r *running) lastHour() map[string]any {
	return period(r.Now().Add(-time.Hour), r.Now().Add(time.Hour))
}

func TestAPeriodIsSentAgainUnderItsIDsAndMarked(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated, proto.KindContactUpdated)
	r.answers(func(_ int, q request) (int, string) {
		if q.json().Event == proto.KindContactUpdated {
			return 410, "x"
		}
		return 200, "x"
	})
	for range 5 {
		key := uuid.NewString()
		s.contact(proto.KindContactCreated, key, 1)
		s.contact(proto.KindContactUpdated, key, 2)
	}
	s.Eventually(func() bool { return len(r.all()) == 10 })
	s.idle()
	admin.Post("/webhooks/"+id+"/test", nil).Is(200)
	// The five that wait for their retry go out anyway, the test never again.
	require.Equal(t, 5, s.replay(admin, id, s.lastHour()))
	s.Eventually(func() bool { return len(r.all()) == 16 })
	s.idle()
	times := map[string]int{}
	for _, q := range r.all() {
		times[q.header.Get("webhook-id")+" "+q.header.Get("X-Svc-Delivery")+" "+q.json().Event]++
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
	require.Equal(t, s.count(`select count(*) from delivery`), s.count(`select sum(n)::int from tally`))
	require.Equal(t, 6, s.count(`select sum(n)::int from tally where status = 'delivered'`), "five and the test")

	require.Equal(t, 0, s.replay(admin, id, with(s.lastHour(), "status", "failed")))
	require.Equal(t, 0, s.replay(admin, id, period(s.Now().Add(-48*time.Hour), s.Now().Add(-time.Hour))))
	require.Equal(t, 0, s.replay(admin, id, with(s.lastHour(), "events", []string{proto.KindContactDeleted})))
	require.Equal(t, 5, s.replay(admin, id, with(s.lastHour(), "events", []string{proto.KindContactCreated})))
}

func TestAReplayAndANewSecretKeepWithinTheirBounds(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("what a replay refuses", func(t *testing.T) {
		s := s.in(t)
		id, _ := s.subscribe(admin, "https://example.com/", proto.KindContactCreated)
		path := "/webhooks/" + id + "/replay"
		good := s.lastHour()
		for name, body := range map[string]map[string]any{
			"nothing": {}, "no end": {"from": good["from"]}, "no time": with(good, "from", "yesterday"), "backwards": {"from": good["to"], "to": good["from"]},
			"an empty period": with(good, "to", good["from"]), "a status that waits": with(good, "status", "queued"), "an unknown event": with(good, "events", []string{"webhook.test"}),
			"an unknown field": with(good, "all", true),
		} {
			t.Run(name, func(*testing.T) { admin.Post(path, body).Fails(400, "svc_invalid_param") })
		}
		admin.Post("/webhooks/"+uuid.NewString()+"/replay", good).Fails(404, "svc_not_found")

		fill := func(n int) {
			_, err := s.DB.Pool.Exec(t.Context(), `
			with told as (
				insert into message (id, event, record, payload, created_at)
				select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{}', $2 from generate_series(1, $3) returning id, record
			), counted as (insert into tally values ($1, 'delivered', $3))
			insert into delivery (id, webhook, message, record, status, created_at) select id, $1, id, record, 'delivered', $2 from told`, id, s.Now(), n)
			require.NoError(t, err)
		}
		fill(replayMax + 1)
		admin.Post(path, good).Fails(400, "svc_invalid_param")
		require.Zero(t, s.count(`select count(*) from delivery where status = 'queued'`))

		admin.Patch("/webhooks/"+id, map[string]any{"active": false}).Is(200)
		require.Equal(t, "off", admin.Post(path, good).Fails(409, "svc_conflict").Text("data.reason"))
		admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
		for _, reason := range []string{pausedFailures, pausedSecret} {
			s.pauses(id, reason)
			require.Equal(t, "paused", admin.Post(path, good).Fails(409, "svc_conflict").Text("data.reason"))
		}
		require.Zero(t, s.count(`select count(*) from delivery where replayed_at is not null`))
	})
	t.Run("a replay under one key is one", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		for range 8 {
			s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		}
		s.Eventually(func() bool { return len(r.all()) == 8 })
		s.idle()
		keyed, body := admin.With("Idempotency-Key", "once"), s.lastHour()
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
		s.Eventually(func() bool { return len(r.all()) == 16 })
		s.idle()
		require.Len(t, r.all(), 16)
		require.Len(t, s.Audited("replay-webhook"), 1)
	})
	t.Run("a secret that cannot be read is not kept", func(t *testing.T) {
		s := s.in(t)
		id, _ := s.subscribe(admin, "https://example.com/", proto.KindContactCreated)
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set secret = $2 where id = $1`, id, app.NewKeys(app.Config{MasterKey: "another"}).Seal(purposeOf(id), []byte("x")))
		require.NoError(t, err)
		require.Nil(t, admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200).Field("webhook.old_secret_until"))
	})
	t.Run("the old secret is valid for a day if that is asked for", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, first := s.subscribe(admin, r.URL, proto.KindContactCreated)
		accepted := func(secret string, q request) bool {
			t.Helper()
			receiver, err := standardwebhooks.NewWebhook(secret)
			require.NoError(t, err)
			return receiver.VerifyIgnoringTimestamp([]byte(q.body), q.header) == nil
		}
		next := func() request {
			t.Helper()
			before := len(r.all())
			s.contact(proto.KindContactCreated, uuid.NewString(), 1)
			s.Eventually(func() bool { return len(r.all()) == before+1 })
			return r.all()[before]
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
		_, err = fmt.Sscanf(got.header.Get("X-Svc-Signature"), "t=%d,", &at)
		require.NoError(t, err)
		require.Equal(t, signature.Svc(second, time.Unix(at, 0), []byte(got.body)), got.header.Get("X-Svc-Signature"))
		test := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", test.Text("status"))
		require.True(t, accepted(first, r.all()[len(r.all())-1]), "tests are signed with both too")

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
		require.Equal(t, 1, s.count(`select count(*) from webhook where old_secret is not null`))
		require.NoError(t, s.expire(t.Context()))
		require.Zero(t, s.count(`select count(*) from webhook where old_secret is not null`))

		// Without keep_old the old one ends at once, also one that was kept before.
		admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200)
		last := admin.Post("/webhooks/"+id+"/secret", nil).Is(200)
		require.Nil(t, last.Field("webhook.old_secret_until"))
		got = next()
		require.True(t, accepted(last.Text("secret"), got) && !accepted(third, got))
		require.NotContains(t, got.header.Get("webhook-signature"), " ")
	})
	t.Run("a failed delivery that is replayed has its whole schedule again", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		r.says(500)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		begin := s.Now()
		fail := func(attempts int) {
			for s.rows(id)[0].Status != statusFailed {
				d := s.rows(id)[0]
				if d.Next != nil {
					s.reaches(*d.Next)
				}
				s.wakeAll()
				s.Eventually(func() bool { return s.rows(id)[0].Attempts > d.Attempts })
				s.idle()
			}
			require.Equal(t, attempts, s.rows(id)[0].Attempts)
		}
		s.Eventually(func() bool { return len(s.rows(id)) == 1 })
		fail(6)
		require.Equal(t, 1, s.replay(admin, id, with(period(begin.Add(-time.Minute), begin.Add(time.Minute)), "status", "failed")))
		s.Eventually(func() bool { return s.rows(id)[0].Attempts == 7 })
		s.idle()
		require.Equal(t, statusRetrying, s.rows(id)[0].Status)
		fail(12)
	})
}

// In whatever order they run, the log's sums equal its rows, and every delivery ends as it was asked to.
func TestReplaysResendsAndResultsMeet(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := listen(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	const events, rounds = 6, 12
	for range events {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool { return len(r.all()) == events })
	s.idle()
	rows := s.rows(id)
	body, statuses := s.lastHour(), make(chan int, 2*rounds)
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
	s.Eventually(func() bool { return s.count(`select count(*) from delivery where status = 'delivered'`) == events })
	s.idle()
	require.Equal(t, events, s.count(`select sum(n)::int from tally where status = 'delivered'`))
	require.Equal(t, 0, s.count(`select coalesce(sum(n), 0)::int from tally where status <> 'delivered'`))
	require.Zero(t, s.count(`select count(*) from lease`))
}

func TestKilledInTheMiddleOfAReplayNothingIsLost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.lease = 3 * time.Second
	r := listen(t)
	id, _ := s.subscribe(r.URL, proto.KindContactCreated)
	const events = 400
	ids := s.publish(events)
	first := s.process()
	until.Holds(t, func() bool { return s.unsettled(events) == 0 }, time.Minute, 20*time.Millisecond)
	now := time.Now()
	var done Replayed
	require.NoError(t, s.pool.Do(t.Context(), func(tx *db.Tx) (err error) {
		done, err = replayDeliveries(t.Context(), tx, replay{ID: id, From: now.Add(-time.Hour), To: now.Add(time.Hour)})
		return err
	}))
	require.Equal(t, events, done.Queued)
	until.Holds(t, func() bool { return len(r.all()) > events+events/4 }, time.Minute, time.Millisecond)
	kill(t, first)
	s.process()
	until.Holds(t, func() bool { return s.unsettled(events) == 0 }, time.Minute, 20*time.Millisecond)
	repeats, n := 0, r.times(t)
	for _, event := range ids {
		require.GreaterOrEqual(t, n["evt_"+event], 2)
		repeats += n["evt_"+event] - 2
	}
	require.LessOrEqual(t, repeats, laneMax)
	var sum int
	require.NoError(t, s.pool.Pool.QueryRow(t.Context(), `select sum(n) from tally where status = 'delivered'`).Scan(&sum))
	require.Equal(t, events, sum)
}
