package webhooks

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func TestATestReceiverShowsWhatArrivesAndWhichSecretSignedIt(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.WebhookLocal, c.PublicURL = false, "http://10.0.0.7:8080" })
	person := s.AsSession(auth.SiteAdmin)
	empty := person.Get("/webhooks/receiver").Is(200)
	require.Nil(t, empty.Field("url"))
	open := func() string { return person.Post("/webhooks/receiver", nil).Is(200).Text("url") }
	url, again := open(), open()
	require.Equal(t, url, again, "another hour, and the same address")

	// The address is inside a private network: the delivery makes no connection.
	id, _ := s.Subscribe(person, url, proto.KindContactCreated)
	event := s.Contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool {
		st := s.Statuses(person, id)
		return len(st) == 1 && st[0] == "delivered"
	})
	got := person.Get("/webhooks/receiver").Is(200)
	require.Len(t, got.Field("requests"), 1)
	require.Contains(t, got.Text("requests.0.body"), "evt_"+event)
	for i, header := range []string{"X-Svc-Signature", "webhook-signature"} {
		at := fmt.Sprintf("requests.0.signatures.%d.", i)
		require.Equal(t, header, got.Field(at+"header"))
		require.Nil(t, got.Field(at+"problem"))
		require.Equal(t, []any{map[string]any{"webhook": id, "name": "receiver", "which": "current"}}, got.Field(at+"signed_by"))
	}

	// A test of a webhook with another address comes here too, signed by both of its secrets, and its log does not grow.
	other := person.Post("/webhooks", map[string]any{"name": "Real", "url": "https://hooks.example.com/in", "events": []string{proto.KindContactCreated}, "active": false}).Is(201).Text("webhook.id")
	person.Post("/webhooks/"+other+"/secret", map[string]any{"keep_old": true}).Is(200)
	tried := person.Post("/webhooks/"+other+"/try", nil).Is(200)
	require.Equal(t, "current", tried.Field("signatures.0.signed_by.0.which"))
	require.Equal(t, "old", tried.Field("signatures.1.signed_by.1.which"))
	require.Equal(t, tried.Text("id"), person.Get("/webhooks/receiver").Text("requests.0.id"))
	require.Empty(t, s.Statuses(person, other))
	person.Post("/webhooks/"+uuid.NewString()+"/try", nil).Fails(404, "svc_not_found")
}

func TestADeliveryToATestReceiverThatHasEndedSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	person := s.AsSession(auth.SiteAdmin)
	url := person.Post("/webhooks/receiver", nil).Is(200).Text("url")
	id, _ := s.Subscribe(person, url, proto.KindContactCreated)
	person.Delete("/webhooks/receiver", nil).Is(204)
	require.Contains(t, person.Post("/webhooks/"+id+"/test", nil).Is(200).Text("error"), "test receiver at this address has ended")
}
