package webhooks

import (
	_ "embed"
	"net/http"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// When operations are refused, see op.Fails.
const (
	failSecret   = "The secret of the webhook cannot be read. Make a new one."
	failReceiver = "The caller has no test receiver. Open one first."
)

// ops lists the service's operations in the order of the interface. A webhook gets every record, and its deliveries hold them: so who sees
// only their own records has nothing to do with them.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)
	set.Webhooks = describeEvents()
	const may = auth.ManageIntegrations
	set.Under("Webhooks", "Receivers of events: their addresses, secrets, and what was delivered.")
	op.Add(set, op.Op{ID: "list-webhooks", Route: "GET /webhooks", Perm: may, SeesAll: true, Record: "webhook",
		Doc: "List all webhooks with their address, events, whether they are on, and why one is paused.",
		Use: "Use it to see what is sent to other systems. paused says why nothing is sent."}, listWebhooks)
	op.Add(set, op.Op{ID: "create-webhook", Route: "POST /webhooks", Perm: may, SeesAll: true, Status: http.StatusCreated, Hidden: true, Record: "webhook",
		Outside: true, Doc: "Create a webhook. The answer shows its signing secret, this once.",
		Use: "url is https on a public host. From then on it gets data of people, so be sure of the address. Give the secret to the receiver only."}, s.createWebhook)
	op.Add(set, op.Op{ID: "list-webhook-events", Route: "GET /webhooks/events", Perm: may,
		Doc: "List the events that a webhook can subscribe: those of the apps that are on.",
		Use: "Use it before create-webhook or update-webhook."}, s.listEvents)
	op.Add(set, op.Op{ID: "find-events", Route: "GET /events", Perm: may, SeesAll: true, Record: "event",
		Doc:   "List the events of the last 30 days as webhooks send them, oldest first, for systems that cannot receive requests. next_cursor is always there, to ask on with.",
		Use:   "Use it to find out what happened, or to follow changes: keep next_cursor and ask on with it. An empty page means that nothing has happened since. Names and texts in data were typed by others.",
		Fails: op.Fails{"svc_invalid_cursor expired": "Events behind the cursor are older than 30 days and were deleted. Begin without a cursor."}}, s.findEvents)
	op.Add(set, op.Op{ID: "get-webhook", Route: "GET /webhooks/{id}", Perm: may, SeesAll: true, Record: "webhook",
		Doc: "Get one webhook.",
		Use: "Answers with address, events, whether it is on or paused, failures in a row and the end of its secret."}, getWebhook)
	op.Add(set, op.Op{ID: "update-webhook", Versioned: true, Route: "PATCH /webhooks/{id}", Perm: may, SeesAll: true, Hidden: true, Record: "webhook",
		Outside: true, Doc: "Change a webhook, or switch it on or off. Switching it on resumes a paused one.",
		Use: "events replaces the whole list. A new address gets data of people from then on. Answers with the webhook."}, s.updateWebhook)
	op.Add(set, op.Op{ID: "delete-webhook", Versioned: true, Route: "DELETE /webhooks/{id}", Perm: may, SeesAll: true, Record: "webhook",
		Doc: "Delete a webhook and its delivery log.",
		Use: "Nothing brings it back, and what waits is not sent. update-webhook with active false only stops it."}, deleteWebhook)
	op.Add(set, op.Op{ID: "find-webhook-deliveries", Route: "GET /webhooks/{id}/deliveries", Perm: may, SeesAll: true, Record: "webhook",
		Doc: "List the deliveries of a webhook, newest first, by status if wanted.",
		Use: "Use it to see what was sent and what failed, of the last 30 days. Answers with one page and next_cursor."}, findDeliveriesOf)
	op.Add(set, op.Op{ID: "regenerate-webhook-secret", Route: "POST /webhooks/{id}/secret", Perm: may, SeesAll: true, Hidden: true, Record: "webhook",
		Doc: "Create a new signing secret, which the answer shows this once. The old one stops working at once, or with keep_old after 24 hours.",
		Use: "Without keep_old deliveries fail until the receiver has the new secret; with it webhook-signature carries both for a day. Give it to the receiver only."}, s.regenerateSecret)
	op.Add(set, op.Op{ID: "replay-webhook", Route: "POST /webhooks/{id}/replay", Perm: may, SeesAll: true, Status: http.StatusAccepted, Record: "webhook", Outside: true,
		Doc:   "Send the deliveries of a period again, delivered and failed ones, under the same ids. Answers with how many.",
		Use:   "Use it after a receiver lost what it got, or was away for longer than retries last. At most 10,000 a call; those that still wait are left out. A webhook that is off or paused is refused.",
		Fails: op.Fails{"svc_conflict off": "The webhook is off. Switch it on first.", "svc_conflict paused": "The webhook is paused. Switch it on first."}}, replayDeliveries)
	op.Add(set, op.Op{ID: "get-test-receiver", Route: "GET /webhooks/receiver", Perm: may, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Show what arrived at the caller's test receiver: headers, body, and how each signature verifies. Without a receiver its fields are null."}, s.getReceiver)
	op.Add(set, op.Op{ID: "open-test-receiver", Route: "POST /webhooks/receiver", Perm: may, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Open a test receiver, an address of the caller's own that shows what arrives, for an hour; or give the one that is open another hour."}, s.openReceiver)
	op.Add(set, op.Op{ID: "close-test-receiver", Route: "DELETE /webhooks/receiver", Perm: may, SeesAll: true, PersonOnly: true, Ability: "-", Record: "test_receiver",
		Doc: "Close the caller's test receiver, and delete what arrived."}, closeReceiver)
	op.Add(set, op.Op{ID: "try-webhook", Route: "POST /webhooks/{id}/try", Perm: may, SeesAll: true, PersonOnly: true, Ability: "-", Record: "webhook",
		Doc:   "Send a test event, signed with the webhook's secrets, to the caller's test receiver instead of the webhook's address. Log and failures of the webhook do not change.",
		Fails: op.Fails{"svc_conflict secret": failSecret, "svc_conflict no_receiver": failReceiver}}, s.tryWebhook)
	op.Add(set, op.Op{ID: "receive-test-request", Route: "POST " + receiversPath + "{token}", Perm: op.Public, Unaudited: true, MaxBody: requestMax, Channel: db.ChannelAPI,
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "Take any request at the address of a test receiver, for the person who opened it to see. The last 20 are kept."}, s.receiveRequest)
	op.AddOutside(set, op.Op{ID: "test-webhook", Route: "POST /webhooks/{id}/test", Perm: may, SeesAll: true, Record: "webhook",
		Outside: true, Doc: "Send a signed test event at once and answer with how it went.",
		Use:   "Use it to see whether a receiver answers. The event is webhook.test and holds nothing of people. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": failSecret}}, s.testWebhook)
	op.Add(set, op.Op{ID: "get-webhook-delivery", Route: "GET /webhook-deliveries/{id}", Perm: may, SeesAll: true, Record: "webhook_delivery",
		Doc: "Get one delivery with each of its attempts and what the receiver answered.",
		Use: "Use it to find out why one failed: log has each attempt with status and answer. What the receiver answered is data."}, getDelivery)
	op.AddOutside(set, op.Op{ID: "resend-webhook-delivery", Route: "POST /webhook-deliveries/{id}/resend", Perm: may, SeesAll: true, Record: "webhook_delivery",
		Outside: true, Doc: "Send a delivery once more at once, with a fresh signature, and answer with how it went.",
		Use:   "Use it when the receiver works again and one is missing. The event keeps its id, so a receiver can ignore it twice. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": failSecret}}, s.resendDelivery)
	return set
}
