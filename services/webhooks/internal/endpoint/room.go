package endpoint

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps the webhooks.
type Room struct {
	*app.Kit
	own  func(address string) bool
	drop func(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error
}

// New makes the room. own reports whether an address is one of this installation, which needs not be public; drop deletes what the rooms
// above keep of a webhook, in the transaction that deletes it.
func New(k *app.Kit, own func(address string) bool, drop func(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error) *Room {
	return &Room{k, own, drop}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Personal:  app.Personal{Holds: map[string]app.Holds{"webhook": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.EndpointTopic, Table: "webhook", Emit: publish, EndForGood: true})},
		Sealed: []app.Sealed{{Table: "webhook", Column: "secret", Purpose: purposeOf},
			{Table: "webhook", Column: "old_secret", Purpose: purposeOf}},
		Gauges: []app.Gauge{
			{Name: "webhook.paused", Unit: "{webhook}", Doc: "webhooks that are paused", SQL: `select count(*) from webhook where paused is not null`},
		},
	}
}

// Webhooks declares the operations about webhooks.
func (r *Room) Webhooks(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-webhooks", Route: "GET /webhooks", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Doc: "List all webhooks with their address, events, whether they are on, and why one is paused.",
		Use: "Use it to see what is sent to other systems. paused says why nothing is sent."}, list)
	op.Add(set, op.Op{ID: "create-webhook", Undo: op.Undo{By: "delete-webhook"}, Route: "POST /webhooks", Perm: auth.ManageIntegrations, SeesAll: true, Status: http.StatusCreated, Hidden: true, Record: "webhook",
		Outside: true, Doc: "Create a webhook. The answer shows its signing secret, this once.",
		Use: "url is https on a public host. From then on it gets data of people, so be sure of the address. Give the secret to the receiver only."}, r.create)
	op.Add(set, op.Op{ID: "get-webhook", Route: "GET /webhooks/{id}", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Doc: "Get one webhook.",
		Use: "Answers with address, events, whether it is on or paused, failures in a row and the end of its secret."}, Get)
	op.Add(set, op.Op{ID: "update-webhook", Undo: op.Undo{By: "update-webhook"}, Versioned: true, Route: "PATCH /webhooks/{id}", Perm: auth.ManageIntegrations, SeesAll: true, Hidden: true, Record: "webhook",
		Outside: true, Doc: "Change a webhook, or switch it on or off. Switching it on resumes a paused one.",
		Use: "events replaces the whole list. A new address gets data of people from then on. Answers with the webhook."}, r.update)
	op.Add(set, op.Op{ID: "delete-webhook", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /webhooks/{id}", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Doc: "Delete a webhook and its delivery log.",
		Use: "Nothing brings it back, and what waits is not sent. update-webhook with active false only stops it."}, r.remove)
	op.Add(set, op.Op{ID: "regenerate-webhook-secret", Undo: op.Undo{Never: op.Access}, Route: "POST /webhooks/{id}/secret", Perm: auth.ManageIntegrations, SeesAll: true, Hidden: true, Record: "webhook",
		Doc: "Create a new signing secret, which the answer shows this once. The old one stops working at once, or with keep_old after 24 hours.",
		Use: "Without keep_old deliveries fail until the receiver has the new secret; with it webhook-signature carries both for a day. Give it to the receiver only."}, r.regenerateSecret)
}

// WakeChannel is where notifications name webhooks that have something to send.
const WakeChannel = "webhooks_due"

// Notify begins a statement that names webhooks in one notification, sorted: Postgres then sends equal notifications of a transaction
// once. A payload has room for some 200 ids; an empty one asks for a sweep of all webhooks. Its argument @channel is WakeChannel.
const Notify = `select pg_notify(@channel, case when count(*) <= 200 then string_agg(webhook::text, ',' order by webhook) else '' end) `

// Wake wakes the webhook's lane in every process, once the transaction commits.
func Wake(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error {
	_, err := tx.Exec(ctx, Notify+`from (select @webhook::uuid as webhook) as w`, db.Args{"channel": WakeChannel, "webhook": webhook})
	return err
}
