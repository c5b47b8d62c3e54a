package webhooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func TestATakeoutHasWebhooksWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	admin := s.As(auth.SiteAdmin)
	s.Eventually(func() bool { return admin.Get("/webhooks").Status == 200 })
	made := admin.Post("/webhooks", map[string]any{"name": "Books", "url": "https://books.example.com/hook", "events": []string{proto.KindContactCreated}}).Is(201)

	lists := s.Takeout()
	require.Len(t, lists["webhooks"], 1)
	require.Equal(t, "https://books.example.com/hook", lists["webhooks"][0]["url"])
	for name := range lists["webhooks"][0] {
		require.NotContains(t, name, "secret")
	}
	require.NotEmpty(t, made.Text("secret"))
	require.Empty(t, lists["deliveries"])
}
