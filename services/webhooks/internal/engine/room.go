package engine

import (
	"context"
	_ "embed"
	"net/http"
	"sync"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/receiver"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room sends the deliveries that are due. Its state is a cache: the delivery rows are the truth, and a process that
// starts without it sends the same.
type Room struct {
	*app.Kit
	endpoints  *endpoint.Room
	receivers  *receiver.Room
	deliveries *delivery.Room

	client  *http.Client
	seconds metric.Float64Histogram
	tracer  trace.Tracer

	results chan attempt
	refused *app.Aside[uuid.UUID] // deliveries whose results could not be stored
	sending sync.WaitGroup        // dispatching lanes and attempts
	lanes   *lanes
	hosts   hosts
	giveUp  func() // ends the wait for room at a host
}

// New makes the room.
func New(ctx context.Context, k *app.Kit, endpoints *endpoint.Room, receivers *receiver.Room, deliveries *delivery.Room) *Room {
	seconds, _ := otel.Meter("frontdesk").Float64Histogram("frontdesk.webhook.attempt.seconds", metric.WithUnit("s"),
		metric.WithDescription("time of an attempt by outcome"),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5))
	r := &Room{Kit: k, endpoints: endpoints, receivers: receivers, deliveries: deliveries, client: fetch.Client(endpoints.Fetch()), seconds: seconds,
		tracer: otel.Tracer("frontdesk"), results: make(chan attempt, 256), refused: app.NewAside[uuid.UUID]("webhook results")}
	var waiting context.Context
	waiting, r.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	r.lanes = newLanes(func(webhook uuid.UUID) { r.sending.Go(func() { r.dispatch(waiting, webhook) }) })
	return r
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts { return app.Parts{Run: []func(context.Context){r.run}} }

// Attempts declares the operations that send at once.
func (r *Room) Attempts(set *op.Set) {
	set.Examples(examples)
	op.AddOutside(set, op.Op{ID: "test-webhook", Undo: op.Undo{Never: op.WentOut}, Route: "POST /webhooks/{id}/test", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook",
		Outside: true, Doc: "Send a signed test event at once and answer with how it went.",
		Use:   "Use it to see whether a receiver answers. The event is webhook.test and holds nothing of people. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": endpoint.FailSecret}}, r.test)
	op.AddOutside(set, op.Op{ID: "resend-webhook-delivery", Undo: op.Undo{Never: op.WentOut}, Route: "POST /webhook-deliveries/{id}/resend", Perm: auth.ManageIntegrations, SeesAll: true, Record: "webhook_delivery",
		Outside: true, Doc: "Send a delivery once more at once, with a fresh signature, and answer with how it went.",
		Use:   "Use it when the receiver works again and one is missing. The event keeps its id, so a receiver can ignore it twice. Answers with the delivery.",
		Fails: op.Fails{"svc_conflict secret": endpoint.FailSecret}}, r.resend)
}
