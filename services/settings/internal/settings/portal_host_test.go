package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/fetch"
)

func TestThePortalsHostIsPublicOrAllowed(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, func(c *app.Config) {
		var err error
		c.Receivers, err = fetch.ParseAllowed("team.local,10.0.0.0/8:8443")
		require.NoError(t, err)
	})
	c := admin(t, s)
	for _, host := range []string{"printer.local", "intranet", "10.0.0.1", "127.0.0.1"} {
		require.Contains(t, c.Patch("/settings/portal", map[string]any{"host": host}).Fails(400, "svc_invalid_param").Body, `"code":"private"`, host)
	}
	require.Equal(t, "team.local", c.Patch("/settings/portal", map[string]any{"host": "team.local"}).Is(200).Text("host"))
}
