package message

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

func TestASampleIsSignedLikeADelivery(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	admin := s.As(auth.SiteAdmin)
	for _, event := range append(s.Every(admin), "webhook.test") {
		for format, contentType := range map[string]string{"": "application/json", "svc": "application/json", "cloudevents": "application/cloudevents+json"} {
			path := "/webhooks/events/" + event + "/sample"
			if format != "" {
				path += "?format=" + format
			}
			got := admin.Get(path).Is(200)
			h := http.Header{}
			for _, header := range got.Field("headers").([]any) {
				pair := header.(map[string]any)
				h.Set(pair["name"].(string), pair["value"].(string))
			}
			body, secret := []byte(got.Text("body")), got.Text("secret")
			require.Equal(t, contentType, h.Get("Content-Type"))
			require.Equal(t, event, h.Get("X-Svc-Event"))
			require.NotEmpty(t, h.Get("X-Svc-Delivery"))
			require.Empty(t, signature.CheckSvc(h.Get, body, []string{secret}, s.Now()).Problem)
			verifier, err := standardwebhooks.NewWebhook(secret)
			require.NoError(t, err)
			require.NoError(t, verifier.VerifyIgnoringTimestamp(body, h))
			var payload map[string]any
			require.NoError(t, json.Unmarshal(body, &payload))
			require.Equal(t, payload, got.Field("payload"))
			name := "event"
			if format == "cloudevents" {
				name = "type"
			}
			require.Equal(t, event, payload[name])
			require.Equal(t, payload["id"], any(h.Get("webhook-id")))
		}
	}
	admin.Get("/webhooks/events/contact.made/sample").Fails(404, "svc_not_found")
	admin.Get("/webhooks/events/appointment.updated/sample").Fails(404, "svc_not_found")
	admin.Get("/webhooks/events/contact.created/sample?format=xml").Fails(400, "svc_invalid_param")
	s.SetApp("booking", false)
	admin.Get("/webhooks/events/"+proto.KindAppointmentBooked+"/sample").Fails(404, "svc_not_found")
}

func TestAnEventListedSaysItsRecordAndWhatNarrowsItDown(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	listed := s.As(auth.SiteAdmin).Get("/webhooks/events").Is(200).Items()
	at := func(name string) map[string]any {
		return listed[slices.IndexFunc(listed, func(e map[string]any) bool { return e["event"] == name })]
	}
	require.Equal(t, "submission", at(proto.KindFormSubmitted)["record"])
	require.Equal(t, []any{"form"}, at(proto.KindFormSubmitted)["only"])
	require.Equal(t, "contact", at(proto.KindMarketingSubscribed)["record"])
	require.Equal(t, []any{}, at(proto.KindContactErased)["only"])
}
