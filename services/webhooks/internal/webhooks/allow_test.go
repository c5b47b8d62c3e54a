package webhooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
	"frontdesk/proto"
)

func TestAReceiverThatTheOperatorAllowsIsReachedAndNoOther(t *testing.T) {
	t.Parallel()
	there, elsewhere := listen(t), listen(t)
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

	id, _ := s.subscribe(admin, there.URL, proto.KindContactCreated)
	require.Equal(t, "delivered", admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("status"))
	require.Len(t, there.all(), 1)
	_, err := s.DB.Pool.Exec(t.Context(), `update webhook set url = $2 where id = $1`, id, elsewhere.URL)
	require.NoError(t, err)
	require.Contains(t, admin.Post("/webhooks/"+id+"/test", nil).Is(200).Text("error"), "nothing was sent")
	require.Empty(t, elsewhere.all())
}
