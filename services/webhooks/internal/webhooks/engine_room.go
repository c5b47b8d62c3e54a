package webhooks

import (
	"context"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// engineParts are what the service runs of the room.
func (e *engine) engineParts() app.Parts {
	return app.Parts{
		Run: []func(context.Context){e.run},
		// River's jobs hold ids of webhooks.
		Personal: app.Personal{Holds: map[string]app.Holds{"river_job": app.Nobody, "river_leader": app.Nobody, "river_migration": app.Nobody,
			"river_notification": app.Nobody, "river_queue": app.Nobody}},
		Restored: func(ctx context.Context) ([]string, error) { return e.timers.restored(ctx, e.s.DB) },
	}
}

// Attempts declares the operations that send at once.
func (e *engine) Attempts(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "test-webhook", Route: "POST /webhooks/{id}/test", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Outside: true, Doc: "Send a signed test event at once and answer with how it went.",
		Use:   "Use it to see whether a receiver answers. The event is webhook.test and holds nothing of people. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": FailSecret}}, e.testWebhook)
	op.AddOutside(set, op.Op{ID: "resend-webhook-delivery", Route: "POST /webhook-deliveries/{id}/resend", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook_delivery",
		Outside: true, Doc: "Send a delivery once more at once, with a fresh signature, and answer with how it went.",
		Use:   "Use it when the receiver works again and one is missing. The event keeps its id, so a receiver can ignore it twice. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": FailSecret}}, e.resendDelivery)
}
