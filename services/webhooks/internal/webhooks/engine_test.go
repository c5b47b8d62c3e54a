package webhooks

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/freeport"
	"frontdesk/proto"
)

// row is what the database says of a delivery, to the microsecond.
type row struct {
	ID       uuid.UUID
	Status   string
	Attempts int
	Next     *time.Time
	LastAt   *time.Time
	LastTook *int
}

func (r *running) rows(webhook string) []row {
	r.t.Helper()
	rows, err := r.DB.Pool.Query(context.Background(), `select d.id, d.status, d.attempts, d.next_attempt_at, a.at, a.duration_ms
		from delivery d left join attempt a on a.message = d.message and a.delivery = d.id and a.number = d.attempts where d.webhook = $1 order by d.seq`, webhook)
	require.NoError(r.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(r.t, err)
	return all
}

// idle waits until nothing is in flight and nothing is claimed.
func (r *running) idle() {
	r.t.Helper()
	r.Eventually(func() bool {
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		for _, l := range r.engine.lanes {
			if l.inFlight > 0 || l.dispatching {
				return false
			}
		}
		return true
	})
}

// reaches sets the service's clock.
func (r *running) reaches(at time.Time) { r.Travel(at.Sub(r.Now())) }

func TestATimerOfRiverMakesTheRetry(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := listen(t)
	r.answers(func(n int, _ request) (int, string) { return map[bool]int{true: 500, false: 204}[n == 1], "" })
	id, _ := s.subscribe(s.As(auth.SiteAdmin), r.URL, proto.KindContactCreated)
	s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { d := s.rows(id); return len(d) == 1 && d[0].Status == "retrying" })
	s.Travel(62 * time.Second)
	s.Eventually(func() bool { return s.rows(id)[0].Status == "delivered" })
	s.Eventually(func() bool {
		var state string
		err := s.DB.Pool.QueryRow(t.Context(), `select state::text from river_job where kind = 'webhook_due'`).Scan(&state)
		return err == nil && state == "completed"
	})
}

func TestTwentyFailuresInARowPauseAndTellTheAdministratorsOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	second := s.As(auth.SiteAdmin)
	s.As("svc_admin")
	r := listen(t)
	r.says(500)
	id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
	for range 50 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool { return admin.Get("/webhooks/"+id).Text("paused") == "failures" })
	s.idle()
	require.Equal(t, 20, len(r.all()))
	w := admin.Get("/webhooks/" + id).Is(200)
	require.EqualValues(t, 20, w.Field("failures"))
	require.Equal(t, true, w.Field("active"))

	var to []string
	for _, e := range s.Events(proto.MailTopic) {
		m := &proto.Mail{}
		require.NoError(t, unmarshal(e.GetData(), m))
		require.Equal(t, "webhook.paused", m.GetKind())
		require.Contains(t, m.GetText(), "receiver")
		to = append(to, m.GetTo())
	}
	require.ElementsMatch(t, []string{admin.Login + "@example.com", second.Login + "@example.com"}, to)

	// What arrives meanwhile is kept; nothing is sent, whatever is due.
	s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(s.rows(id)) == 51 })
	s.Travel(time.Hour)
	s.engine.wake(uuid.MustParse(id))
	s.idle()
	require.Equal(t, 20, len(r.all()))

	r.says(200)
	on := admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	require.Nil(t, on.Field("paused"))
	require.EqualValues(t, 0, on.Field("failures"))
	s.Eventually(func() bool {
		return !slices.ContainsFunc(s.rows(id), func(d row) bool { return d.Status != "delivered" })
	})
	require.Equal(t, 71, len(r.all()))
	require.Len(t, s.Events(proto.MailTopic), 2)
}

func TestWhatAnAttemptSaysAndCounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a secret that cannot be read pauses and a new one helps", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set secret = '\x00112233' where id = $1`, id)
		require.NoError(t, err)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return admin.Get("/webhooks/"+id).Text("paused") == "secret" })
		s.idle()
		require.Empty(t, r.all())
		d := s.rows(id)[0]
		require.Equal(t, "queued", d.Status)
		require.Zero(t, d.Attempts)
		require.Len(t, s.Events(proto.MailTopic), 1)

		admin.Post("/webhooks/"+id+"/test", nil).Fails(409, "svc_conflict")
		require.Len(t, s.Events(proto.MailTopic), 1)
		// Switching it on without a new secret pauses it again.
		admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
		s.Eventually(func() bool { return admin.Get("/webhooks/"+id).Text("paused") == "secret" })
		admin.Post("/webhooks/"+id+"/secret", nil).Is(200)
		admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
		s.Eventually(func() bool { return s.rows(id)[0].Status == "delivered" })
	})
	t.Run("a success begins the count anew", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		failures := func() float64 { return admin.Get("/webhooks/" + id).Field("failures").(float64) }
		r.says(500)
		for n := range 19 {
			s.contact(proto.KindContactCreated, uuid.NewString(), 1)
			s.Eventually(func() bool { return failures() == float64(n+1) })
		}
		require.Nil(t, admin.Get("/webhooks/"+id).Field("paused"))
		r.says(200)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return failures() == 0 })
		r.says(500)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return failures() == 1 })
	})
	t.Run("a new secret counts from the next attempt on", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, old := s.subscribe(admin, r.URL, proto.KindContactCreated)
		fresh := admin.Post("/webhooks/"+id+"/secret", nil).Is(200).Text("secret")
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return len(r.all()) == 1 })
		require.True(t, signed(t, fresh, r.all()[0]))
		require.False(t, signed(t, old, r.all()[0]))
	})
	t.Run("how a receiver fails is told without saying more", func(t *testing.T) {
		s := s.in(t)
		var followed atomic.Bool
		behind := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
		defer behind.Close()
		tls := httptest.NewTLSServer(http.NotFoundHandler())
		defer tls.Close()
		cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		defer cut.Close()
		redirect := httptest.NewServer(http.RedirectHandler(behind.URL, http.StatusTemporaryRedirect))
		defer redirect.Close()
		stop := make(chan struct{})
		hangs := func(r *http.Request) {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
		slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hangs(r) }))
		defer slow.Close()
		endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "taken")
			_ = http.NewResponseController(w).Flush()
			hangs(r)
		}))
		defer endless.Close()
		defer close(stop)
		for url, why := range map[string]string{
			"http://" + freeport.Address(): "refused the connection", redirect.URL: "redirects are not followed",
			tls.URL: "certificate", cut.URL: "broke the connection off", slow.URL: "within 5 seconds", "https://nowhere.invalid/": "",
		} {
			id, _ := s.subscribe(admin, url, proto.KindContactCreated)
			d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
			require.Equal(t, "failed", d.Text("status"), url)
			require.NotEmpty(t, d.Text("error"))
			require.Contains(t, d.Text("error"), why)
		}
		require.False(t, followed.Load())

		id, _ := s.subscribe(admin, endless.URL, proto.KindContactCreated)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", d.Text("status"), "the receiver has said yes, whatever follows")
		require.EqualValues(t, 200, d.Field("response_code"))
	})
	t.Run("a long answer is cut in the log", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		r.answers(func(int, request) (int, string) { return 200, fmt.Sprintf("a\x00\xff%0100000d", 7) })
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", d.Text("status"))
		answer := admin.Get("/webhook-deliveries/" + d.Text("id")).Is(200).Text("log.0.response_body")
		require.Contains(t, answer[:8], "a\x00\uFFFD")
		require.Len(t, answer, 64<<10+len("\uFFFD")-1)
	})
	t.Run("a test is one signed attempt and never made again", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		good := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", good.Text("status"))
		require.Equal(t, "webhook.test", good.Text("event"))
		require.Equal(t, map[string]any{"webhook": map[string]any{"id": id, "name": "receiver"}}, good.Field("payload.data"))
		require.Equal(t, good.Text("event_id"), r.all()[0].header.Get("webhook-id"))
		require.NotEmpty(t, r.all()[0].header.Get("X-Svc-Signature"))

		r.says(410)
		bad := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "failed", bad.Text("status"))
		require.EqualValues(t, 1, bad.Field("attempts"))
		require.Nil(t, bad.Field("next_attempt_at"))
		require.EqualValues(t, 1, admin.Get("/webhooks/"+id).Field("failures"))
		s.Travel(24 * time.Hour)
		s.wakeAll()
		s.idle()
		require.Equal(t, 2, len(r.all()))
		require.EqualValues(t, 1, admin.Get("/webhooks/"+id+"/deliveries?status=failed").Is(200).Field("total"))

		// It also goes to a webhook that is off: that is what it is for.
		admin.Patch("/webhooks/"+id, map[string]any{"active": false}).Is(200)
		r.says(200)
		require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	})
}

