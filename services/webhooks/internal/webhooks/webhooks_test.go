package webhooks

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

func start(t *testing.T, configure ...func(*app.Config)) *webhookstest.Service {
	t.Helper()
	configure = append([]func(*app.Config){func(c *app.Config) { c.WebhookLocal = true }}, configure...)
	return webhookstest.Of(t, apptest.Start(t, Service, configure...))
}

func TestEveryOperationOfTheInterfaceIsThere(t *testing.T) {
	t.Parallel()
	s := start(t)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops, "get-undo-steps-of-webhooks")
}

func TestAnEventReachesItsSubscriberSignedAndOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, secret := s.Subscribe(admin, r.URL+"/hook", proto.KindContactCreated)
	require.True(t, strings.HasPrefix(secret, "whsec_"))

	key := uuid.NewString()
	const trace = "0af7651916cd43dd8448eb211c80319c"
	event := s.Contact(proto.KindContactCreated, key, 1, func(e *apptest.Event) { e.Traceparent = "00-" + trace + "-b7ad6b7169203331-01" })
	s.Contact(proto.KindContactUpdated, key, 2)
	s.Eventually(func() bool {
		return len(r.All()) == 1 && len(s.Statuses(admin, id)) == 1 && s.Statuses(admin, id)[0] == "delivered"
	})

	got := r.All()[0]
	require.Equal(t, proto.KindContactCreated, got.Header.Get("X-Svc-Event"))
	require.Equal(t, "evt_"+event, got.JSON().ID)
	require.Contains(t, got.Header.Get("Traceparent"), trace)
	require.Equal(t, "Ann", got.JSON().Data["contact"].(map[string]any)["first_name"])
	d := admin.Get("/webhooks/" + id + "/deliveries").Is(200).Items()[0]
	require.Equal(t, d["id"], got.Header.Get("X-Svc-Delivery"))
	full := admin.Get("/webhook-deliveries/" + d["id"].(string)).Is(200)
	require.Equal(t, "thanks", full.Text("log.0.response_body"))
	raw, err := json.Marshal(full.Field("payload"))
	require.NoError(t, err)
	require.JSONEq(t, got.Body, string(raw))
}

func TestEventsAreListedAsTheyAreSentWhetherSubscribedOrNot(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	person := uuid.NewString()
	before := s.Contact(proto.KindContactCreated, person, 1)
	s.Eventually(func() bool { return len(admin.Get("/events").Is(200).Items()) == 1 })
	s.Subscribe(admin, r.URL, proto.KindContactUpdated)
	s.Contact(proto.KindContactUpdated, person, 2, func(e *apptest.Event) { e.Changed = []string{"email"} })
	s.Eventually(func() bool { return len(r.All()) == 1 })

	var page *apptest.Answer
	// Transactions of other databases of the server may still run.
	s.Eventually(func() bool { page = admin.Get("/events").Is(200); return len(page.Items()) == 2 })
	require.Equal(t, "evt_"+before, page.Text("items.0.id"))
	sent, err := json.Marshal(page.Items()[1])
	require.NoError(t, err)
	require.JSONEq(t, r.All()[0].Body, string(sent))
	require.Nil(t, page.Field("total"))

	// None of these is an event of the list.
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1, func(e *apptest.Event) { e.AppOff = true })
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1, func(e *apptest.Event) { e.State = true })
	s.Contact(proto.KindContactEnsured, uuid.NewString(), 1)
	s.Send(apptest.Event{Topic: proto.SubmissionTopic, Kind: proto.KindFormSubmitted, Key: uuid.NewString(), Version: 1, Data: map[string]any{"id": 1, "status": "spam"}})
	s.Settle()
	next, end := readEvents(admin, page.Text("next_cursor"))
	require.Empty(t, next)

	s.Contact(proto.KindContactDeleted, person, 3)
	s.Eventually(func() bool { next, end = readEvents(admin, end); return len(next) == 1 })
	require.Equal(t, proto.KindContactDeleted, next[0]["event"])
	next, _ = readEvents(admin, end)
	require.Empty(t, next)
}

// readEvents follows GET /events from a cursor to the present end, and answers with what came and the cursor behind it.
func readEvents(c *apptest.Client, cursor string) (all []map[string]any, next string) {
	for {
		page := c.Get("/events?cursor=" + url.QueryEscape(cursor)).Is(200)
		cursor = page.Text("next_cursor")
		if len(page.Items()) == 0 {
			return all, cursor
		}
		all = append(all, page.Items()...)
	}
}

func TestTheLogIsKeptAsLongAsThePrivacySettingsSay(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	id, _ := s.Subscribe(admin, r.URL, proto.KindContactCreated)
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return s.Count(`select count(*) from attempt`) == 1 })
	s.Eventually(func() bool { return s.Count(`select count(*) from lease`) == 0 })
	s.Travel(29 * 24 * time.Hour)
	s.Job("retention")
	require.Len(t, s.Rows(id), 1)
	s.Travel(25 * time.Hour)
	s.Job("retention")
	require.Empty(t, s.Rows(id))
	require.Zero(t, s.Count(`select count(*) from attempt`))
	require.EqualValues(t, 0, admin.Get("/webhooks/"+id+"/deliveries").Is(200).Field("total"))

	s.SetSite("privacy", map[string]any{"retention": map[string]any{"webhook_log": 2}})
	s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool { return len(s.Rows(id)) == 1 && s.Rows(id)[0].Status == "delivered" })
	s.Travel(49 * time.Hour)
	s.Job("retention")
	require.Empty(t, s.Rows(id))
}
