package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestEverythingLeavesInOneFileOrInNone(t *testing.T) {
	d := sys.SetUp(t)
	person := sys.SignIn(t)
	email := system.Address("leaves")
	gone := d.Admin.Post(t, "/contacts", map[string]string{"email": email}).Is(201).Text("id")
	d.Admin.Call(t, "DELETE", "/contacts/"+gone, nil).Is(204)

	lists := person.Get(t, "/exports/everything.zip").Is(200).Takeout()
	for _, name := range []string{"contacts", "organizations", "appointments", "services", "forms", "submissions", "webhooks", "people", "audit-log"} {
		require.Contains(t, lists, name)
	}
	total := 0
	for _, c := range lists["contacts"] {
		if c["id"] == gone {
			require.Equal(t, email, c["email"])
			require.NotNil(t, c["deleted_at"], "it is in the trash")
		}
		if c["deleted_at"] == nil {
			total++
		}
	}
	require.Equal(t, d.Admin.Get(t, "/contacts?per_page=1").Is(200).Field("total"), float64(total))
	require.Len(t, lists["services"], len(d.Admin.Get(t, "/services?include_archived=true").Is(200).Items()))

	require.Equal(t, "person_only", d.Admin.Get(t, "/exports/everything.zip").Fails(403, "svc_forbidden").Text("data.reason"))
	require.NotZero(t, d.Admin.Get(t, "/audit-log?action=export-everything").Is(200).Field("total"), "it is in the audit log, as often as the gateway asked")

	up := sys.Down(t, "booking", syscall.SIGTERM)
	down := person.Get(t, "/exports/everything.zip").Fails(503, "svc_unavailable")
	require.Equal(t, "booking", down.Text("data.service"))
	up()
	sys.Healthy(t)
}
