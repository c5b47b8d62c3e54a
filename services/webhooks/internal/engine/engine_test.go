package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/freeport"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/internal/receiver"
	"frontdesk/services/webhooks/internal/signature"
	"frontdesk/services/webhooks/webhookstest"
)

// running is the service and the inside of this room.
type running struct {
	*webhookstest.Service
	room *Room
}

// in is the service for one case of a test, see webhookstest.Service.In.
func (r *running) in(t *testing.T) *running {
	t.Helper()
	return &running{r.In(t), r.room}
}

// start runs all rooms of the service.
func start(t *testing.T, configure ...func(*app.Config)) *running {
	t.Helper()
	var room *Room
	configure = append([]func(*app.Config){func(c *app.Config) { c.WebhookLocal = true }}, configure...)
	s := apptest.StartRooms(t, "webhooks", func(k *app.Kit, set *op.Set) []app.Room {
		messages := message.New(k, delivery.Queue, delivery.Blank)
		endpoints := endpoint.New(k, receiver.Own(k), delivery.Drop)
		receivers := receiver.New(k, endpoints)
		deliveries := delivery.New(k, endpoints)
		room = New(t.Context(), k, endpoints, receivers, deliveries)
		messages.Events(set)
		endpoints.Webhooks(set)
		receivers.Receivers(set)
		deliveries.Deliveries(set)
		room.Attempts(set)
		return []app.Room{{Name: "message", Parts: messages.Parts()}, {Name: "endpoint", Parts: endpoints.Parts()}, {Name: "receiver", Parts: receivers.Parts()},
			{Name: "delivery", Parts: deliveries.Parts()}, {Name: "engine", Parts: room.Parts()}}
	}, configure...)
	return &running{webhookstest.Of(t, s), room}
}

// idle waits until nothing is in flight and nothing is claimed.
func (r *running) idle() {
	r.Eventually(func() bool {
		r.room.lanes.mu.Lock()
		defer r.room.lanes.mu.Unlock()
		for _, l := range r.room.lanes.all {
			if l.inFlight > 0 || l.dispatching {
				return false
			}
		}
		return true
	})
}

// wakeAll stands for the timers, which need not be waited for.
func (r *running) wakeAll(t *testing.T) {
	t.Helper()
	require.NoError(t, r.room.sweep(t.Context()))
}

// reaches sets the service's clock.
func (r *running) reaches(at time.Time) { r.Travel(at.Sub(r.Now())) }

func TestARetryIsMadeAtItsTimeByTheSweepBefore(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := webhookstest.Listen(t)
	r.Answers(func(n int, _ webhookstest.Request) (int, string) {
		return map[bool]int{true: 500, false: 204}[n == 1], ""
	})
	id, _ := s.Subscribe(s.As(auth.SiteAdmin), r.URL, proto.KindContactCreated)
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { d := s.Rows(id); return len(d) == 1 && d[0].Status == "retrying" })
	s.idle()
	next := *s.Rows(id)[0].Next
	s.reaches(next.Add(-time.Second))
	now := s.Now()
	due, err := s.room.deliveries.Due(t.Context(), now, now.Add(sweepEvery))
	require.NoError(t, err)
	require.Len(t, due, 1)
	require.False(t, due[0].At.Before(next))
	require.Less(t, due[0].At.Sub(next), time.Second+time.Millisecond)
	s.wakeAll(t)
	s.Eventually(func() bool { return s.Rows(id)[0].Status == "delivered" })
	require.False(t, s.Rows(id)[0].LastAt.Before(next))
}

func TestTwentyFailuresInARowPauseAndTellTheAdministratorsOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	second := s.As(auth.SiteAdmin)
	s.As("svc_admin")
	r := webhookstest.Listen(t)
	r.Says(500)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	for range 50 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	s.Eventually(func() bool { return admin.Get("/webhooks/"+id).Text("paused") == "failures" })
	s.idle()
	require.Equal(t, 20, len(r.All()))
	w := admin.Get("/webhooks/" + id).Is(200)
	require.EqualValues(t, 20, w.Field("failures"))
	require.Equal(t, true, w.Field("active"))

	var to []string
	for _, e := range s.Events(proto.MailTopic) {
		m := &proto.Mail{}
		require.NoError(t, protobuf.Unmarshal(e.GetData(), m))
		require.Equal(t, "webhook.paused", m.GetKind())
		require.Contains(t, m.GetText(), "receiver")
		to = append(to, m.GetTo())
	}
	require.ElementsMatch(t, []string{admin.Login + "@example.com", second.Login + "@example.com"}, to)

	// What arrives meanwhile is kept; nothing is sent, whatever is due.
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(s.Rows(id)) == 51 })
	s.Travel(time.Hour)
	s.room.lanes.wake(uuid.MustParse(id))
	s.idle()
	require.Equal(t, 20, len(r.All()))

	r.Says(200)
	on := admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	require.Nil(t, on.Field("paused"))
	require.EqualValues(t, 0, on.Field("failures"))
	s.Eventually(func() bool {
		return !slices.ContainsFunc(s.Rows(id), func(d webhookstest.Row) bool { return d.Status != "delivered" })
	})
	require.Equal(t, 71, len(r.All()))
	require.Len(t, s.Events(proto.MailTopic), 2)
}

func TestWhatAnAttemptSaysAndCounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a secret that cannot be read pauses and a new one helps", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set secret = '\x00112233' where id = $1`, id)
		require.NoError(t, err)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return admin.Get("/webhooks/"+id).Text("paused") == "secret" })
		s.idle()
		require.Empty(t, r.All())
		d := s.Rows(id)[0]
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
		s.Eventually(func() bool { return s.Rows(id)[0].Status == "delivered" })
	})
	t.Run("a success begins the count anew", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		failures := func() float64 { return admin.Get("/webhooks/" + id).Field("failures").(float64) }
		r.Says(500)
		for n := range 19 {
			s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
			s.Eventually(func() bool { return failures() == float64(n+1) })
		}
		require.Nil(t, admin.Get("/webhooks/"+id).Field("paused"))
		r.Says(200)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return failures() == 0 })
		r.Says(500)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return failures() == 1 })
	})
	t.Run("a new secret counts from the next attempt on", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, old := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		fresh := admin.Post("/webhooks/"+id+"/secret", nil).Is(200).Text("secret")
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return len(r.All()) == 1 })
		require.True(t, signed(t, fresh, r.All()[0]))
		require.False(t, signed(t, old, r.All()[0]))
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
			id, _ := s.Subscribe(admin, url, proto.KindContactCreated)
			d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
			require.Equal(t, "failed", d.Text("status"), url)
			require.NotEmpty(t, d.Text("error"))
			require.Contains(t, d.Text("error"), why)
		}
		require.False(t, followed.Load())

		id, _ := s.Subscribe(admin, endless.URL, proto.KindContactCreated)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", d.Text("status"), "the receiver has said yes, whatever follows")
		require.EqualValues(t, 200, d.Field("response_code"))
	})
	t.Run("a long answer is cut in the log", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		r.Answers(func(int, webhookstest.Request) (int, string) { return 200, fmt.Sprintf("a\x00\xff%0100000d", 7) })
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", d.Text("status"))
		answer := admin.Get("/webhook-deliveries/" + d.Text("id")).Is(200).Text("log.0.response_body")
		require.Contains(t, answer[:8], "a\x00\uFFFD")
		require.Len(t, answer, 64<<10+len("\uFFFD")-1)
	})
	t.Run("a test is one signed attempt and never made again", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		good := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "delivered", good.Text("status"))
		require.Equal(t, "webhook.test", good.Text("event"))
		require.Equal(t, map[string]any{"webhook": map[string]any{"id": id, "name": "receiver"}}, good.Field("payload.data"))
		require.Equal(t, good.Text("event_id"), r.All()[0].Header.Get("webhook-id"))
		require.NotEmpty(t, r.All()[0].Header.Get("X-Svc-Signature"))

		r.Says(410)
		bad := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "failed", bad.Text("status"))
		require.EqualValues(t, 1, bad.Field("attempts"))
		require.Nil(t, bad.Field("next_attempt_at"))
		require.EqualValues(t, 1, admin.Get("/webhooks/"+id).Field("failures"))
		s.Travel(24 * time.Hour)
		s.wakeAll(t)
		s.idle()
		require.Equal(t, 2, len(r.All()))
		require.EqualValues(t, 1, admin.Get("/webhooks/"+id+"/deliveries?status=failed").Is(200).Field("total"))

		// It also goes to a webhook that is off: that is what it is for.
		admin.Patch("/webhooks/"+id, map[string]any{"active": false}).Is(200)
		r.Says(200)
		require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	})
}

