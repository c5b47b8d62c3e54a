package webhooks

import (
	"net/http"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// ops lists the service's operations in the order of the interface.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	const may = auth.ManageIntegrations
	op.Add(set, op.Op{ID: "list-webhooks", Route: "GET /webhooks", Perm: may, Record: "webhook",
		Doc: "List all webhooks with their address, events, whether they are on, and why one is paused."}, listWebhooks)
	op.Add(set, op.Op{ID: "create-webhook", Route: "POST /webhooks", Perm: may, Status: http.StatusCreated, Hidden: true, Record: "webhook",
		Doc: "Create a webhook. The answer shows its signing secret, this once."}, s.createWebhook)
	op.Add(set, op.Op{ID: "list-webhook-events", Route: "GET /webhooks/events", Perm: may,
		Doc: "List the events that a webhook can subscribe: those of the apps that are on."}, s.listEvents)
	op.Add(set, op.Op{ID: "get-webhook", Route: "GET /webhooks/{id}", Perm: may, Record: "webhook",
		Doc: "Get one webhook."}, getWebhook)
	op.Add(set, op.Op{ID: "update-webhook", Route: "PATCH /webhooks/{id}", Perm: may, Hidden: true, Record: "webhook",
		Doc: "Change a webhook, or switch it on or off. Switching it on resumes a paused one."}, s.updateWebhook)
	op.Add(set, op.Op{ID: "delete-webhook", Route: "DELETE /webhooks/{id}", Perm: may, Record: "webhook",
		Doc: "Delete a webhook and its delivery log."}, deleteWebhook)
	op.Add(set, op.Op{ID: "find-webhook-deliveries", Route: "GET /webhooks/{id}/deliveries", Perm: may, Record: "webhook",
		Doc: "List the deliveries of a webhook, newest first, by status if wanted."}, findDeliveriesOf)
	op.Add(set, op.Op{ID: "regenerate-webhook-secret", Route: "POST /webhooks/{id}/secret", Perm: may, Hidden: true, Record: "webhook",
		Doc: "Create a new signing secret, which the answer shows this once. The old one stops working at once."}, s.regenerateSecret)
	op.AddOutside(set, op.Op{ID: "test-webhook", Route: "POST /webhooks/{id}/test", Perm: may, Record: "webhook",
		Doc: "Send a signed test event at once and answer with how it went."}, s.testWebhook)
	op.Add(set, op.Op{ID: "get-webhook-delivery", Route: "GET /webhook-deliveries/{id}", Perm: may, Record: "webhook_delivery",
		Doc: "Get one delivery with each of its attempts and what the receiver answered."}, getDelivery)
	op.AddOutside(set, op.Op{ID: "resend-webhook-delivery", Route: "POST /webhook-deliveries/{id}/resend", Perm: may, Record: "webhook_delivery",
		Doc: "Send a delivery once more at once, with a fresh signature, and answer with how it went."}, s.resendDelivery)
	return set
}
