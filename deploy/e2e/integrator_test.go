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
	came := map[string]bool{}
	follow := func(cursor string) (events map[string]string, next string) {
		events = map[string]string{}
		for {
			page := d.Admin.Get(t, "/events?event=contact.created&per_page=100&cursor="+url.QueryEscape(cursor)).Is(200)
			cursor = page.Text("next_cursor")
			if len(page.Items()) == 0 {
				return events, cursor
			}
			for _, e := range page.Items() {
				id := e["id"].(string)
				require.False(t, came[id], "%s came twice", id)
				came[id] = true
				// Empty for a person without an address, and for one whom another test has erased since.
				email, _ := e["data"].(map[string]any)["contact"].(map[string]any)["email"].(string)
				events[email] = id
			}
		}
	}
	_, cursor := follow("")
	first, second := system.Address("list"), system.Address("list")
	rows := []map[string]any{{"email": first}, {"email": "no address"}, {"email": second}, {"email": first}}
	keyed := d.Admin.With("Idempotency-Key", first)
	answer := keyed.Post(t, "/contacts/batch", map[string]any{"items": rows}).Is(200)
	for i, status := range []float64{201, 400, 201, 409} {
		require.Equal(t, status, answer.Items()[i]["status"], answer.Body)
	}
	require.Equal(t, answer.Body, keyed.Post(t, "/contacts/batch", map[string]any{"items": rows}).Is(200).Body)

	told := map[string]string{}
	system.Eventually(t, func() bool {
		var more map[string]string
		more, cursor = follow(cursor)
		for email, id := range more {
			require.Empty(t, told[email])
			told[email] = id
		}
		return told[first] != "" && told[second] != ""
	}, "the list shows no events")

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
			return len(got) == 2 && got[told[first]] == times && got[told[second]] == times
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
