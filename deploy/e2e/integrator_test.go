package e2e

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// An integrator creates contacts from a list, follows events by cursor, and replays a period of deliveries.
func TestAnIntegratorBringsAListFollowsEventsAndReplaysAPeriod(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	cursor, came, told := "", map[string]bool{}, map[string][]string{} // told are the ids of events by their contact's address
	follow := func() {
		for {
			page := d.Admin.Get(t, "/events?event=contact.created&per_page=100&cursor="+url.QueryEscape(cursor)).Is(200)
			cursor = page.Text("next_cursor")
			if len(page.Items()) == 0 {
				return
			}
			for _, e := range page.Items() {
				id := e["id"].(string)
				require.False(t, came[id], "%s came twice", id)
				came[id] = true
				// Empty for a person without an address, and for one whom another test has erased since.
				email, _ := e["data"].(map[string]any)["contact"].(map[string]any)["email"].(string)
				told[email] = append(told[email], id)
			}
		}
	}
	follow()
	first, second := system.Address("list"), system.Address("list")
	rows := []map[string]any{{"email": first}, {"email": "no address"}, {"email": second}, {"email": first}}
	keyed := d.Admin.With("Idempotency-Key", first)
	answer := keyed.Post(t, "/contacts/batch", map[string]any{"items": rows}).Is(200)
	for i, status := range []float64{201, 400, 201, 409} {
		require.Equal(t, status, answer.Items()[i]["status"], answer.Body)
	}
	require.Equal(t, answer.Body, keyed.Post(t, "/contacts/batch", map[string]any{"items": rows}).Is(200).Body)

	system.Eventually(t, func() bool {
		follow()
		return len(told[first]) > 0 && len(told[second]) > 0
	}, "the list shows no events")
	require.Len(t, told[first], 1)
	require.Len(t, told[second], 1)

	var hook string
	for _, w := range d.Admin.Get(t, "/webhooks").Is(200).Items() {
		if w["url"] == d.Hook.URL+"/hook" {
			hook = w["id"].(string)
		}
	}
	ours := func() map[string]int {
		return d.Hook.Events(func(e system.Received) bool {
			c, _ := e.Data["contact"].(map[string]any)
			return c["email"] == first || c["email"] == second
		})["contact.created"]
	}
	both := func(times int) func() bool {
		return func() bool {
			got := ours()
			return len(got) == 2 && got[told[first][0]] == times && got[told[second][0]] == times
		}
	}
	system.Eventually(t, both(1), "the receiver has not got both, under the ids of the events")
	// A replay leaves out what still waits, and a delivery waits until its answer is stored.
	system.Eventually(t, func() bool {
		return len(d.Admin.Get(t, "/webhooks/"+hook+"/deliveries?status=queued").Is(200).Items()) == 0
	}, "answers are not stored")
	require.GreaterOrEqual(t, d.Admin.Post(t, "/webhooks/"+hook+"/replay", map[string]any{"from": time.Now().Add(-time.Hour), "to": time.Now().Add(time.Hour),
		"events": []string{"contact.created"}}).Is(202).Field("queued"), 2.0)
	system.Eventually(t, both(2), "the replay has not sent both again")
}
