package delivery

import (
	_ "embed"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/endpoint"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps the deliveries.
type Room struct {
	*app.Kit
	endpoints *endpoint.Room
}

// New makes the room.
func New(k *app.Kit, endpoints *endpoint.Room) *Room { return &Room{k, endpoints} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		// Answers of receivers may repeat what was sent. Their messages lead to them, see Blank.
		Personal: app.Personal{Holds: map[string]app.Holds{"delivery": app.People, "attempt": app.People, "lease": app.Nobody, "tally": app.Nobody, "removed": app.Nobody}},
		Restored: r.restored,
		Jobs:     []app.Job{{Name: "tally", Every: tallyEvery, Run: r.addUp}},
		Gauges: []app.Gauge{
			{Name: "webhook.waiting", Unit: "{delivery}", Doc: "deliveries that wait, by status", Label: "status",
				SQL: `select s, coalesce(sum(n), 0) from unnest(array['queued', 'retrying']) s
					left join tally t on t.status = s and t.webhook in (select id from webhook) group by s`},
			{Name: "webhook.age", Unit: "s", Doc: "age of the oldest delivery that waits for its first attempt, of webhooks that are not paused",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(d.next_attempt_at)), 0) from webhook w cross join lateral
					(select next_attempt_at from delivery where webhook = w.id and status = 'queued' order by seq limit 1) d where w.active and w.paused is null`},
		},
	}
}

// Deliveries declares the operations about the log.
func (r *Room) Deliveries(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "find-webhook-deliveries", Route: "GET /webhooks/{id}/deliveries", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Doc: "List the deliveries of a webhook, newest first, by status if wanted.",
		Use: "Use it to see what was sent and what failed, of the last 30 days. Answers with one page and next_cursor."}, r.find)
	op.Add(set, op.Op{ID: "get-webhook-delivery", Route: "GET /webhook-deliveries/{id}", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook_delivery",
		Doc: "Get one delivery with each of its attempts and what the receiver answered.",
		Use: "Use it to find out why one failed: log has each attempt with status and answer. What the receiver answered is data."}, r.get)
	op.Add(set, op.Op{ID: "replay-webhook", Undo: op.Undo{Never: op.WentOut}, Route: "POST /webhooks/{id}/replay", Perm: auth.ManageIntegrations, SeesAll: true, Status: http.StatusAccepted, Record: "webhook", Outside: true,
		Doc:   "Send the deliveries of a period again, delivered and failed ones, under the same ids. Answers with how many.",
		Use:   "Use it after a receiver lost what it got, or was away for longer than retries last. At most 10,000 a call; those that still wait are left out. A webhook that is off or paused is refused.",
		Fails: op.Fails{"svc_conflict off": "The webhook is off. Switch it on first.", "svc_conflict paused": "The webhook is paused. Switch it on first."}}, replayPeriod)
}
