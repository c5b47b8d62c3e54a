package webhooks

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

// receiver is somebody else's server. It keeps what it gets.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []request
	answer func(n int, r request) (status int, body string)
}

type request struct {
	header http.Header
	body   string
	at     time.Time
}

func (r request) json() (v struct {
	Event      string         `json:"event"`
	ID         string         `json:"id"`
	OccurredAt string         `json:"occurred_at"`
	Data       map[string]any `json:"data"`
}) {
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		panic(err)
	}
	return v
}

func listen(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{answer: func(int, request) (int, string) { return 200, "thanks" }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		got := request{req.Header, string(body), time.Now()}
		r.got = append(r.got, got)
		n, answer := len(r.got), r.answer
		r.mu.Unlock()
		status, text := answer(n, got)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

func (r *receiver) answers(f func(n int, r request) (int, string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receiver) says(status int) {
	r.answers(func(int, request) (int, string) { return status, http.StatusText(status) })
}

// crowd counts the requests in flight. It holds the first ones until so many as are waited for are there, so that their number
// does not depend on the speed of the machine.
type crowd struct {
	mu        sync.Mutex
	now, most int
	waits     int
	there     chan struct{}
}

func gather(n int) *crowd { return &crowd{waits: n, there: make(chan struct{})} }

func (c *crowd) pass(t *testing.T) {
	c.mu.Lock()
	c.now++
	if c.now > c.most {
		c.most = c.now
		if c.most == c.waits {
			close(c.there)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.there:
	case <-t.Context().Done():
	}
	time.Sleep(5 * time.Millisecond)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
}

// running is the service and its insides.
type running struct {
	*apptest.Service
	*service
	t *testing.T
}

// pauses pauses a webhook, which keeps what arrives for it from then on.
func (r *running) pauses(id, reason string) {
	r.t.Helper()
	_, err := r.DB.Pool.Exec(r.t.Context(), `update webhook set paused = $2 where id = $1`, id, reason)
	require.NoError(r.t, err)
}

func start(t *testing.T, configure ...func(*app.Config)) *running {
	t.Helper()
	var inside *service
	s := Service
	s.Build = func(ctx context.Context, k *app.Kit) (*app.Parts, error) {
		parts, svc, err := assemble(ctx, k)
		inside = svc
		return parts, err
	}
	configure = append([]func(*app.Config){func(c *app.Config) { c.WebhookLocal = true }}, configure...)
	out := apptest.Start(t, s, configure...)
	return &running{out, inside, t}
}

// in is the service for one case of a test. The webhooks of the case are gone when it ends.
func (r *running) in(t *testing.T) *running {
	t.Helper()
	t.Cleanup(func() {
		admin := r.As(auth.SiteAdmin)
		for _, w := range admin.Get("/webhooks?per_page=100").Is(200).Items() {
			admin.Delete("/webhooks/"+w["id"].(string), nil).Is(204)
		}
	})
	return &running{r.Service, r.service, t}
}

// subscribe adds a webhook and answers with its id and secret.
func (r *running) subscribe(c *apptest.Client, url string, events ...string) (id, secret string) {
	r.t.Helper()
	a := c.Post("/webhooks", map[string]any{"name": "receiver", "url": url, "events": events}).Is(201)
	return a.Text("webhook.id"), a.Text("secret")
}

// contact sends a change of a contact in the name of contacts, and answers with its event id.
func (r *running) contact(kind, id string, version int64, change ...func(*apptest.Event)) string {
	r.t.Helper()
	e := apptest.Event{ID: db.NewID().String(), Topic: proto.ContactTopic, Kind: kind, Key: id, Version: version,
		Data: map[string]any{"id": id, "first_name": "Ann", "email": "ann@example.com", "version_in_test": version}}
	for _, f := range change {
		f(&e)
	}
	r.Send(e)
	return e.ID
}

// wakeAll stands for the timers, which need not be waited for.
func (r *running) wakeAll() {
	r.t.Helper()
	require.NoError(r.t, r.engine.sweep(context.Background()))
}

func (r *running) statuses(c *apptest.Client, webhook string) []string {
	r.t.Helper()
	var all []string
	for _, d := range c.Get("/webhooks/" + webhook + "/deliveries?per_page=100").Is(200).Items() {
		all = append(all, d["status"].(string))
	}
	return all
}

func TestEveryOperationOfTheInterfaceIsThere(t *testing.T) {
	t.Parallel()
	s := start(t)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops)
}

func TestAnEventReachesItsSubscriberSignedAndOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := listen(t)
	id, secret := s.subscribe(admin, r.URL+"/hook", proto.KindContactCreated)
	require.True(t, strings.HasPrefix(secret, "whsec_"))

	key := uuid.NewString()
	const trace = "0af7651916cd43dd8448eb211c80319c"
	event := s.contact(proto.KindContactCreated, key, 1, func(e *apptest.Event) { e.Traceparent = "00-" + trace + "-b7ad6b7169203331-01" })
	s.contact(proto.KindContactUpdated, key, 2)
	s.Eventually(func() bool {
		return len(r.all()) == 1 && len(s.statuses(admin, id)) == 1 && s.statuses(admin, id)[0] == "delivered"
	})

	got := r.all()[0]
	require.Equal(t, proto.KindContactCreated, got.header.Get("X-Svc-Event"))
	require.Equal(t, "evt_"+event, got.json().ID)
	require.Contains(t, got.header.Get("Traceparent"), trace)
	require.Equal(t, "Ann", got.json().Data["contact"].(map[string]any)["first_name"])
	d := admin.Get("/webhooks/" + id + "/deliveries").Is(200).Items()[0]
	require.Equal(t, d["id"], got.header.Get("X-Svc-Delivery"))
	full := admin.Get("/webhook-deliveries/" + d["id"].(string)).Is(200)
	require.Equal(t, "thanks", full.Text("log.0.response_body"))
	raw, err := json.Marshal(full.Field("payload"))
	require.NoError(t, err)
	require.JSONEq(t, got.body, string(raw))
}

func svc(secret string, at int64, body string) string {
	return signature.Svc(secret, time.Unix(at, 0), []byte(body))
}
