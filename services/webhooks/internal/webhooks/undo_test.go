package webhooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestEveryKindOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin, work := s.AsSession("site_admin"), s.As("site_admin")
	type m = map[string]any
	hook := "/webhooks/" + admin.Post("/webhooks", m{"name": "A", "url": "https://example.com/hook?key=k1", "events": []string{proto.KindAppointmentBooked}}).Is(201).Text("webhook.id")
	before := admin.Get(hook).Is(200).Map()
	work.Patch(hook, m{"name": "B", "url": "https://example.com/other", "events": []string{proto.KindContactCreated}, "active": false}).Is(200)
	made := work.Post("/webhooks", m{"name": "New", "url": "https://example.com/new", "events": []string{proto.KindContactCreated}}).Is(201).Text("webhook.id")
	require.Empty(t, admin.TakeBack(work))
	after := admin.Get(hook).Is(200).Map()
	for _, changed := range []string{"name", "url", "events", "active"} {
		require.Equal(t, before[changed], after[changed])
	}
	admin.Get("/webhooks/"+made).Fails(404, "svc_not_found")
	require.Empty(t, admin.TakeBack(work), "a second time nothing is left")
	s.CheckUndo()
}
