package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestATaskGoesThroughTheSystemAndPassesOnWithItsOwner(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	first, _, _ := member(t, d.Admin, "Leaver", "svc_admin")
	second, _, _ := member(t, d.Admin, "Heir", "svc_admin")
	leaver, heir := userIDOf(t, first), userIDOf(t, second)
	email := system.Address("task")
	contact := d.Admin.Post(t, "/contacts", map[string]any{"email": email}).Is(201).Text("id")
	made := d.Admin.Post(t, "/tasks", map[string]any{"title": "Call back", "body": "About the offer.", "contact": contact, "owner_user_id": leaver}).Is(201).Text("id")
	d.Admin.Post(t, "/tasks/"+made+"/done", nil).Is(200)
	d.Admin.Post(t, "/tasks/"+made+"/reopen", nil).Is(200)
	var sent []string
	system.Eventually(t, func() bool {
		sent = nil
		for _, e := range d.Admin.Get(t, "/events?per_page=100&event=task.created&event=task.done&event=task.updated").Is(200).Items() {
			if task := e["data"].(map[string]any)["task"].(map[string]any); task["id"] == made {
				require.NotContains(t, task, "body")
				sent = append(sent, e["event"].(string))
			}
		}
		return len(sent) == 3
	}, "the events do not arrive")
	require.Equal(t, []string{"task.created", "task.done", "task.updated"}, sent)

	system.Eventually(t, func() bool {
		return d.Admin.Call(t, "DELETE", fmt.Sprintf("/staff/%d", leaver), nil).Status == http.StatusBadRequest
	}, "booking does not know of the task")
	d.Admin.Call(t, "DELETE", fmt.Sprintf("/staff/%d?successor=%d", leaver, heir), nil).Is(200)
	system.Eventually(t, func() bool { return d.Admin.Get(t, "/tasks/"+made).Is(200).Field("owner_user_id") == float64(heir) }, "the task is not handed over")

	d.Admin.Post(t, "/privacy/erase", map[string]any{"email": email}).Is(200)
	d.Admin.Get(t, "/tasks/"+made).Fails(404, "svc_not_found")
}
