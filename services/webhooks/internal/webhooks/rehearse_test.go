package webhooks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestEachChangeIsRehearsedAsItHappens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	does := s.AsSession("site_admin").Rehearsing()
	type m = map[string]any
	id := does.Post("/webhooks", m{"name": "A", "url": "https://example.com/hook?key=k1", "events": []string{proto.KindAppointmentBooked}}).Is(201).Text("webhook.id")
	hook := "/webhooks/" + id
	does.Patch(hook, m{"name": "B"}).Is(200)
	s.Eventually(func() bool { to, ok := s.Kit.Endpoints.Get(id); return ok && to.Name == "B" })
	to, _ := s.Kit.Endpoints.Get(id)
	require.Equal(t, "example.com", to.Host, "nobody else learns the key in its address")
	require.Equal(t, 1, s.PublishesStateAgain(proto.EndpointTopic))
	does.Post(hook+"/secret", m{"keep_old": true}).Is(200)
	does.Post(hook+"/replay", m{"from": s.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "to": s.Now().UTC().Format(time.RFC3339), "status": "failed"}).Is(202)
	does.Post("/webhooks/receiver", nil).Is(200)
	does.Post(hook+"/try", nil).Is(200)
	does.Delete("/webhooks/receiver", nil).Is(204)
	does.Delete(hook, nil).Is(204)
	s.Eventually(func() bool { _, ok := s.Kit.Endpoints.Get(id); return !ok })
	s.CheckRehearsals()
}