func TestAttemptsFollowTheSchedule(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a resend is one more attempt whatever the status", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, _ := s.subscribe(admin, r.URL, proto.KindContactCreated)
		r.says(500)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { d := s.rows(id); return len(d) == 1 && d[0].Status == "retrying" })
		before := s.rows(id)[0]

		again := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "retrying", again.Text("status"))
		require.EqualValues(t, 2, again.Field("attempts"))
		require.Equal(t, before.Next, s.rows(id)[0].Next, "the schedule is as it was")
		require.Equal(t, r.all()[0].header.Get("webhook-id"), r.all()[1].header.Get("webhook-id"))
		require.Equal(t, r.all()[0].body, r.all()[1].body)

		r.says(200)
		good := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "delivered", good.Text("status"))
		require.Nil(t, good.Field("error"))
		require.Nil(t, good.Field("next_attempt_at"))
		first := good.Text("delivered_at")
		require.NotEmpty(t, first)
		s.Travel(2 * time.Minute)
		s.wakeAll()
		s.idle()
		require.Len(t, r.all(), 3, "a delivered one is not tried again")

		r.says(500)
		worse := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "delivered", worse.Text("status"))
		require.EqualValues(t, 500, worse.Field("response_code"))
		r.says(200)
		better := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, first, better.Text("delivered_at"))
		require.EqualValues(t, 5, better.Field("attempts"))

		// A resend counts no step of the schedule: six scheduled attempts remain six.
		r.says(500)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { d := s.rows(id); return len(d) == 2 && d[1].Status == "retrying" })
		other := s.rows(id)[1].ID.String()
		for range 6 {
			require.Equal(t, "retrying", admin.Post("/webhook-deliveries/"+other+"/resend", nil).Is(200).Text("status"))
		}
		for range 5 {
			require.Equal(t, "retrying", s.rows(id)[1].Status)
			s.reaches(*s.rows(id)[1].Next)
			n := s.rows(id)[1].Attempts
			s.wakeAll()
			s.Eventually(func() bool { return s.rows(id)[1].Attempts == n+1 })
			s.idle()
		}
		require.Equal(t, "failed", s.rows(id)[1].Status)
		require.Equal(t, 12, s.rows(id)[1].Attempts)
	})
	t.Run("a failed attempt is made again on the schedule", func(t *testing.T) {
		s := s.in(t)
		r := listen(t)
		id, secret := s.subscribe(admin, r.URL, proto.KindContactCreated)
		r.says(503)
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
		ids, signatures := map[string]bool{}, map[string]bool{}
		for attempt, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour} {
			s.Eventually(func() bool { d := s.rows(id); return len(d) == 1 && d[0].Attempts == attempt+1 })
			s.idle()
			d := s.rows(id)[0]
			require.Equal(t, "retrying", d.Status)
			since := d.Next.Sub(*d.LastAt)
			require.InDelta(t, wait.Seconds(), since.Seconds(), 0.5, "after attempt %d", attempt+1)

			s.reaches(d.Next.Add(-time.Second))
			s.wakeAll()
			s.engine.wake(uuid.MustParse(id))
			s.idle()
			require.Len(t, r.all(), attempt+1, "a second early")
			s.reaches(*d.Next)
			s.wakeAll()
		}
		s.Eventually(func() bool { return s.rows(id)[0].Status == "failed" })
		d := s.rows(id)[0]
		require.Equal(t, 6, d.Attempts)
		require.Nil(t, d.Next)
		for _, got := range r.all() {
			ids[got.header.Get("webhook-id")+got.header.Get("X-Svc-Delivery")+got.body] = true
			signatures[got.header.Get("X-Svc-Signature")] = true
		}
		require.Len(t, ids, 1, "every attempt is of the same event")
		require.Len(t, signatures, 6, "and signed afresh")
		s.Travel(48 * time.Hour)
		s.wakeAll()
		s.engine.wake(uuid.MustParse(id))
		s.idle()
		require.Equal(t, 6, len(r.all()))

		full := admin.Get("/webhook-deliveries/" + d.ID.String()).Is(200)
		require.EqualValues(t, 6, full.Field("attempts"))
		require.EqualValues(t, 503, full.Field("response_code"))
		require.Contains(t, full.Text("error"), "503")
		log := full.Field("log").([]any)
		require.Len(t, log, 6)
		for i, a := range log {
			require.EqualValues(t, i+1, a.(map[string]any)["number"])
			require.Equal(t, "Service Unavailable", a.(map[string]any)["response_body"])
		}
		require.NotEmpty(t, secret)
	})
}

func TestNoConnectionIsMadeToWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.WebhookLocal = false })
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, _ := s.subscribe(admin, "https://example.com/", proto.KindContactCreated)
	// As if the name had come to mean this machine, or the address had been written around the check.
	for _, url := range []string{r.URL, "https://" + r.Listener.Addr().String(), "https://127.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://localhost/"} {
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set url = $2 where id = $1`, id, url)
		require.NoError(t, err)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "failed", d.Text("status"))
		require.Contains(t, d.Text("error"), "nothing was sent")
		require.Nil(t, d.Field("response_code"))
	}
	require.Empty(t, r.all())
}

func TestAHangingReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	good := listen(t)
	stop := make(chan struct{})
	bad := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer bad.Close()
	defer close(stop)
	hanging, _ := s.subscribe(admin, bad.URL, proto.KindContactCreated)
	s.subscribe(admin, good.URL, proto.KindContactCreated)
	for range 200 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	// Behind the other, sixteen at a time and five seconds each, they would take a minute.
	s.Eventually(func() bool { return len(good.all()) == 200 })
	require.Contains(t, s.statuses(admin, hanging), "queued")
	s.engine.mu.Lock()
	inFlight := s.engine.hosts[bad.Listener.Addr().String()]
	s.engine.mu.Unlock()
	require.LessOrEqual(t, inFlight, laneMax)
}

func TestAHostGetsSoManyRequestsAtATimeWhateverTheWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	at := gather(hostMax)
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { at.pass(t) }))
	t.Cleanup(host.Close)
	var ids []string
	for i := range 5 {
		id, _ := s.subscribe(admin, fmt.Sprintf("%s/%d", host.URL, i), proto.KindContactCreated)
		s.pauses(id, pausedFailures)
		ids = append(ids, id)
	}
	for range 40 {
		s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	for _, id := range ids {
		s.Eventually(func() bool { return len(s.rows(id)) == 40 })
		admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	}
	for _, id := range ids {
		s.Eventually(func() bool {
			return !slices.ContainsFunc(s.rows(id), func(d row) bool { return d.Status != statusDelivered })
		})
	}
	require.Equal(t, hostMax, at.most)
	s.idle()
	require.Empty(t, s.engine.hosts)
}

func signed(t *testing.T, secret string, r request) bool {
	t.Helper()
	var at int64
	_, err := fmt.Sscanf(r.header.Get("X-Svc-Signature"), "t=%d,", &at)
	require.NoError(t, err)
	return svc(secret, at, r.body) == r.header.Get("X-Svc-Signature")
}
