package webhooks

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

// cloudEvent reads a request as the library of CloudEvents does.
func cloudEvent(t *testing.T, secret string, r webhookstest.Request) event.Event {
	t.Helper()
	require.Equal(t, "application/cloudevents+json", r.Header.Get("Content-Type"))
	verifier, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, verifier.VerifyIgnoringTimestamp([]byte(r.Body), r.Header))
	var e event.Event
	require.NoError(t, json.Unmarshal([]byte(r.Body), &e))
	require.NoError(t, e.Validate())
	return e
}

func TestAWebhookGetsCloudEvents(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	made := admin.Post("/webhooks", map[string]any{"name": "x", "url": r.URL, "events": []string{proto.KindContactUpdated}, "format": "cloudevents"}).Is(201)
	id, secret := made.Text("webhook.id"), made.Text("secret")
	path := "/webhooks/" + id

	contact := uuid.NewString()
	r.Says(500)
	sent := "evt_" + s.Contact(proto.KindContactUpdated, contact, 1)
	s.Eventually(func() bool { return len(r.All()) == 1 })
	e := cloudEvent(t, secret, r.All()[0])
	require.Equal(t, "1.0", e.SpecVersion())
	require.Equal(t, sent, e.ID())
	require.Equal(t, sent, r.All()[0].Header.Get("webhook-id"))
	require.Equal(t, s.Config.PublicURL, e.Source())
	require.Equal(t, proto.KindContactUpdated, e.Type())
	require.Equal(t, contact, e.Subject())
	require.Equal(t, "application/json", e.DataContentType())
	require.WithinDuration(t, s.Now(), e.Time(), time.Minute)
	var data struct {
		Contact struct{ Email string }
	}
	require.NoError(t, json.Unmarshal(e.Data(), &data))
	require.Equal(t, "ann@example.com", data.Contact.Email)

	// The log shows the body that is sent, byte for byte.
	s.Eventually(func() bool { return s.Statuses(admin, id)[0] == "retrying" })
	d := admin.Get(path + "/deliveries").Is(200).Items()[0]
	require.Equal(t, "cloudevents", d["format"])
	shown, err := json.Marshal(d["payload"])
	require.NoError(t, err)
	require.JSONEq(t, r.All()[0].Body, string(shown))

	// A resend, a test and a replay are of the same format, and the body of an event is always the same.
	r.Says(200)
	admin.Post("/webhook-deliveries/"+d["id"].(string)+"/resend", nil).Is(200)
	require.Equal(t, r.All()[0].Body, r.All()[1].Body)
	tested := admin.Post(path+"/test", nil).Is(200)
	require.Equal(t, "delivered", tested.Text("status"))
	e = cloudEvent(t, secret, r.All()[2])
	require.Equal(t, "webhook.test", e.Type())
	require.Equal(t, id, e.Subject())
	require.Equal(t, tested.Field("payload.id"), any(e.ID()))
	period := map[string]any{"from": s.Now().Add(-time.Hour).Format(time.RFC3339), "to": s.Now().Add(time.Hour).Format(time.RFC3339)}
	require.EqualValues(t, 1, admin.Post(path+"/replay", period).Is(202).Field("queued"))
	s.Eventually(func() bool { return len(r.All()) == 4 })
	require.Equal(t, r.All()[0].Body, r.All()[3].Body)

	// Another format counts from the next attempt on.
	s.Eventually(func() bool { return slices.Equal(s.Statuses(admin, id), []string{"delivered", "delivered"}) })
	admin.Patch(path, map[string]any{"format": "svc"}).Is(200)
	admin.Post(path+"/replay", period).Is(202)
	s.Eventually(func() bool { return len(r.All()) == 5 })
	require.Equal(t, "application/json", r.All()[4].Header.Get("Content-Type"))
	require.Equal(t, sent, r.All()[4].JSON().ID)
	require.Equal(t, proto.KindContactUpdated, r.All()[4].JSON().Event)
}

func TestAnErasedContactLeavesCloudEventsToo(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	r := webhookstest.Listen(t)
	made := admin.Post("/webhooks", map[string]any{"name": "x", "url": r.URL, "events": []string{proto.KindContactCreated}, "format": "cloudevents", "active": false}).Is(201)
	contact := uuid.NewString()
	admin.Patch("/webhooks/"+made.Text("webhook.id"), map[string]any{"active": true}).Is(200)
	s.Pauses(made.Text("webhook.id"), "failures")
	s.Contact(proto.KindContactCreated, contact, 1)
	s.Contact(proto.KindContactErased, contact, 2)
	s.Settle()
	admin.Patch("/webhooks/"+made.Text("webhook.id"), map[string]any{"active": true}).Is(200)
	s.Eventually(func() bool { return len(r.All()) == 1 })
	require.NotContains(t, r.All()[0].Body, "ann@example.com")
	require.Equal(t, contact, cloudEvent(t, made.Text("secret"), r.All()[0]).Subject())
}