func TestAttemptsFollowTheSchedule(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a resend is one more attempt whatever the status", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		r.Says(500)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { d := s.Rows(id); return len(d) == 1 && d[0].Status == "retrying" })
		before := s.Rows(id)[0]

		again := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "retrying", again.Text("status"))
		require.EqualValues(t, 2, again.Field("attempts"))
		require.Equal(t, before.Next, s.Rows(id)[0].Next, "the schedule is as it was")
		require.Equal(t, r.All()[0].Header.Get("webhook-id"), r.All()[1].Header.Get("webhook-id"))
		require.Equal(t, r.All()[0].Body, r.All()[1].Body)

		r.Says(200)
		good := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "delivered", good.Text("status"))
		require.Nil(t, good.Field("error"))
		require.Nil(t, good.Field("next_attempt_at"))
		first := good.Text("delivered_at")
		require.NotEmpty(t, first)
		s.Travel(2 * time.Minute)
		s.wakeAll(t)
		s.idle()
		require.Len(t, r.All(), 3, "a delivered one is not tried again")

		r.Says(500)
		worse := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, "delivered", worse.Text("status"))
		require.EqualValues(t, 500, worse.Field("response_code"))
		r.Says(200)
		better := admin.Post("/webhook-deliveries/"+before.ID.String()+"/resend", nil).Is(200)
		require.Equal(t, first, better.Text("delivered_at"))
		require.EqualValues(t, 5, better.Field("attempts"))

		// A resend counts no step of the schedule: six scheduled attempts remain six.
		r.Says(500)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { d := s.Rows(id); return len(d) == 2 && d[1].Status == "retrying" })
		other := s.Rows(id)[1].ID.String()
		for range 6 {
			require.Equal(t, "retrying", admin.Post("/webhook-deliveries/"+other+"/resend", nil).Is(200).Text("status"))
		}
		for range 5 {
			require.Equal(t, "retrying", s.Rows(id)[1].Status)
			s.reaches(*s.Rows(id)[1].Next)
			n := s.Rows(id)[1].Attempts
			s.wakeAll(t)
			s.Eventually(func() bool { return s.Rows(id)[1].Attempts == n+1 })
			s.idle()
		}
		require.Equal(t, "failed", s.Rows(id)[1].Status)
		require.Equal(t, 12, s.Rows(id)[1].Attempts)
	})
	t.Run("a failed attempt is made again on the schedule", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, secret := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		r.Says(503)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		ids, signatures := map[string]bool{}, map[string]bool{}
		for attempt, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour} {
			s.Eventually(func() bool { d := s.Rows(id); return len(d) == 1 && d[0].Attempts == attempt+1 })
			s.idle()
			d := s.Rows(id)[0]
			require.Equal(t, "retrying", d.Status)
			since := d.Next.Sub(*d.LastAt)
			require.InDelta(t, wait.Seconds(), since.Seconds(), 0.5, "after attempt %d", attempt+1)

			s.reaches(d.Next.Add(-time.Second))
			s.wakeAll(t)
			s.room.lanes.wake(uuid.MustParse(id))
			s.idle()
			require.Len(t, r.All(), attempt+1, "a second early")
			s.reaches(*d.Next)
			s.wakeAll(t)
		}
		s.Eventually(func() bool { return s.Rows(id)[0].Status == "failed" })
		d := s.Rows(id)[0]
		require.Equal(t, 6, d.Attempts)
		require.Nil(t, d.Next)
		for _, got := range r.All() {
			ids[got.Header.Get("webhook-id")+got.Header.Get("X-Svc-Delivery")+got.Body] = true
			signatures[got.Header.Get("X-Svc-Signature")] = true
		}
		require.Len(t, ids, 1, "every attempt is of the same event")
		require.Len(t, signatures, 6, "and signed afresh")
		s.Travel(48 * time.Hour)
		s.wakeAll(t)
		s.room.lanes.wake(uuid.MustParse(id))
		s.idle()
		require.Equal(t, 6, len(r.All()))

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
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
	// As if the name had come to mean this machine, or the address had been written around the check.
	for _, url := range []string{r.URL, "https://" + r.Listener.Addr().String(), "https://127.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://localhost/"} {
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set url = $2 where id = $1`, id, url)
		require.NoError(t, err)
		d := admin.Post("/webhooks/"+id+"/test", nil).Is(200)
		require.Equal(t, "failed", d.Text("status"))
		require.Contains(t, d.Text("error"), "nothing was sent")
		require.Nil(t, d.Field("response_code"))
	}
	require.Empty(t, r.All())
}

func TestAHangingReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	good := webhookstest.Listen(t)
	stop := make(chan struct{})
	bad := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer bad.Close()
	defer close(stop)
	hanging, _ := s.Subscribe(admin, bad.URL, proto.KindContactCreated)
	s.Subscribe(admin, good.URL, proto.KindContactCreated)
	for range 200 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	// Behind the other, sixteen at a time and five seconds each, they would take a minute.
	s.Eventually(func() bool { return len(good.All()) == 200 })
	require.Contains(t, s.Statuses(admin, hanging), "queued")
	s.room.lanes.mu.Lock()
	inFlight := s.room.lanes.all[uuid.MustParse(hanging)].inFlight
	s.room.lanes.mu.Unlock()
	require.LessOrEqual(t, inFlight, laneMax)
}

func TestAHostGetsSoManyRequestsAtATimeWhateverTheWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	at := webhookstest.Gather(hostMax)
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { at.Pass(t) }))
	t.Cleanup(host.Close)
	var ids []string
	for i := range 5 {
		id, _ := s.Subscribe(admin, fmt.Sprintf("%s/%d", host.URL, i), proto.KindContactCreated)
		s.Pauses(id, "failures")
		ids = append(ids, id)
	}
	for range 40 {
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	}
	for _, id := range ids {
		s.Eventually(func() bool { return len(s.Rows(id)) == 40 })
		admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	}
	for _, id := range ids {
		s.Eventually(func() bool {
			return !slices.ContainsFunc(s.Rows(id), func(d webhookstest.Row) bool { return d.Status != "delivered" })
		})
	}
	require.Equal(t, hostMax, at.Most)
	s.idle()
}

func signed(t *testing.T, secret string, r webhookstest.Request) bool {
	t.Helper()
	var at int64
	_, err := fmt.Sscanf(r.Header.Get("X-Svc-Signature"), "t=%d,", &at)
	require.NoError(t, err)
	return signature.Svc(secret, time.Unix(at, 0), []byte(r.Body)) == r.Header.Get("X-Svc-Signature")
}

func TestAResendLeavesADeliveryWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("resends at once are made one after the other", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		var now, most atomic.Int32
		r.Answers(func(int, webhookstest.Request) (int, string) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(20 * time.Millisecond)
			now.Add(-1)
			return 200, ""
		})
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
		s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, id), []string{"delivered"}) })
		delivery := s.Rows(id)[0].ID.String()
		var all sync.WaitGroup
		answers := make([]*apptest.Answer, 5)
		for i := range answers {
			all.Go(func() { answers[i] = admin.Post("/webhook-deliveries/"+delivery+"/resend", nil) })
		}
		all.Wait()
		for _, a := range answers {
			a.Is(http.StatusOK)
		}
		require.EqualValues(t, 1, most.Load())
		require.Len(t, admin.Get("/webhook-deliveries/"+delivery).Is(200).Field("log"), 6)
		require.EqualValues(t, 6, admin.Get("/webhook-deliveries/"+delivery).Field("attempts"))
	})
	t.Run("a resend that cannot be signed leaves the status", func(t *testing.T) {
		s := s.in(t)
		r := webhookstest.Listen(t)
		id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
		test := admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("id")
		_, err := s.DB.Pool.Exec(t.Context(), `update webhook set secret = '\x00' where id = $1`, id)
		require.NoError(t, err)
		admin.Post("/webhook-deliveries/"+test+"/resend", nil).Fails(409, "svc_conflict")
		require.Equal(t, "delivered", admin.Get("/webhook-deliveries/"+test).Is(200).Text("status"))
	})
}

func TestARecordWithALongBacklogDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	at := webhookstest.Gather(laneMax/2 + 1)
	r.Answers(func(int, webhookstest.Request) (int, string) {
		at.Pass(t)
		return 200, ""
	})
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactUpdated)
	s.Pauses(id, "failures")
	const backlog, others = 3 * 64, 40 // three times what a claim reads
	hot := uuid.NewString()
	for v := range backlog {
		s.Contact(proto.KindContactUpdated, hot, int64(v))
	}
	s.Settle()
	for range others {
		s.Contact(proto.KindContactUpdated, uuid.NewString(), 0)
	}
	s.Eventually(func() bool { return len(s.Rows(id)) == backlog+others })
	admin.Patch("/webhooks/"+id, map[string]any{"active": true}).Is(200)
	s.Eventually(func() bool { return len(r.All()) == backlog+others })

	last, versions := 0, []int{}
	for i, got := range r.All() {
		c := got.JSON().Data["contact"].(map[string]any)
		if c["id"] == hot {
			versions = append(versions, int(c["version_in_test"].(float64)))
		} else {
			last = i
		}
	}
	require.True(t, slices.IsSorted(versions), "%v", versions)
	require.Less(t, last, backlog/2, "the others do not wait until the backlog is short")
	require.Greater(t, at.Most, laneMax/2, "requests in flight at a time")
}
