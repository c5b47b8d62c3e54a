package webhooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
	"frontdesk/proto"
	"frontdesk/services/webhooks/webhookstest"
)

func TestAReceiverThatTheOperatorAllowsIsReachedAndNoOther(t *testing.T) {
	t.Parallel()
	there, elsewhere := webhookstest.Listen(t), webhookstest.Listen(t)
	s := start(t, func(c *app.Config) {
		var err error
		c.WebhookLocal = false
		c.Receivers, err = fetch.ParseAllowed(there.Listener.Addr().String())
		require.NoError(t, err)
	})
	admin := s.As(auth.SiteAdmin)
	refused := func(url string) string {
		return admin.Post("/webhooks", map[string]any{"name": "inside", "url": url, "events": []string{proto.KindContactCreated}}).Fails(400, "svc_invalid_param").Body
	}
	require.Contains(t, refused("https://10.0.0.1/"), `"code":"private"`)
	require.Contains(t, refused("https://10.0.0.1/"), "SVC_FETCH_ALLOW")
	require.Contains(t, refused(elsewhere.URL), "https://")

	id, _ := s.Subscribe(admin, there.URL, proto.KindContactCreated)
	require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	require.Len(t, there.All(), 1)
	s.Exec(`update webhook set url = $2 where id = $1`, id, elsewhere.URL)
	require.Contains(t, admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("error"), "nothing was sent")
	require.Empty(t, elsewhere.All())
}
